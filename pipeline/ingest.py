"""A site goes in: crawl and index beside each other, until nothing is left to do."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import psutil

from chunker import PARSER_VERSION
from chunker.policy import Policy
from crawler import reasons
from crawler.model import Scope, Tally
from crawler.scope import Rules
from indexer import sparse
from pipeline import profiling
from pipeline.errors import EmptySourceError, PinnedError
from pipeline.ledger import Counts, Ledger, Pins, Source
from pipeline.pages import Report
from pipeline.parts import Parts
from pipeline.reconcile import Reconciler

#: Seconds between two signs of life of a run.
HEARTBEAT = 15.0


@dataclass(frozen=True, slots=True)
class Ingested:
    """What an ingest came to."""

    source: Source
    tally: Tally
    report: Report
    counts: Counts
    seconds: float

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
    source = declare(parts, name, customer, scope, policy)
    runner = take(ledger, name)
    try:
        ledger.sources.begin_pass(name)
        ledger.work.release_all(name)
        source = ledger.sources.get(name)
        with topology.cluster(parts.settings.ray_address):
            crawl = topology.Crawl(parts, source, runner)
            pool = topology.RayPool(parts, source)
            loop = Reconciler(ledger, source, runner, pool)
            loop.on_change = _watch(ledger, source, runner, loop.report, crawl, on_progress)
            if not source.verdicts:
                loop.hold(lambda: crawl.running and _fetched(ledger, name) < profiling.FIRST_PAGES)
                source = profiling.begin(ledger, parts.store, source)
            loop.run(more=lambda: crawl.running)
            tally = crawl.result()
            ledger.settlements.canonicals(name, source.pins.fingerprint)
            loop.run()
            profiling.settle(ledger, parts.store, ledger.sources.get(name))
            report = loop.run()
        ledger.sources.end_pass(name, datetime.now(UTC))
    finally:
        ledger.sources.release(name, runner)
    counts = ledger.pages.counts(name)
    if counts.indexed == 0 and not tally.not_modified:
        raise _empty(ledger, source)
    return Ingested(source, tally, report, counts, time.monotonic() - started)


def _fetched(ledger: Ledger, name: str) -> int:
    return len(ledger.pages.fetched(name, profiling.FIRST_PAGES))


def declare(
    parts: Parts, name: str, customer: str | None, scope: Scope, policy: Policy | None
) -> Source:
    """The source as the call wants it. A policy that is not given stays as it was."""
    ledger, known = parts.ledger, parts.ledger.sources.find(name)
    embedder = parts.embedder
    if known is not None and known.pins.embedder != embedder.identity:
        raise PinnedError(
            f"source {name} is indexed with {known.pins.embedder}; "
            f"the settings ask for {embedder.identity}",
            "set embedder back, or ingest the site under another source name",
        )
    pins = Pins(
        policy=policy or (known.pins.policy if known else Policy()),
        parser=known.pins.parser if known else PARSER_VERSION,
        embedder=embedder.identity,
        dimensions=embedder.dimensions,
        sparse=known.pins.sparse if known else sparse.IDENTITY,
    )
    rules = Rules(scope)
    scope = replace(scope, seeds=rules.seeds)
    owner = customer or (known.customer if known else name)
    source = ledger.sources.declare(name, owner, scope, pins, datetime.now(UTC))
    if known is not None and known.scope != scope:
        ledger.settlements.rescope(name, rules.why_not)
    return source


def take(ledger: Ledger, name: str) -> str:
    """Hold the source for this process; returns the runner's name. Raises `SourceBusyError`."""
    runner = f"{socket.gethostname()}/{os.getpid()}/{psutil.Process().create_time():.0f}"
    holder = ledger.sources.runner(name)
    ledger.sources.take(name, runner, datetime.now(UTC), holder if _is_dead(holder) else None)
    return runner


def _is_dead(runner: str | None) -> bool:
    """Whether a runner is a process of this machine that is no more: its lease need not run out."""
    if runner is None:
        return False
    host, pid, created = runner.rsplit("/", 2)
    if host != socket.gethostname():
        return False
    try:
        return f"{psutil.Process(int(pid)).create_time():.0f}" != created
    except psutil.NoSuchProcess:
        return True


def _watch(
    ledger: Ledger,
    source: Source,
    runner: str,
    report: Report,
    crawl: object,
    on_progress: Callable[[Progress], None],
) -> Callable[[], None]:
    """What to do whenever the loop moved: show progress, and show that this run is alive."""
    last = shown = 0.0

    def watch() -> None:
        nonlocal last, shown
        now = time.monotonic()
        if now - last > HEARTBEAT:
            ledger.sources.take(source.name, runner, datetime.now(UTC))
            last = now
        if now - shown > 0.5:
            running = bool(getattr(crawl, "running", False))
            on_progress(Progress(ledger.pages.counts(source.name), report, running))
            shown = now

    return watch


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
