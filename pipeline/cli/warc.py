"""`wrac export` and `wrac import`: pages as WARC files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from chunker.policy import load as load_policy
from crawler.model import Scope
from pipeline.cli.ingest import progress, to_json
from pipeline.cli.ingest import show as show_result
from pipeline.cli.options import HomeOption, JsonOption, PolicyOption, SourceOption, parts
from pipeline.cli.output import answer, err, out
from pipeline.errors import UsageError
from pipeline.home import check_name

WarcOption = Annotated[
    Path, typer.Option("--warc", help="A WARC file; packed where it ends in .gz.", metavar="FILE")
]


def export(
    source: SourceOption, warc: WarcOption, home: HomeOption = None, as_json: JsonOption = False
) -> int:
    """Write the pages that are stored of a source, and its redirects, to a WARC file."""
    from pipeline.warc import export as write

    opened = parts(home)
    try:
        pages, lost = write(opened, opened.ledger.sources.get(source), warc)
    except OSError as error:
        raise UsageError(f"cannot write {warc}: {error.strerror}", "choose another file") from error

    def show() -> None:
        out.print(f"{pages} responses of {source} are in {warc}", markup=False)
        if lost:
            err.print(f"{lost} pages are not: their bodies are not in the page store")

    answer({"source": source, "file": str(warc), "pages": pages, "lost": lost}, as_json, show)
    return 1 if lost else 0


def import_(
    source: SourceOption,
    warc: WarcOption,
    urls: Annotated[
        list[str] | None,
        typer.Argument(metavar="[URL...]", help="Sites to take; default: the source's, or all."),
    ] = None,
    customer: Annotated[str | None, typer.Option("--customer", metavar="NAME")] = None,
    include: Annotated[list[str] | None, typer.Option("--include", metavar="PATTERN")] = None,
    exclude: Annotated[list[str] | None, typer.Option("--exclude", metavar="PATTERN")] = None,
    policy: PolicyOption = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> int:
    """Index the pages of a WARC file, of whatever crawler; nothing is fetched."""
    from pipeline.warc import import_ as run

    check_name("source", source)
    if customer is not None:
        check_name("customer", customer)
    if not warc.is_file():
        raise UsageError(f"there is no file {warc}", "give a WARC file with --warc FILE")
    scope = (
        Scope(seeds=tuple(urls), include=tuple(include or ()), exclude=tuple(exclude or ()))
        if urls
        else None
    )
    if scope is None and (include or exclude):
        raise UsageError("--include and --exclude need the sites that they are of", "name a URL")
    wanted = load_policy(policy) if policy else None
    opened = parts(home, make=True)
    with progress(source) as step:
        result = run(opened, source, customer, scope, wanted, warc, step)
    value = to_json(result)
    answer(value, as_json, lambda: show_result(result, value))
    return 4 if result.failed_share > opened.settings.fail_over else 0
