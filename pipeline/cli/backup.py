"""`wrac backup`, `restore` and `reindex`: the state in a folder, back from it, and its index."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from pipeline.cli.options import HomeOption, JsonOption, parts
from pipeline.cli.output import answer, err, out
from pipeline.parts import Parts

FolderArgument = Annotated[Path, typer.Argument(metavar="DIR", help="The backup's folder.")]


def backup(folder: FolderArgument, home: HomeOption = None, as_json: JsonOption = False) -> None:
    """Copy ledger, page store and caches to an empty folder, as of one moment, while runs go on."""
    from pipeline.backups import backup as copy

    started = time.monotonic()
    made = copy(parts(home), folder)
    made["seconds"] = round(time.monotonic() - started, 3)

    def show() -> None:
        out.print(
            f"{len(made['sources'])} sources, {made['rows']} rows and {made['files']} files "
            f"({made['bytes'] / 2**20:.1f} MiB) are in {folder}",
            markup=False,
        )

    answer(made, as_json, show)


def restore(
    folder: FolderArgument,
    receipt: Annotated[
        list[Path] | None,
        typer.Option("--receipt", help="What wrac forget --json said since.", metavar="FILE"),
    ] = None,
    index: Annotated[bool, typer.Option("--index/--no-index", help="Make the index too.")] = True,
    embedder: Annotated[str | None, typer.Option("--embedder", metavar="SPEC")] = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Fill an empty home from a backup. What was forgotten since does not come back."""
    from pipeline.backups import load
    from pipeline.forgetting import forget

    started = time.monotonic()
    opened = parts(home, make=True, embedder=embedder)
    gone = load(opened, folder, receipt or ())
    forgotten = [forget(opened, one).source for one in gone]
    value: dict[str, Any] = {
        "sources": [one.name for one in opened.ledger.sources.all()],
        "forgotten": forgotten,
        "index": _reindex(opened, None) if index else [],
        "seconds": round(time.monotonic() - started, 3),
    }

    def show() -> None:
        out.print(f"{', '.join(value['sources']) or 'nothing'} came back", markup=False)
        if forgotten:
            out.print(f"forgotten, and so not brought back: {', '.join(forgotten)}", markup=False)
        _show(value["index"])
        if not index:
            out.print("wrac reindex makes the index")

    answer(value, as_json, show)


def reindex(
    source: Annotated[str | None, typer.Option("--source", metavar="NAME")] = None,
    embedder: Annotated[str | None, typer.Option("--embedder", metavar="SPEC")] = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make the index again from ledger and page store alone. Fetches and plans nothing."""
    made = _reindex(parts(home, embedder=embedder), source)
    answer({"sources": made}, as_json, lambda: _show(made))


def _reindex(opened: Parts, source: str | None) -> list[dict[str, Any]]:
    from pipeline.reindex import Reindexed
    from pipeline.reindex import reindex as make

    def step(one: Reindexed) -> None:
        if err.is_terminal:
            err.print(f"{one.source}: {one.pages} pages", end="\r", markup=False)

    sources = opened.ledger.sources
    names = [sources.get(source).name] if source else [one.name for one in sources.all()]
    return [asdict(make(opened, name, step)) for name in names]


def _show(made: list[dict[str, Any]]) -> None:
    for one in made:
        out.print(
            f"{one['source']}: {one['pages']} pages in {one['chunks']} chunks, "
            f"{one['embeddings_made']} embeddings made, {one['embeddings_cached']} from the cache, "
            f"in {one['seconds']:.1f} s",
            markup=False,
        )
        if one["left"]:
            out.print(
                f"  {one['left']} pages lack their documents: the next wrac ingest, run or rechunk "
                "makes them",
                markup=False,
            )
