"""A site goes in, at once and by hand; `wrac run` keeps those fresh that files declare."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import structlog

from chunker import PARSER_VERSION
from chunker.policy import Policy
from crawler.model import Politeness, Scope
from crawler.scope import Rules
from indexer import sparse
from pipeline import planning, runs
from pipeline.crawling import politeness
from pipeline.errors import PinnedError, SourceBusyError, UsageError
from pipeline.ledger import Pins, Source
from pipeline.parts import Parts
from pipeline.turn import Ingested, Progress, turn

log = structlog.get_logger()


def ingest(
    parts: Parts,
    name: str,
    customer: str | None,
    scope: Scope,
    policy: Policy | None,
    on_progress: Callable[[Progress], None] = lambda _: None,
    asked: Politeness | None = None,
) -> Ingested:
    """Crawl a source and make its index what it should be; resumes what was interrupted.

    `asked` None: the sites are asked as the settings say. Raises `SourceBusyError` where another
    run holds the source, `EmptySourceError` where no page was found, `ServiceMissingError` where a
    service stays away.
    """
    from pipeline import topology

    ledger = parts.ledger
    standing = ledger.schedules.get(name)
    if standing is not None and standing.paused is not None:
        raise UsageError(f"{name} is paused: {standing.paused}", f"wrac sources resume {name}")
    if ledger.sources.find(name) is None:
        declare(parts, name, customer, scope, policy)
    with runs.held(ledger, name) as run:
        # Only now: a run that holds the source must not see it change.
        declare(parts, name, customer, scope, policy)
        with topology.cluster(*topology.asked(parts.settings)):
            result = turn(parts, run, asked or politeness(parts.settings), on_progress)
    if not result.whole and not ledger.schedules.spent(name, datetime.now(UTC)):
        raise SourceBusyError(
            f"hosts of {name} are asked for another source", "run it again when that has ended"
        )
    return result


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


def check_embedder(parts: Parts, source: Source) -> None:
    """Raises `PinnedError` where the settings name another embedder than the source's."""
    if source.pins.embedder != parts.embedder.identity:
        raise PinnedError(
            f"source {source.name} is indexed with {source.pins.embedder}; "
            f"the settings ask for {parts.embedder.identity}",
            "set embedder back, or ingest the site under another source name",
        )
