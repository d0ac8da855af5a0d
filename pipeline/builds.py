"""Makes a source's index anew beside the live one, and goes over to it as a whole, or back."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

from crawler.model import Tally
from pipeline import runs
from pipeline.budgets import Budgets
from pipeline.errors import UsageError
from pipeline.index_stage import slot_of
from pipeline.ledger import Pins, Source
from pipeline.ledger.build_work import BuildWork
from pipeline.ledger.builds import Build
from pipeline.pages import Report
from pipeline.parts import Parts
from pipeline.reconcile import Reconciler
from pipeline.runs import Run
from pipeline.turn import Failure, Ingested, Progress, check_index, outcome, watch

OnProgress = Callable[[Progress], None]


class RefusedBuildError(UsageError):
    """More pages failed in the new build than may: the live one stays."""

    code = "build_refused"
    exit_code = 4


def rebuild(parts: Parts, name: str, pins: Pins, on_progress: OnProgress) -> Ingested:
    """Index all that is stored of a source with other pins, beside what is live; then go over.

    Searches see the live build to the last page of the new one, and the new one from then on. What
    was live stays, as the way back, until the next rebuild. Interrupted, the same call goes on.
    Raises `SourceBusyError`, and `RefusedBuildError` where more pages fail than `fail_over`.
    """
    from pipeline import topology

    started = time.monotonic()
    ledger = parts.ledger
    with runs.held(ledger, name) as run:
        live = ledger.sources.get(name)
        staged = _begun(parts, live, pins)
        work = BuildWork(ledger.engine, staged)
        with topology.cluster(*topology.asked(parts.settings)):
            pool = topology.RayPool(parts, staged)
            loop = Reconciler(replace(ledger, work=work), staged, run.runner, pool)
            loop.before_claim = Budgets(parts.settings, ledger, live.customer).loop
            loop.on_change = watch(run, loop.report, on_progress)
            report = loop.run()
            pages = report.indexed + len(work.failures)
            if pages and len(work.failures) > parts.settings.fail_over * pages:
                drop(parts, live, staged.build)
                url, why = next(iter(work.failures.items()))
                raise RefusedBuildError(
                    f"{len(work.failures)} of {pages} pages failed ({url}: {why}); "
                    f"source {name} stays as it was",
                    "--fail-over or fail_over allows more",
                )
            _go_over(parts, live, staged.build)
            report = _settled(parts, run, report, on_progress)
    result = outcome(ledger, ledger.sources.get(name), Tally(), report, started)
    failures = tuple(Failure(url, why) for url, why in work.failures.items())
    return replace(result, failures=failures or result.failures)


def back(parts: Parts, name: str, on_progress: OnProgress) -> Ingested:
    """Go back to what was live before, which then is the way forward again.

    Pages that have changed since are indexed anew. Raises `UsageError` where there is nothing.
    """
    from pipeline import topology

    started = time.monotonic()
    with runs.held(parts.ledger, name) as run:
        live = parts.ledger.sources.get(name)
        before = previous(parts, name)
        if before is None:
            raise UsageError(
                f"source {name} has no build to go back to",
                "wrac upgrade and wrac rechunk --whole leave one, until it is dropped",
            )
        _go_over(parts, live, before.number)
        with topology.cluster(*topology.asked(parts.settings)):
            report = _settled(parts, run, Report(), on_progress)
    return outcome(parts.ledger, parts.ledger.sources.get(name), Tally(), report, started)


def drop_previous(parts: Parts, name: str) -> int:
    """Give up the way back; returns the number of points that it held."""
    with runs.held(parts.ledger, name):
        live, before = parts.ledger.sources.get(name), previous(parts, name)
        return drop(parts, live, before.number) if before else 0


def previous(parts: Parts, name: str) -> Build | None:
    """What was live before, if it is still there."""
    kept = [one for one in parts.ledger.builds.all(name) if one.state == "previous"]
    return kept[-1] if kept else None


def beside(parts: Parts, source: Source) -> list[Source]:
    """The source as it is in each build that is not live."""
    return [
        replace(source, build=one.number, pins=one.pins)
        for one in parts.ledger.builds.all(source.name)
    ]


def drop(parts: Parts, source: Source, number: int) -> int:
    """Remove a build that is not live: points, records, rows. Repeating it ends what was cut."""
    points = 0
    for one in beside(parts, source):
        if one.build == number:
            points = parts.index.drop(slot_of(one))
            parts.store.delete_records(source.customer, source.name, number)
            parts.ledger.builds.drop(source.name, number)
    return points


def _begun(parts: Parts, live: Source, pins: Pins) -> Source:
    """The source as it will be: a build with these pins that was begun before, or a new one."""
    number = None
    for one in parts.ledger.builds.all(live.name):
        if one.state == "building" and one.pins == pins:
            number = one.number
        elif one.state == "building":
            drop(parts, live, one.number)
    number = number or parts.ledger.builds.begin(live, pins, datetime.now(UTC))
    return replace(live, build=number, pins=pins)


def _go_over(parts: Parts, live: Source, number: int) -> None:
    older = [
        one.number
        for one in parts.ledger.builds.all(live.name)
        if one.state == "previous" and one.number != number
    ]
    parts.ledger.builds.switch(live.name, number, datetime.now(UTC))
    for one in older:
        drop(parts, live, one)


def _settled(parts: Parts, run: Run, report: Report, on_progress: OnProgress) -> Report:
    """Make right what has changed since the build was made."""
    from pipeline import topology

    source = parts.ledger.sources.get(run.source)
    parts.ledger.work.release_all(source.name)
    check_index(parts, source)
    loop = Reconciler(
        parts.ledger, source, run.runner, topology.RayPool(parts, source), report=report
    )
    loop.before_claim = Budgets(parts.settings, parts.ledger, source.customer).loop
    loop.on_change = watch(run, loop.report, on_progress)
    return loop.run()
