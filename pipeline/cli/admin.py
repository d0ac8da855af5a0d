"""Commands that look at the state of a home, prove it, and remove from it."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Annotated, Any, Literal

import typer
from rich import filesize
from rich.markup import escape

from pipeline.budgets import Budgets
from pipeline.caches import Cache, Size
from pipeline.cli.options import HomeOption, JsonOption, SourceOption, parts, settings
from pipeline.cli.output import answer, err, out, table
from pipeline.errors import CacheUnavailableError, UnknownSourceError, UsageError
from pipeline.ledger import Source
from pipeline.parts import Parts
from pipeline.settings import without_password

#: Templates of generated URLs that the status names of a source, those with most URLs.
TRAPS = 5
StateOption = Annotated[
    Literal["indexed", "pending", "skipped", "failed", "deleted"] | None,
    typer.Option("--state", help="Only pages in this state."),
]


def pages(
    source: SourceOption,
    state: StateOption = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """List every page that a source has or had, and why one is not indexed."""
    opened = parts(home)
    opened.ledger.sources.get(source)
    rows = list(opened.ledger.pages.rows(source, state))
    listed = [{key: value for key, value in asdict(row).items() if key != "title"} for row in rows]

    def show() -> None:
        shown = table("state", "chunks", "url", "why")
        for row in rows:
            why = " ".join(filter(None, (row.reason, row.detail)))
            if row.canonical != row.url:
                why += f" -> {row.canonical}"
            shown.add_row(row.state, str(row.chunks), escape(row.url), escape(why))
        out.print(shown)

    answer({"source": source, "pages": listed}, as_json, show)


def status(home: HomeOption = None, as_json: JsonOption = False) -> None:
    """Show what is where, and what waits for what."""
    opened = parts(home)
    rows: list[dict[str, Any]] = []
    for source in opened.ledger.sources.all():
        counts = asdict(opened.ledger.pages.counts(source.name))
        standing = opened.ledger.schedules.get(source.name)
        rows.append(
            {
                "source": source.name,
                "customer": source.customer,
                **counts,
                "policy": source.pins.policy.fingerprint,
                "build": source.build,
                "parser": source.pins.parser,
                "planner": source.pins.planner,
                "embedder": source.pins.embedder,
                "held": source.held,
                "traps": dict(opened.ledger.pages.trapped(source.name).most_common(TRAPS)),
                "crawl": "interrupted or running" if source.pass_open else "complete",
                "runner": opened.ledger.sources.runner(source.name),
                "last_crawl": source.pass_ended_at,
                "next_turn": standing.due_at if standing else None,
                "paused": standing.paused if standing else None,
                "failures": standing.failures if standing else 0,
                "error": standing.error if standing else None,
            }
        )

    customers = sorted({row["customer"] for row in rows})
    levels = [
        level
        for name in customers
        for level in Budgets(opened.settings, opened.ledger, name).levels()
    ]
    caches = {kind: _held(cache) for kind, cache in opened.caches.items()}

    def show() -> None:
        if not rows:
            out.print("nothing has been ingested yet")
            return
        shown = table(
            "source", "customer", "indexed", "chunks", "pending", "skipped", "failed", "crawl"
        )
        for row in rows:
            keys = (
                "source",
                "customer",
                "indexed",
                "chunks",
                "pending",
                "skipped",
                "failed",
                "crawl",
            )
            shown.add_row(*(escape(str(row[key])) for key in keys))
        out.print(shown)
        for kind, size in caches.items():
            said = size if isinstance(size, str) else _size(size)
            out.print(f"cache of {kind}: {said}", markup=False)
        for level in levels:
            state = "" if level.left else f"; used up until {level.resets}"
            out.print(f"{level}{state}", markup=False)
        for row in rows:
            for template, urls in row["traps"].items():
                out.print(
                    f"{row['source']}: {urls} left out as generated: {template}", markup=False
                )
            if row["paused"]:
                out.print(f"{row['source']} is paused: {row['paused']}", markup=False)
            if row["failures"]:
                out.print(f"{row['source']} failed: {row['error']}", markup=False)
            if row["held"]:
                out.print(
                    f"[yellow]{row['source']}: {row['held']} pages would leave the index[/]; "
                    f"wrac sources confirm {row['source']} removes them"
                )

    listed = {
        kind: {"away": size} if isinstance(size, str) else asdict(size)
        for kind, size in caches.items()
    }
    value = {
        "home": str(opened.home.root),
        "sources": rows,
        "caches": listed,
        "budgets": [asdict(level) for level in levels],
    }
    answer(value, as_json, show)


def verify(
    source: Annotated[str | None, typer.Option("--source", metavar="NAME")] = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> int:
    """Prove that page store, ledger and index agree. Exit code 1 where they do not."""
    from pipeline.verifying import Verified
    from pipeline.verifying import verify as check

    opened = parts(home)
    found = Verified()
    for one in _sources(opened, source):
        check(opened, one, found)
    value = {
        "ok": found.ok,
        "pages": found.pages,
        "chunks": found.chunks,
        "points": found.points,
        "problems": found.problems,
    }

    def show() -> None:
        for problem in found.problems:
            out.print(f"[red]{escape(problem['url'])}[/]: {escape(problem['problem'])}")
        verdict = "[green]they agree[/]" if found.ok else f"[red]{len(found.problems)} problems[/]"
        out.print(
            f"{found.pages} pages, {found.chunks} chunks in the ledger, {found.points} points in "
            f"the index: {verdict}"
        )

    answer(value, as_json, show)
    return 0 if found.ok else 1


def forget(
    source: Annotated[str | None, typer.Option("--source", metavar="NAME")] = None,
    customer: Annotated[str | None, typer.Option("--customer", metavar="NAME")] = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remove a source or a customer wholly, with a receipt."""
    from pipeline.forgetting import NOT_REACHED
    from pipeline.forgetting import forget as remove

    if (source is None) == (customer is None):
        raise UsageError("say what to forget", "--source NAME or --customer NAME, one of them")
    opened = parts(home)
    chosen = _sources(opened, source, customer)
    started = time.monotonic()
    receipts = [remove(opened, one).to_json() for one in chosen]
    value = {
        "removed": receipts,
        "not_reached": NOT_REACHED,
        "seconds": round(time.monotonic() - started, 3),
    }

    def show() -> None:
        keys = ("source", "customer", "pages", "points", "files", "bodies", "cache_entries")
        shown = table(*keys)
        for receipt in receipts:
            shown.add_row(*(escape(str(receipt[key])) for key in keys))
        out.print(shown)
        for place in receipts[-1]["backups_away"]:
            err.print(f"backup {place} is away and was not told", markup=False)
        err.print(NOT_REACHED)

    answer(value, as_json, show)


