"""The values that a page is between the stages of the loop."""

from __future__ import annotations

from dataclasses import dataclass

from chunker.model import Chunk, Document, Plan, Usage
from pipeline.ledger import Job

NOTHING = Usage()


@dataclass(frozen=True, slots=True)
class Prepared:
    """A page that is parsed, planned, checked and chunked."""

    job: Job
    document: Document
    plan: Plan
    chunks: tuple[Chunk, ...]


@dataclass(frozen=True, slots=True)
class Unchanged:
    """A page whose body differs and whose document does not: its index stays as it is."""

    job: Job


@dataclass(frozen=True, slots=True)
class Repeat:
    """A page that says what another page of the source says: it has a record and no points."""

    job: Job
    document: Document


@dataclass(frozen=True, slots=True)
class Emptied:
    """A page that had text and whose new body has none: its index stays until the pass ends."""

    job: Job


@dataclass(frozen=True, slots=True)
class Failed:
    """A page that could not be processed. `transient`: it waits; otherwise it is set aside."""

    job: Job
    reason: str
    detail: str
    transient: bool = False
    usage: Usage = NOTHING
    """What was paid for planning it, whatever failed then."""


@dataclass(frozen=True, slots=True)
class Removal:
    """A page that is to leave the index."""

    job: Job


@dataclass(frozen=True, slots=True)
class Indexed:
    """A page whose points are in the index as they should be."""

    job: Job
    document_hash: str
    sketch: str | None
    """None: as it was."""
    title: str
    chunks: int
    added: int
    kept: int
    deleted: int
    embedded: int
    """Vectors made."""
    embedded_cached: int
    plan_cached: bool
    """A model's plan that cost nothing now."""
    plan_repaired: bool
    plan_fallback: bool
    usage: Usage = NOTHING
    embedded_tokens: int = 0
    """Of the texts whose vectors were made."""


@dataclass(frozen=True, slots=True)
class Removed:
    """A page that has left the index."""

    job: Job
    deleted: int


Parsed = Prepared | Repeat | Unchanged | Emptied | Removal | Indexed | Failed
Result = Indexed | Unchanged | Emptied | Removed | Failed


def usage(result: Result) -> Usage:
    """What planning a page cost, also where the page came to nothing then."""
    return result.usage if isinstance(result, Indexed | Failed) else NOTHING


@dataclass(slots=True)
class Report:
    """What a run did: the counts of `ingest` and `rechunk` in JSON."""

    indexed: int = 0
    failed: int = 0
    deleted: int = 0
    chunks_added: int = 0
    chunks_kept: int = 0
    chunks_deleted: int = 0
    plans_made: int = 0
    plans_cached: int = 0
    plans_repaired: int = 0
    plans_fallback: int = 0
    embeddings_made: int = 0
    embeddings_cached: int = 0
    usage: Usage = NOTHING
    """Of all planning, also of pages that failed or wait."""

    def add(self, result: Result, again: bool = False) -> None:
        """Count a result. `again`: the run has counted the page, only its chunks are new."""
        page = not again
        match result:
            case Indexed():
                self.indexed += page and result.chunks > 0  # one without text is skipped
                self.chunks_added += result.added
                self.chunks_kept += result.kept
                self.chunks_deleted += result.deleted
                self.plans_made += not result.plan_cached
                self.plans_cached += result.plan_cached
                self.plans_repaired += result.plan_repaired
                self.plans_fallback += result.plan_fallback
                self.embeddings_made += result.embedded
                self.embeddings_cached += result.embedded_cached
            case Removed():
                self.deleted += page
                self.chunks_deleted += result.deleted
            case Failed():
                self.failed += 1
