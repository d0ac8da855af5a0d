"""`wrac sources`: the sources that files declare, and where each stands."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.markup import escape

from pipeline.cli.options import AllowHostOption, HomeOption, JsonOption, parts
from pipeline.cli.output import answer, err, out, table
from pipeline.errors import HomeError, UnknownSourceError
from pipeline.ledger.schedules import Standing
from pipeline.parts import Parts
from pipeline.sources import Declared, read
from pipeline.sources import edit as files

app = typer.Typer(help="Sources that `wrac run` keeps fresh.", no_args_is_help=True)
NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="Name of the source.")]


@app.command()
def add(
    name: NameArgument,
    urls: Annotated[list[str], typer.Argument(metavar="URL...", help="Where the site begins.")],
    customer: Annotated[str | None, typer.Option("--customer", metavar="NAME")] = None,
    every: Annotated[
        str | None, typer.Option("--every", help="How often a page is visited.", metavar="SPAN")
    ] = None,
    between: Annotated[
        tuple[str, str] | None,
        typer.Option("--between", help="Adapt to each page between these.", metavar="SPAN SPAN"),
    ] = None,
    include: Annotated[list[str] | None, typer.Option("--include", metavar="PATTERN")] = None,
    exclude: Annotated[list[str] | None, typer.Option("--exclude", metavar="PATTERN")] = None,
    max_pages: Annotated[int | None, typer.Option("--max-pages", min=1)] = None,
    allow_host: AllowHostOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write `sources.d/NAME.toml`; all other keys are set in that file."""
    given = {
        "seeds": urls,
        "customer": customer,
        "every": every,
        "between": list(between) if between else None,
        "include": include,
        "exclude": exclude,
        "max_pages": max_pages,
        "allow_hosts": allow_host,
    }
    made = files.add(name, {key: value for key, value in given.items() if value})

    def show() -> None:
        out.print(f"{made.file} declares {name}; wrac run keeps it fresh", markup=False)

    answer({"source": name, "file": str(made.file)}, as_json, show)


@app.command(name="list")
def list_(home: HomeOption = None, as_json: JsonOption = False) -> None:
    """List the sources, those in files and those that were ingested by hand."""
    opened, declared = _opened(home), read()
    known = {one.name for one in opened.ledger.sources.all()} if opened else set()
    rows = [_row(name, declared.get(name), opened) for name in sorted(declared.keys() | known)]

    def show() -> None:
        if not rows:
            out.print("there is no source yet: wrac sources add NAME URL declares one")
            return
        keys = ("source", "customer", "state", "every", "due_at", "file")
        shown = table(*(key.replace("_at", "") for key in keys))
        for row in rows:
            shown.add_row(*(escape(_said(row[key])) for key in keys))
        out.print(shown)

    answer({"sources": rows}, as_json, show)


@app.command()
def show(name: NameArgument, home: HomeOption = None, as_json: JsonOption = False) -> None:
    """Show all that is set for a source, and where it stands."""
    opened, declared = _opened(home), read().get(name)
    if declared is None and (opened is None or opened.ledger.sources.find(name) is None):
        raise UnknownSourceError(f"there is no source {name}", "wrac sources list names them")
    row = _row(name, declared, opened)
    row["settings"] = declared.spec.model_dump(mode="json") if declared else None

    def display() -> None:
        for key, value in {**(row["settings"] or {}), **row}.items():
            if key != "settings":
                out.print(f"{key:22} {_said(value)}", markup=False)

    answer(row, as_json, display)


@app.command()
def pause(
    name: NameArgument,
    why: Annotated[str, typer.Option("--why", help="Shown in the status.")] = "paused by hand",
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Ask a source's sites for nothing more; its index stays."""
    opened = _known(name, home)
    opened.ledger.schedules.pause(name, why)
    answer({"source": name, "paused": why}, as_json, lambda: out.print(f"{name} is paused"))


@app.command()
def resume(name: NameArgument, home: HomeOption = None, as_json: JsonOption = False) -> None:
    """Go on with a source that is paused, or that failed and waits: its turn is now."""
    _known(name, home).ledger.schedules.resume(name)
    answer({"source": name, "paused": None}, as_json, lambda: out.print(f"{name} goes on"))


@app.command()
def confirm(name: NameArgument, home: HomeOption = None, as_json: JsonOption = False) -> None:
    """Let the pages go that the last pass would have removed and holds; the next run does it."""
    removed = _known(name, home).ledger.settlements.confirm(name)

    def show() -> None:
        out.print(
            f"{removed} pages leave the index of {name} with its next run"
            if removed
            else f"{name} holds no removals"
        )

    answer({"source": name, "confirmed": removed}, as_json, show)


@app.command()
def remove(name: NameArgument, as_json: JsonOption = False) -> None:
    """Take a source's file away. What is stored and indexed stays: `wrac forget` removes that."""
    file = files.remove(name)

    def show() -> None:
        out.print(f"{file} is gone: {name} is not visited any more", markup=False)
        err.print(f"its index stays; wrac forget --source {name} removes it", markup=False)

    answer({"source": name, "removed": str(file)}, as_json, show)


def _opened(home: Any) -> Parts | None:
    """The parts over the home, where there is one yet."""
    try:
        return parts(home)
    except HomeError:
        return None


def _known(name: str, home: Any) -> Parts:
    """The parts of a home in which a source is, or may come to be as files declare it."""
    opened = parts(home, make=True)
    if name not in read():
        opened.ledger.sources.get(name)
    return opened


def _row(name: str, declared: Declared | None, opened: Parts | None) -> dict[str, Any]:
    source = opened.ledger.sources.find(name) if opened else None
    standing = opened.ledger.schedules.get(name) if opened else None
    return {
        "source": name,
        "customer": declared.customer if declared else source.customer if source else None,
        "file": str(declared.file) if declared else None,
        "state": _state(declared, standing, source is not None and source.pass_number > 0),
        **_schedule(declared, standing),
    }


def _schedule(declared: Declared | None, standing: Standing | None) -> dict[str, Any]:
    return {
        "every": declared.spec.model_dump(mode="json")["every"] if declared else None,
        "due_at": standing.due_at if standing else None,
        "last_turn": standing.served_at if standing else None,
        "paused": standing.paused if standing else None,
        "failures": standing.failures if standing else 0,
        "error": standing.error if standing else None,
    }


def _state(declared: Declared | None, standing: Standing | None, visited: bool) -> str:
    if standing is not None and standing.paused is not None:
        return "paused"
    if declared is None:
        return "not in files"
    if standing is not None and standing.failures:
        return "failing"
    return "active" if visited else "new"


def _said(value: object) -> str:
    match value:
        case None | () | [] | {}:
            return "-"
        case list():
            return ", ".join(map(str, value))
        case _:
            return str(value)