def config(home: HomeOption = None, as_json: JsonOption = False) -> None:
    """Show every setting, and where its value comes from."""
    values, origins = settings(home)
    plain = values.model_dump(mode="json")
    listed = {
        key: {
            "value": without_password(plain[key]) if isinstance(plain[key], str) else plain[key],
            "origin": origins[key],
            "description": field.description,
        }
        for key, field in type(values).model_fields.items()
    }

    def show() -> None:
        shown = table("setting", "value", "from", "what it is")
        for key, item in listed.items():
            shown.add_row(key, escape(str(item["value"])), item["origin"], item["description"])
        out.print(shown)

    answer({"settings": listed}, as_json, show)


def _held(cache: Cache) -> Size | str:
    """How much a cache holds, or that it is away: no reason for the status to fail."""
    try:
        return cache.size()
    except CacheUnavailableError as error:
        return f"away: {error}"


def _size(size: Size) -> str:
    damaged = f", {size.damaged:,} damaged ones removed" if size.damaged else ""
    return f"{size.entries:,} entries, {filesize.decimal(size.bytes)}{damaged}"


def _sources(opened: Parts, source: str | None, customer: str | None = None) -> list[Source]:
    if source is not None:
        return [opened.ledger.sources.get(source)]
    found = opened.ledger.sources.all(customer)
    if customer is not None and not found:
        raise UnknownSourceError(f"there is no customer {customer}", "wrac status lists them")
    return found
