"""A site goes in: crawl and index beside each other, until nothing is left to do."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import structlog

from chunker import PARSER_VERSION
from chunker.policy import Policy
from crawler import reasons
from crawler.model import Scope, Tally
from crawler.scope import Rules
from indexer import sparse
from pipeline import planning, profiling, runs
from pipeline.errors import EmptySourceError, PinnedError
from pipeline.index_stage import slot_of
from pipeline.ledger import Counts, Ledger, Pins, Source
from pipeline.pages import Report
from pipeline.parts import Parts
from pipeline.reconcile import Reconciler
from pipeline.runs import Run

log = structlog.get_logger()

#: Seconds between two reports of progress.
PROGRESS = 0.5


@dataclass(frozen=True, slots=True)
class Failure:
    """A page that could not be fetched, or not be read."""

    url: str
    error: str


@dataclass(frozen=True, slots=True)
class Ingested:
    """What an ingest came to."""

    source: Source
    tally: Tally
    report: Report
    counts: Counts
    failures: tuple[Failure, ...]
    seconds: float

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
    crawling: bool = field(default=True)


def ingest(
    parts: Parts,
    name: str,
    customer: str | None,
    scope: Scope,
    policy: Policy | None,
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> Ingested:
    """Crawl a source and make its index what it should be; resumes what was interrupted.

    Raises `SourceBusyError` where another run holds the source, `EmptySourceError` where no
    page was found, `ServiceMissingError` where a service stays away.
    """
    from pipeline import topology

    started = time.monotonic()
    ledger = parts.ledger
    if ledger.sources.find(name) is None:
        declare(parts, name, customer, scope, policy)
    with runs.held(ledger, name) as run:
        # Only now: a run that holds the source must not see it change.
        declare(parts, name, customer, scope, policy)
        ledger.sources.begin_pass(name)
        ledger.work.release_all(name)
        source = ledger.sources.get(name)
        check_index(parts, source)
        with topology.cluster(parts.settings.ray_address):
            crawl = topology.Crawl(parts, source, run.runner)
            pool = topology.RayPool(parts, source)
            loop = Reconciler(ledger, source, run.runner, pool)
            loop.on_change = watch(run, loop.report, on_progress, lambda: crawl.running)
            if not source.verdicts:
                loop.hold(lambda: crawl.running and _fetched(ledger, name) < profiling.FIRST_PAGES)
                source = profiling.begin(ledger, parts.store, source, pool.marks)
            loop.run(more=lambda: crawl.running)
            tally = crawl.result()
            ledger.settlements.canonicals(name, source.pins.fingerprint)
            loop.run()
            profiling.settle(ledger, parts.store, source)
            report = loop.run()
        ledger.sources.end_pass(name, datetime.now(UTC))
    result = outcome(ledger, source, tally, report, started)
    if result.counts.indexed == 0 and not tally.not_modified:
        raise _empty(ledger, source)
    return result


def outcome(
    ledger: Ledger, source: Source, tally: Tally, report: Report, started: float
) -> Ingested:
    """What a run that began at `started` (monotonic seconds) came to, by the ledger."""
    failures = tuple(
        Failure(row.url, ": ".join(filter(None, (row.reason, row.detail))))
        for row in ledger.pages.rows(source.name, "failed")
    )
    counts = ledger.pages.counts(source.name)
    return Ingested(source, tally, report, counts, failures, time.monotonic() - started)


def _fetched(ledger: Ledger, name: str) -> int:
    return len(ledger.pages.fetched(name, profiling.FIRST_PAGES))


def declare(
    parts: Parts, name: str, customer: str | None, scope: Scope, policy: Policy | None
) -> Source:
    """The source as the call wants it. A policy that is not given stays as it was."""
    ledger, known = parts.ledger, parts.ledger.sources.find(name)
    embedder = parts.embedder
    if known is not None:
        check_embedder(parts, known)
    wanted = policy or (known.pins.policy if known else Policy())
    planning.check_supported(wanted, parts.settings)
    if known is not None and policy is None:
        planning.check_planner(parts.settings, known.pins, name)
    if wanted.max_tokens > embedder.max_tokens:
        log.warning(
            "chunks may be longer than the embedder reads: the tail has no vector",
            max_tokens=wanted.max_tokens,
            embedder_reads=embedder.max_tokens,
        )
    pins = Pins(
        policy=wanted,
        parser=known.pins.parser if known else PARSER_VERSION,
        embedder=embedder.identity,
        dimensions=embedder.dimensions,
        sparse=known.pins.sparse if known else sparse.IDENTITY,
        planner=planning.pinned(parts.settings, wanted, known.pins if known else None),
    )
    rules = Rules(scope)
    scope = replace(scope, seeds=rules.seeds)
    owner = customer or (known.customer if known else name)
    old = known.scope if known else scope
    source = ledger.sources.declare(name, owner, old, pins, datetime.now(UTC))
    if old != scope:
        # A scope is on record once it is applied: cut short, it is applied again.
        ledger.settlements.rescope(name, rules.why_not)
        source = ledger.sources.declare(name, owner, scope, pins, datetime.now(UTC))
    return source


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


def check_embedder(parts: Parts, source: Source) -> None:
    """Raises `PinnedError` where the settings name another embedder than the source's."""
    if source.pins.embedder != parts.embedder.identity:
        raise PinnedError(
            f"source {source.name} is indexed with {source.pins.embedder}; "
            f"the settings ask for {parts.embedder.identity}",
            "set embedder back, or ingest the site under another source name",
        )


def watch(
    run: Run,
    report: Report,
    on_progress: Callable[[Progress], None],
    crawling: Callable[[], bool] = lambda: False,
) -> Callable[[], None]:
    """What to do whenever the loop moved: show progress, and that this run is alive."""
    due = 0.0

    def moved() -> None:
        nonlocal due
        run.show_life()
        began = time.monotonic()
        if began > due:
            on_progress(Progress(run.ledger.pages.counts(run.source), report, crawling()))
            # Counting a large source takes a while: never more than a fiftieth of the run.
            due = time.monotonic() + max(PROGRESS, 50 * (time.monotonic() - began))

    return moved


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
