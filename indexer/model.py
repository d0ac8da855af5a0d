"""The values that go into a vector index and come out of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:  # the index process starts in half the time without numpy
    import numpy as np
    from numpy.typing import NDArray

Vector: TypeAlias = "NDArray[np.float32]"


@dataclass(frozen=True, slots=True)
class Slot:
    """One build of one source's index: what is searched, replaced and dropped as a whole."""

    customer: str
    source: str
    embedder: str
    """The embedder's identity, model digest included."""
    dimensions: int
    build: int = 1


@dataclass(frozen=True, slots=True)
class SparseVector:
    """Term weights of a text. `indices` are ascending and unique; both have the same length."""

    indices: tuple[int, ...]
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Point:
    """A chunk, ready to be stored."""

    id: str
    """UUIDv5, see `indexer.points`."""
    dense: Vector
    sparse: SparseVector
    url: str
    title: str
    text: str
    heading_path: tuple[str, ...]
    unit_ids: tuple[str, ...]
    position: int
    tokens: int
    fetched_at: datetime
    lang: str = ""
    """The page's language: a query's words are stemmed by the languages of what is searched."""


@dataclass(frozen=True, slots=True)
class Swap:
    """What replacing a page came to, in points."""

    added: int
    kept: int
    deleted: int


@dataclass(frozen=True, slots=True)
class Hit:
    """A search result. Ranks are 1-based; None where that side did not find the chunk."""

    score: float
    dense_rank: int | None
    sparse_rank: int | None
    chunk_id: str
    customer: str
    source: str
    url: str
    title: str
    text: str
    heading_path: tuple[str, ...]
    unit_ids: tuple[str, ...]
    position: int
    tokens: int
    fetched_at: datetime
    joined: tuple[str, ...] = ()
    """Ids of the chunks beside it that were put into this hit, see `indexer.packing`."""
    cut: bool = False
    """Whether its end is left out, for a budget."""


@dataclass(frozen=True, slots=True)
class Stored:
    """What the index holds of a point, for `wrac verify`."""

    id: str
    url: str
    text: str
    heading_path: tuple[str, ...]
    unit_ids: tuple[str, ...]
    position: int


Filter = Mapping[str, str]
