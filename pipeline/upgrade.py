"""Moves what a source is pinned to: to the parser, planner, embedder and terms of this software."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import chunker
from chunker.policy import Policy
from indexer import sparse
from pipeline import planning
from pipeline.builds import rebuild
from pipeline.errors import TerminalError
from pipeline.ledger import Pins, Source
from pipeline.parts import Parts
from pipeline.turn import Ingested, Progress
from pipeline.verifying import Verified, verify


class CanaryError(TerminalError):
    """The source that went first is not as it should be; the others were not touched."""

    code = "canary"
    exit_code = 4


@dataclass(frozen=True, slots=True)
class Move:
    """A source and what it is to be pinned to."""

    source: Source
    pins: Pins

    @property
    def changes(self) -> dict[str, tuple[str, str]]:
        """What differs, by name: from and to."""
        old, new = self.source.pins, self.pins
        pairs = {
            "policy": (old.policy.fingerprint, new.policy.fingerprint),
            "parser": (old.parser, new.parser),
            "planner": (old.planner, new.planner),
            "embedder": (old.embedder, new.embedder),
            "sparse": (old.sparse, new.sparse),
        }
        return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def moves(parts: Parts, name: str | None, policy: Policy | None) -> list[Move]:
    """What an upgrade of a source, or of all (None), would move; smallest source first."""
    known = parts.ledger.sources
    found = [known.get(name)] if name is not None else known.all()
    wanted = [Move(source, _pins(parts, source, policy)) for source in found]

    def size(move: Move) -> tuple[int, str]:
        return parts.ledger.pages.counts(move.source.name).indexed, move.source.name

    return sorted((move for move in wanted if move.changes), key=size)


def upgrade(
    parts: Parts, move: Move, on_progress: Callable[[Progress], None] = lambda _: None
) -> Ingested:
    """Move one source: a build beside, then one switch. The build before stays as the way back."""
    return rebuild(parts, move.source.name, move.pins, on_progress)


def check_canary(parts: Parts, name: str, result: Ingested) -> None:
    """Raises `CanaryError` where the source that went first is not whole."""
    found = Verified()
    verify(parts, parts.ledger.sources.get(name), found)
    said = f"wrac upgrade --source {name} --back takes it back"
    if not found.ok:
        problem = found.problems[0]
        raise CanaryError(f"canary {name}: {problem['url']}: {problem['problem']}", said)
    if result.failures:
        first = result.failures[0]
        raise CanaryError(
            f"canary {name}: {len(result.failures)} pages failed, {first.url}: {first.error}", said
        )


def _pins(parts: Parts, source: Source, policy: Policy | None) -> Pins:
    wanted = policy or source.pins.policy
    planning.check_supported(wanted, parts.settings)
    return replace(
        source.pins,
        policy=wanted,
        parser=chunker.PARSER_VERSION,
        planner=planning.pinned(parts.settings, wanted, None),
        embedder=parts.embedder.identity,
        dimensions=parts.embedder.dimensions,
        sparse=sparse.IDENTITY,
    )
