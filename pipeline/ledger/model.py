"""The ledger's values."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Literal

from chunker.policy import Policy, from_mapping
from crawler.model import Scope

State = Literal["indexed", "pending", "skipped", "failed", "deleted"]


#: What planned before sources were pinned to a planner.
FIRST_PLANNER = "structural-1"


@dataclass(frozen=True, slots=True)
class Pins:
    """What a source's index is made with. Installing other software moves none of it."""

    policy: Policy
    parser: str
    embedder: str
    dimensions: int
    sparse: str
    planner: str = FIRST_PLANNER

    @property
    def fingerprint(self) -> str:
        canonical = json.dumps(self.to_json(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()[:16]

    def to_json(self) -> dict[str, Any]:
        values = {**asdict(self), "policy": json.loads(self.policy.canonical)}
        if self.planner == FIRST_PLANNER:
            # As it was written then: no page differs because the pin has got a name.
            del values["planner"]
        return values

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Pins:
        return cls(**{**values, "policy": from_mapping(values["policy"])})


@dataclass(frozen=True, slots=True)
class Source:
    """A site that a customer has indexed."""

    name: str
    customer: str
    scope: Scope
    pins: Pins
    build: int
    created_at: datetime
    pass_number: int
    pass_open: bool
    pass_ended_at: datetime | None
    verdicts: str
    """Name of the published verdicts of the site's profile; empty: none yet."""
    settled_verdicts: str
    """Name of those that the last whole pass ended with."""
    held: int = 0
    """Pages that the last pass would have removed: they wait until somebody confirms it."""


@dataclass(frozen=True, slots=True)
class PageRow:
    """A page of a source as `wrac pages` shows it."""

    url: str
    state: State
    status: int | None
    canonical: str
    aliases: tuple[str, ...]
    chunks: int
    reason: str | None
    detail: str | None
    title: str | None


@dataclass(frozen=True, slots=True)
class Job:
    """A page whose index differs from what is wanted. `body_hash` None: it is to be removed."""

    source: str
    url: str
    wanted: str | None
    body_hash: str | None
    content_type: str
    title: str | None
    fetched_at: datetime | None
    document_hash: str | None
    """Of the document that is indexed now, if it was made with the same pins."""
    chunks: int
    attempts: int
    indexed_at: datetime | None
    verdicts: str
    """Name of the verdicts of the site's profile that it is to be parsed with."""
    has_changed: bool = False
    """Whether it was indexed from another body."""
    is_settled: bool = False
    """Whether its index is known to be what its record says: the last work on it came to its end
    and the index has lost nothing of it since."""
    repeats: str | None = None
    """Hash of the document with which it was found to repeat another page; None: it does not."""


@dataclass(frozen=True, slots=True)
class Counts:
    """How many pages of a source are in each state, and how many chunks they have."""

    indexed: int = 0
    pending: int = 0
    skipped: int = 0
    failed: int = 0
    deleted: int = 0
    chunks: int = 0
    reasons: Mapping[str, int] = field(default_factory=dict)
