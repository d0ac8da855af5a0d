"""Another policy for what is stored: no fetching, only what differs is touched."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

from chunker import PARSER_VERSION
from chunker.policy import Policy
from crawler.model import Tally
from pipeline import planning, runs
from pipeline.budgets import Budgets
from pipeline.builds import rebuild
from pipeline.errors import PinnedError
from pipeline.ingest import check_embedder
from pipeline.ledger import Pins, Source
from pipeline.parts import Parts
from pipeline.reconcile import Reconciler
from pipeline.turn import Ingested, Progress, check_index, outcome, watch


def rechunk(
    parts: Parts,
    name: str,
    policy: Policy,
    whole: bool = False,
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> Ingested:
    """Pin a source to another policy and make its index so. Interrupted, it goes on when repeated.

    Page by page in place, or, `whole`, as a build beside the live one with a way back. Raises
    `SourceBusyError`, naming the run that works on the source, and `PinnedError` where the
    software's parser is not the one that the source is pinned to.
    """
    from pipeline import topology

    started = time.monotonic()
    ledger = parts.ledger
    source = ledger.sources.get(name)
    pins = with_policy(parts, source, policy)
    if whole:
        return rebuild(parts, name, pins, on_progress)
    with runs.held(ledger, name) as run:
        source = ledger.sources.declare(
            name, source.customer, source.scope, pins, datetime.now(UTC)
        )
        ledger.work.release_all(name)
        check_index(parts, source)
        with topology.cluster(*topology.asked(parts.settings)):
            loop = Reconciler(ledger, source, run.runner, topology.RayPool(parts, source))
            loop.before_claim = Budgets(parts.settings, ledger, source.customer).loop
            loop.on_change = watch(run, loop.report, on_progress)
            report = loop.run()
    return outcome(ledger, source, Tally(), report, started)


def with_policy(parts: Parts, source: Source, policy: Policy) -> Pins:
    """The source's pins with another policy. Raises as `rechunk` does."""
    check_embedder(parts, source)
    planning.check_supported(policy, parts.settings)
    if source.pins.parser != PARSER_VERSION:
        raise PinnedError(
            f"source {source.name} is pinned to parser {source.pins.parser}; "
            f"this software has {PARSER_VERSION}",
            f"wrac upgrade --source {source.name} --policy FILE moves both",
        )
    planner = planning.pinned(parts.settings, policy, source.pins)
    return replace(source.pins, policy=policy, planner=planner)
