"""One turn of a source: crawl and index beside each other, until all is done or time is up."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Protocol

import structlog

from crawler import reasons
from crawler.access import Access
from crawler.errors import AccessError
from crawler.model import Politeness, Tally
from crawler.urls import host
from pipeline import profiling, repeats, retention
from pipeline.budgets import Budgets
from pipeline.crawling import check_named
from pipeline.errors import EmptySourceError
from pipeline.index_stage import slot_of
from pipeline.ledger import Counts, Ledger, Source
from pipeline.ledger.settlements import Settled
from pipeline.pages import Report
from pipeline.parts import Parts
from pipeline.reconcile import Reconciler
from pipeline.runs import Run

log = structlog.get_logger()

#: Seconds between two reports of progress.
PROGRESS = 0.5
#: Seconds that a crawl which is told to stop has to end what is under way.
GRACE = 20.0


@dataclass(frozen=True, slots=True)
class Failure:
    """A page that could not be fetched, or not be read."""

    url: str
    error: str


@dataclass(frozen=True, slots=True)
class Ingested:
    """What a turn, or another run over a source, came to."""

    source: Source
    tally: Tally
    report: Report
    counts: Counts
    failures: tuple[Failure, ...]
    seconds: float
    whole: bool = True
    """Whether nothing of the pass is left for another turn."""
    held: Settled | None = None
    """More pages than may go unasked were to be removed: none was."""

    @property
    def unchanged(self) -> int:
        """Pages in the index that this run left as they were."""
        return max(0, self.counts.indexed - self.report.indexed)

    @property
    def failed_share(self) -> float:
        """Failed pages over all that should have been indexed."""
        tried = self.counts.indexed + self.counts.failed + self.counts.pending
        return (self.counts.failed / tried) if tried else 0.0


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is."""

    counts: Counts
    report: Report
    crawling: bool = True


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a turn is held to. By default to nothing: all pages, for as long as it takes."""

    due_by: datetime | None = None
    """Only pages that are due by then."""
    until: datetime | None = None
    """No page is begun after that moment."""
    stopping: Callable[[], bool] = lambda: False
    """Whether to end now, with what is under way."""


class Crawling(Protocol):
    """What records the pages of a pass while the loop runs."""

    @property
    def running(self) -> bool: ...

    def result(self) -> Tally:
        """What it did; waits for its end. Raises what ended it."""

    def close(self) -> None: ...


def turn(
    parts: Parts,
    run: Run,
    asked: Politeness,
    on_progress: Callable[[Progress], None] = lambda _: None,
    bounds: Bounds | None = None,
    instead: Callable[[Source], Crawling] | None = None,
    open_access: Callable[[], Access | None] = lambda: None,
) -> Ingested:
    """Go on with the source's pass, or begin the next; needs `topology.cluster` around it.

    `instead`: where pages come from that are not crawled. `open_access` gives, in the process that
    crawls, what the site lets the crawler in by; a site that does not any more pauses the source.

    What is cut short is gone on with by the next turn. Raises `EmptySourceError` where a whole
    pass found no page, `ServiceMissingError` where a service stays away, `BudgetError` where the
    customer's budget is used up.
    """
    from pipeline import topology

    started = time.monotonic()
    ledger, name = parts.ledger, run.source
    bounds = bounds or Bounds()
    ledger.schedules.begin_turn(name, datetime.now(UTC), bounds.until)
    ledger.sources.begin_pass(name, bounds.due_by)
    ledger.work.release_all(name)
    source = ledger.sources.get(name)
    budgets = Budgets(parts.settings, ledger, source.customer)
    check_index(parts, source)
    if instead is None:
        check_named(asked, source.scope)
        crawl: Crawling = topology.Crawl(parts, source, run.runner, asked, open_access)
    else:
        crawl = instead(source)
    pool = topology.RayPool(parts, source)
    settled: Settled | None = None
    crawling = _until_stopped(ledger, name, crawl, bounds.stopping)
    try:
        loop = Reconciler(ledger, source, run.runner, pool, stopping=bounds.stopping)
        loop.before_claim = budgets.loop
        loop.on_change = watch(run, loop.report, on_progress, crawling)
        if not source.verdicts:
            loop.hold(lambda: crawling() and _fetched(ledger, name) < profiling.FIRST_PAGES)
            source = profiling.begin(ledger, parts.store, source, pool.marks)
        loop.run(more=crawling)
        tally = result_of(crawl, ledger, name)
        whole = not bounds.stopping() and not _is_cut(ledger, run, budgets)
        if whole:
            share = parts.settings.max_deleted
            settled = ledger.settlements.settle(name, source.pins.fingerprint, share)
            loop.run()
            profiling.settle(ledger, parts.store, source)
            loop.run()
            repeats.settle(ledger, parts.store, source, share)
        report = loop.run()
        whole = whole and not bounds.stopping()
    finally:
        crawl.close()
        ledger.hosts.release(name, datetime.now(UTC))
        pool.close()
    if whole:
        ledger.sources.end_pass(name, datetime.now(UTC))
        retention.sweep(parts, source.customer)
    retention.measure(parts, source.customer)
    if not whole:
        budgets.check("requests")
    result = outcome(ledger, source, tally, report, started, whole)
    if settled is not None and settled.held:
        result = replace(result, held=settled)
    if whole and result.counts.indexed == 0 and not tally.not_modified:
        raise _empty(ledger, source)
    return result


def outcome(
    ledger: Ledger,
    source: Source,
    tally: Tally,
    report: Report,
    started: float,
    whole: bool = True,
) -> Ingested:
    """What a run that began at `started` (monotonic seconds) came to, by the ledger."""
    failures = tuple(
        Failure(row.url, ": ".join(filter(None, (row.reason, row.detail))))
        for row in ledger.pages.rows(source.name, "failed")
    )
    counts = ledger.pages.counts(source.name)
    seconds = time.monotonic() - started
    return Ingested(source, tally, report, counts, failures, seconds, whole)


def check_index(parts: Parts, source: Source) -> None:
    """Pages whose points the index has lost, or all where it is gone, are to be indexed again."""
    wanted, slot = parts.ledger.pages.counts(source.name).chunks, slot_of(source)
    if parts.index.count(slot) >= wanted:
        return
    held = Counter(point.url for point in parts.index.points(slot))
    lost = [url for url, _, n in parts.ledger.pages.indexed(source.name) if held[url] < n]
    log.warning(
        "the index lost pages, which are indexed again", source=source.name, pages=len(lost)
    )
    parts.ledger.work.lost(source.name, lost)


def watch(
    run: Run,
    report: Report,
    on_progress: Callable[[Progress], None],
    crawling: Callable[[], bool] = lambda: False,
) -> Callable[[], None]:
    """What to do whenever the loop moved: show progress, and end if the source was taken over."""
    due = 0.0

    def moved() -> None:
        nonlocal due
        run.check()
        began = time.monotonic()
        if began > due:
            on_progress(Progress(run.ledger.pages.counts(run.source), report, crawling()))
            # Counting a large source takes a while: never more than a fiftieth of the run.
            due = time.monotonic() + max(PROGRESS, 50 * (time.monotonic() - began))

    return moved


def result_of(crawl: Crawling, ledger: Ledger, name: str) -> Tally:
    """What the crawl did. A site that lets it in no more pauses the source, and ends the turn."""
    try:
        return crawl.result()
    except AccessError as error:
        ledger.schedules.pause(name, str(error))
        raise


def _until_stopped(
    ledger: Ledger, name: str, crawl: Crawling, stopping: Callable[[], bool]
) -> Callable[[], bool]:
    """Whether the crawl goes on. Told to stop, it begins nothing more, and has a grace to end."""
    deadline: float | None = None

    def crawling() -> bool:
        nonlocal deadline
        if stopping():
            if deadline is None:
                ledger.schedules.stop(name, datetime.now(UTC))
                deadline = time.monotonic() + GRACE
            elif time.monotonic() > deadline:
                crawl.close()
        return crawl.running

    return crawling


def _is_cut(ledger: Ledger, run: Run, budgets: Budgets) -> bool:
    """Whether the crawl ended with pages left that it was not allowed to begin."""
    now, left = datetime.now(UTC), ledger.visits.pending(run.source, 1, ())
    if not left:
        return False
    allowed = ledger.schedules.allows(run.source, run.runner, now)
    spent = 0 in (allowed, budgets.requests_left())
    return spent or bool(ledger.hosts.of_others(run.source, {host(left[0].url)}, now))


def _fetched(ledger: Ledger, name: str) -> int:
    return len(ledger.pages.fetched(name, profiling.FIRST_PAGES))


def _empty(ledger: Ledger, source: Source) -> EmptySourceError:
    said = []
    for url in source.scope.seeds:
        row = ledger.pages.get(source.name, url)
        if row is not None:
            said.append(
                f"{url}: {row.reason or row.state}" + (f" ({row.detail})" if row.detail else "")
            )
    hints = {
        reasons.FORBIDDEN_ADDRESS: "--allow-host HOST lets a loopback or private host in",
        reasons.DNS: "check the host's name",
        reasons.ROBOTS: "robots.txt forbids it; --no-obey-robots where the site is yours",
    }
    hint = next((text for word, text in hints.items() if any(word in one for one in said)), "")
    return EmptySourceError(f"no page of {source.name} could be indexed. " + "; ".join(said), hint)
