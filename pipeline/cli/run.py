"""`wrac run`: crawl and index for ever, by each source's schedule."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipeline.cli.ingest import to_json
from pipeline.cli.options import HomeOption, JsonOption, parts
from pipeline.cli.output import answer, err, out
from pipeline.errors import PipelineError, UsageError
from pipeline.faults import classify, describe

if TYPE_CHECKING:
    from pipeline.turn import Ingested


def run(
    source: Annotated[
        list[str] | None, typer.Option("--source", help="Only this one; repeatable.")
    ] = None,
    once: Annotated[
        bool, typer.Option("--once", help="End when each source that is due had its pass.")
    ] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> int:
    """Keep the sources that files declare fresh, until it is told to stop (SIGTERM, Ctrl-C)."""
    from pipeline import topology
    from pipeline.running import Keeper
    from pipeline.scheduler import Scheduler
    from pipeline.sources.watched import WatchedFiles

    files = WatchedFiles()
    _check(source or (), files.sources)
    opened = parts(home, make=True)
    came_to: dict[str, dict[str, Any]] = {}

    def ended(name: str, result: Any) -> None:
        one = _failed(name, result) if isinstance(result, Exception) else _done(result)
        if once:  # a run for ever would remember for ever
            came_to[name] = one
        err.print(_line(one), markup=False)

    scheduler = Scheduler(
        opened.ledger,
        files,
        Keeper(opened).work,
        opened.settings.sources_at_once,
        once,
        frozenset(source or ()),
        ended,
    )
    stopping = threading.Event()
    with topology.cluster(*topology.asked(opened.settings, opened.settings.sources_at_once)):
        # Only now: Ray sets handlers of its own when it starts.
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: _stop(stopping))
        err.print(f"{len(files.sources)} sources are declared; Ctrl-C or SIGTERM ends the run")
        scheduler.run(stopping)
    answer({"sources": list(came_to.values())}, as_json, lambda: out.print("the run has ended"))
    return exit_code(came_to.values(), opened.settings.fail_over)


def exit_code(came_to: Iterable[Mapping[str, Any]], fail_over: float) -> int:
    """The worst of what sources' last turns came to; 4 where more pages failed than may."""
    codes = [
        one["error"]["exit_code"] if "error" in one else 4 * (one["failed_share"] > fail_over)
        for one in came_to
    ]
    return max(codes, default=0)


def _check(wanted: Any, declared: Any) -> None:
    if not declared:
        raise UsageError(
            "no file here declares a source",
            "wrac sources add NAME URL declares one; wrac run reads wrac.toml and sources.d/ of "
            "the folder it is started in",
        )
    for name in wanted:
        if name not in declared:
            raise UsageError(f"no file declares source {name}", f"declared: {', '.join(declared)}")


def _stop(stopping: threading.Event) -> None:
    if stopping.is_set():
        raise KeyboardInterrupt
    err.print("stopping: what is under way is ended first; again to stop at once")
    stopping.set()


def _done(result: Ingested) -> dict[str, Any]:
    share = round(result.failed_share, 6)
    return {**to_json(result), "whole": result.whole, "failed_share": share}


def _failed(name: str, error: Exception) -> dict[str, Any]:
    if isinstance(error, PipelineError):
        code, exit_code, hint = error.code, error.exit_code, error.hint
    else:
        code, exit_code, hint = classify(error)
    said = {"code": code, "exit_code": exit_code, "message": describe(error), "hint": hint}
    return {"source": name, "error": said}


def _line(one: dict[str, Any]) -> str:
    if "error" in one:
        return f"{one['source']}: failed: {one['error']['message']}"
    pages = one["pages"]
    said = ", ".join(f"{pages[key]} {key.replace('_', ' ')}" for key in pages if pages[key])
    left = "" if one["whole"] else "; the pass goes on"
    return f"{one['source']}: {said or 'no pages'} in {one['seconds']:.1f} s{left}"
