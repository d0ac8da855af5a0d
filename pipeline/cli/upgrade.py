"""`wrac upgrade`: what sources are pinned to moves, one canary first, with a way back."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from chunker.policy import load as load_policy
from pipeline.cli.ingest import progress, show, to_json
from pipeline.cli.options import HomeOption, JsonOption, PolicyOption, parts
from pipeline.cli.output import answer, err, out
from pipeline.errors import UsageError
from pipeline.parts import Parts


def upgrade(
    source: Annotated[str | None, typer.Option("--source", metavar="NAME")] = None,
    everything: Annotated[bool, typer.Option("--all", help="All sources, one first.")] = False,
    canary: Annotated[
        str | None,
        typer.Option("--canary", help="Which is first; default: the smallest.", metavar="NAME"),
    ] = None,
    policy: PolicyOption = None,
    embedder: Annotated[str | None, typer.Option("--embedder", metavar="SPEC")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would move, change and cost.")
    ] = False,
    back: Annotated[bool, typer.Option("--back", help="To the build before.")] = False,
    drop: Annotated[bool, typer.Option("--drop", help="Give the way back up.")] = False,
    fail_over: Annotated[
        float | None, typer.Option("--fail-over", help="Share of failed pages that is an error.")
    ] = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Move sources' pins to this software's parser, planner and embedder. Fetches nothing."""
    if (source is None) == (not everything):
        raise UsageError("say what to upgrade", "--source NAME or --all, one of them")
    if (back or drop) and (source is None or dry_run or (back and drop)):
        raise UsageError("--back and --drop are of one source, one of the two", "--source NAME")
    opened = parts(home, embedder=embedder, fail_over=fail_over)
    if source is not None and (back or drop):
        _undo(opened, source, back, as_json)
        return
    from pipeline.upgrade import check_canary, moves
    from pipeline.upgrade import upgrade as move_one

    wanted = moves(opened, source, load_policy(policy) if policy else None)
    if canary is not None:
        opened.ledger.sources.get(canary)
        wanted.sort(key=lambda move: move.source.name != canary)
    rows: list[dict[str, Any]] = []
    for number, move in enumerate(wanted):
        name = move.source.name
        row: dict[str, Any] = {"source": name, "moves": move.changes}
        rows.append(row)
        if not as_json:
            for key, (old, new) in move.changes.items():
                out.print(f"{name}: {key} {old} -> {new}", markup=False)
        if dry_run:
            from pipeline.forecast import forecast

            row |= forecast(opened, name, move.pins).to_json()
            if not as_json:
                show_forecast(row)
            continue
        with progress(name) as step:
            result = move_one(opened, move, step)
        row |= to_json(result)
        if not as_json:
            show(result, row)
        if everything and number == 0 and len(wanted) > 1:
            check_canary(opened, name, result)
            err.print(f"canary {name} is whole; {len(wanted) - 1} more", markup=False)

    def nothing() -> None:
        if not rows:
            out.print("every source is pinned to what this software has")

    answer({"dry_run": dry_run, "sources": rows}, as_json, nothing)


def show_forecast(found: dict[str, Any]) -> None:
    """A forecast, for people."""
    for key, value in found.items():
        if key not in ("source", "moves", "diffs"):
            out.print(f"{key.replace('_', ' '):20} {value}", markup=False)
    for one in found["diffs"]:
        out.print(f"\n{one['url']}\n{one['diff']}", markup=False)


def _undo(opened: Parts, source: str, back: bool, as_json: bool) -> None:
    from pipeline import builds

    if back:
        with progress(source) as step:
            result = builds.back(opened, source, step)
        value = to_json(result) | {"build": result.source.build}
        answer(value, as_json, lambda: show(result, value))
        return
    opened.ledger.sources.get(source)
    points = builds.drop_previous(opened, source)
    answer(
        {"source": source, "points": points},
        as_json,
        lambda: out.print(f"{points} points of the build before {source}'s live one are gone"),
    )
