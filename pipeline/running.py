"""`wrac run`: what one turn of a declared source is, and when its next one comes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import structlog

from pipeline import runs
from pipeline.ingest import declare
from pipeline.ledger.schedules import next_day
from pipeline.parts import Parts
from pipeline.sources import Declared
from pipeline.sources.access import OpenAccess
from pipeline.turn import Bounds, Ingested, turn

log = structlog.get_logger()

#: A source whose hosts other sources' crawls hold has its next turn after this time.
BUSY_WAIT = timedelta(seconds=15)
#: What a host asked for is forgotten when it was asked for nothing for so long.
HOSTS_KEPT = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Keeper:
    """Keeps declared sources fresh, a turn at a time."""

    parts: Parts

    def work(self, declared: Declared, stopping: Callable[[], bool]) -> Ingested:
        """One turn of a source; needs `topology.cluster` around it. Raises what ended it."""
        parts, ledger, name = self.parts, self.parts.ledger, declared.name
        spec = declared.spec
        access = OpenAccess(name, spec.access)
        access()  # a variable that is not set is told before anything is asked
        if spec.ignore_robots is not None:
            log.warning("robots.txt is not followed", source=name, reason=spec.ignore_robots)
        if ledger.sources.find(name) is None:
            declare(parts, name, declared.customer, spec.scope, declared.policy)
        with runs.held(ledger, name) as run:
            declare(parts, name, declared.customer, spec.scope, declared.policy)
            began = datetime.now(UTC)
            bounds = Bounds(
                due_by=began if spec.between else None,
                until=began + timedelta(seconds=parts.settings.turn_seconds),
                stopping=stopping,
            )
            result = turn(
                parts, run, spec.politeness(parts.settings), bounds=bounds, open_access=access
            )
            ledger.revisits.fit(name, datetime.now(UTC))
            ledger.schedules.ended(name, self._next(declared, result, began))
            ledger.hosts.forget_idle(began - HOSTS_KEPT)
        return result

    def _next(self, declared: Declared, result: Ingested, began: datetime) -> datetime:
        """When the source's next turn is due, after one that began at that time."""
        schedules, name, now = self.parts.ledger.schedules, declared.name, datetime.now(UTC)
        if not result.whole:
            came_to_nothing = result.tally.requests == 0  # its hosts are asked for other sources
            soon = now + BUSY_WAIT if came_to_nothing else now
            return next_day(now) if schedules.spent(name, now) else soon
        usual = began + declared.spec.every
        if declared.spec.between is None:
            return usual
        earliest = schedules.earliest(name) or usual
        return min(max(now + declared.spec.between[0], earliest), usual)
