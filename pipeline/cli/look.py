"""`wrac parse`, `plan` and `chunks`: one page, step by step, without an index."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from chunker.model import Document
from chunker.policy import PlannerName, Policy
from chunker.policy import load as load_policy
from pipeline.cli import plan_view
from pipeline.cli.options import AllowHostOption, HomeOption, JsonOption, PolicyOption, settings
from pipeline.cli.output import answer, out, table
from pipeline.errors import HomeError, UsageError
from pipeline.page import Chunked
from pipeline.parts import Parts
from pipeline.settings import Settings

if TYPE_CHECKING:
    from pipeline.caches import Cache

#: Whose plans are those of pages that are only looked at: nobody's.
LOOKED_AT = ""

PageArgument = Annotated[str, typer.Argument(help="A file, or a URL to fetch.", metavar="FILE|URL")]


def parse(
    page: PageArgument,
    allow_host: AllowHostOption = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the document of a page: its Markdown and its units."""
    document = _document(page, allow_host, settings(home)[0])

    def show() -> None:
        out.print(f"[bold]{escape(document.title)}[/]  {document.format} {document.lang}")
        shown = table("id", "parent", "tokens", "line", "text")
        for unit in document.units:
            role = "" if unit.role == "body" else f"({unit.role}) "
            text = " ".join(document.markdown[unit.start : unit.end].split())
            shown.add_row(
                unit.id,
                unit.parent or "",
                str(unit.tokens),
                str(unit.line),
                escape(role + _cut(text, 80)),
            )
        out.print(shown)

    value = {key: item for key, item in asdict(document).items() if key not in ("source", "blocks")}
    answer(value, as_json, show)


def plan(
    page: PageArgument,
    planner: Annotated[
        PlannerName | None,
        typer.Option("--planner", help="Who groups the units; default: the policy's."),
    ] = None,
    policy: PolicyOption = None,
    allow_host: AllowHostOption = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the plan of a page: groups of ids, what is dropped, and why."""
    document, made = _chunked(page, policy, planner, allow_host, home)
    value = plan_view.to_json(document.url, made.plan)
    answer(value, as_json, lambda: plan_view.show(made.plan))


def chunks(
    page: PageArgument,
    policy: PolicyOption = None,
    allow_host: AllowHostOption = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the chunks of a page, as a reader would get them."""
    document, made = _chunked(page, policy, None, allow_host, home)
    fields = ("id", "text", "heading_path", "unit_ids", "tokens", "position", "embedded")
    value = {
        "url": document.url,
        "chunks": [{key: getattr(c, key) for key in fields} for c in made.chunks],
    }

    def show() -> None:
        for chunk in made.chunks:
            ids = " ".join(chunk.unit_ids)
            out.print(f"[dim]-- {chunk.position + 1}  {chunk.tokens} tokens  {ids}[/]")
            out.print(chunk.shown, markup=False)
            out.print()

    answer(value, as_json, show)


def _chunked(
    page: str,
    policy: Path | None,
    planner: PlannerName | None,
    allow_host: list[str] | None,
    home: Path | None,
) -> tuple[Document, Chunked]:
    from indexer.embedders import open_counter
    from pipeline.page import chunk
    from pipeline.planning import check_supported, planner_for, running

    known, _ = settings(home)
    wanted = load_policy(policy) if policy else Policy()
    if planner is not None:
        wanted = wanted.planned_by(planner)
    check_supported(wanted, known)
    document = _document(page, allow_host, known)
    with running(known, wanted):
        by = planner_for(known, wanted, LOOKED_AT, _plan_cache(known))
        return document, chunk(document, wanted, open_counter(known.embedder), by)


def _plan_cache(known: Settings) -> Cache | None:
    """The home's plan cache. To look at a page makes no home."""
    try:
        return Parts.of(known).caches["plans"]
    except HomeError:
        return None


def _document(page: str, allow_host: list[str] | None, known: Settings) -> Document:
    from chunker.errors import TerminalError

    try:
        return _parsed(page, allow_host, known)
    except TerminalError as error:
        raise type(error)(f"{page}: {error}") from error


def _parsed(page: str, allow_host: list[str] | None, known: Settings) -> Document:
    import chunker

    if "://" in page:
        from pipeline.crawling import fetch

        fetched = fetch(page, known, tuple(allow_host or ()))
        return chunker.parse(fetched.body, fetched.final_url, fetched.content_type)
    path = Path(page)
    try:
        body = path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {page}: {error.strerror}", "give a file or a URL") from error
    return chunker.parse(body, path.absolute().as_uri(), None)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
