"""WARC files in and out: pages of any crawler go through the same loop."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path

from chunker.policy import Policy
from crawler import reasons, warc
from crawler.discovery import Discovery
from crawler.links import Link
from crawler.model import Missed, Outcome, Scope, Tally
from crawler.scope import Rules
from crawler.settings import agent_token
from crawler.warc import Archived
from pipeline import runs
from pipeline.errors import UsageError
from pipeline.frontier import LedgerFrontier
from pipeline.ingest import declare
from pipeline.ledger import Source
from pipeline.pagestore import DamagedFileError, MissingBodyError
from pipeline.parts import Parts
from pipeline.turn import Ingested, Progress, turn

#: Outcomes that are recorded together.
BATCH = 32


def export(parts: Parts, source: Source, path: Path) -> tuple[int, int]:
    """Writes a source's pages and aliases; returns how many, and how many bodies were not there."""
    lost: list[str] = []
    with path.open("wb") as file:
        pages = _archived(parts, source, lost)
        written = warc.write(file, source.scope, pages, packed=path.suffix == ".gz")
    return written, len(lost)


def import_(
    parts: Parts,
    name: str,
    customer: str | None,
    scope: Scope | None,
    policy: Policy | None,
    path: Path,
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> Ingested:
    """Records a file's pages as a pass of a source, and indexes them.

    `scope` None: the source's own, or that which the file names, or all hosts in it.
    """
    from pipeline import topology
    from pipeline.crawling import politeness

    known = parts.ledger.sources.find(name)
    try:
        wanted = scope or (known.scope if known else warc.scope_of(path))
    except warc.WarcError as error:
        raise UsageError(str(error), "give a WARC file, packed with gzip or not") from error
    if known is None:
        declare(parts, name, customer, wanted, policy)
    with runs.held(parts.ledger, name) as run:
        declare(parts, name, customer, wanted, policy)
        with topology.cluster(parts.settings.ray_address):
            asked = politeness(parts.settings)
            return turn(
                parts, run, asked, on_progress, instead=lambda source: WarcPass(parts, source, path)
            )


class WarcPass:
    """A pass over a file in place of a crawl. It is read when this is made."""

    running = False

    def __init__(self, parts: Parts, source: Source, path: Path) -> None:
        self._tally = Tally()
        settings, scope = parts.settings, source.scope
        self._frontier = LedgerFrontier(parts.ledger, parts.store, source, asks=False)
        self._discovery = Discovery(Rules(scope), scope.max_per_template)
        self._discovery.accepted_before(self._frontier.accepted())
        agent = agent_token(settings.user_agent)
        newest: dict[str, datetime] = {}
        batch: list[Outcome] = []
        for outcome in warc.read(path, self._discovery, agent, settings.max_body_bytes):
            at = outcome.at if isinstance(outcome, Missed) else outcome.fetched_at
            if at < newest.get(outcome.url, at):
                continue
            newest[outcome.url] = at
            self._count(outcome)
            if isinstance(outcome, Missed) and outcome.reason in reasons.BY_SCOPE:
                continue
            batch.append(outcome)
            if len(batch) >= BATCH:
                self._record(batch)
                batch = []
        self._record(batch)

    def result(self) -> Tally:
        return self._tally

    def close(self) -> None:
        """Nothing is open."""

    def _record(self, outcomes: Sequence[Outcome]) -> None:
        targets = [
            found
            for one in outcomes
            if isinstance(one, Missed) and one.target is not None
            for found in self._discovery.found([Link(one.target)], warc.DEPTH, one.url)
        ]
        if targets:
            self._frontier.discovered(targets)
        if outcomes:
            self._frontier.record_all(outcomes)

    def _count(self, outcome: Outcome) -> None:
        if isinstance(outcome, Missed):
            self._tally.missed += 1
            self._tally.reasons[outcome.reason] = self._tally.reasons.get(outcome.reason, 0) + 1
        else:
            self._tally.fetched += 1


def _archived(parts: Parts, source: Source, lost: list[str]) -> Iterator[Archived]:
    """What is stored of a source's pages; URLs whose body is not there go to `lost`."""
    for row in parts.ledger.pages.stored(source.name):
        if row.body_hash is None:
            headers = {"location": row.target or row.url}
            yield Archived(row.url, row.status, headers, b"", row.fetched_at)
            continue
        try:
            body = parts.store.body(source.customer, row.body_hash)
        except (MissingBodyError, DamagedFileError):
            lost.append(row.url)
            continue
        said = parts.store.fetch(source.customer, source.name, row.url) or {}
        headers = said.get("headers") or {"content-type": row.content_type}
        yield Archived(row.url, row.status, headers, body, row.fetched_at)
