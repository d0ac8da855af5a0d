"""What the engine stores of a point, and what a page's swap has to change. Used by each backend."""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from indexer.errors import PointError, SlotError
from indexer.fusion import Fused
from indexer.model import Hit, Point, Slot, SparseVector, Stored

Payload = dict[str, Any]

DENSE = "dense"
SPARSE = "sparse"

#: Bounds of one write: a longer one ends in a time-out or outgrows the write-ahead log.
BATCH_POINTS = 256
BATCH_BYTES = 4 * 1024 * 1024


class Row(NamedTuple):
    """A point in plain values: 32-bit floats and unsigned integers as bytes."""

    id: str
    dense: bytes
    indices: bytes
    weights: bytes
    payload: Payload

    @property
    def size(self) -> int:
        """Bytes, about."""
        return len(self.dense) + 2 * len(self.indices) + len(self.payload["text"].encode()) + 512


def rows(slot: Slot, url: str, points: Sequence[Point]) -> list[Row]:
    """`points` in plain values. Raises `PointError` for one that is not of this slot and page."""
    seen: set[str] = set()
    for point in points:
        if point.url != url:
            raise PointError(f"a point of {point.url} was given for {url}")
        if point.dense.shape != (slot.dimensions,):
            raise PointError(
                f"a vector of shape {point.dense.shape} was given to a slot of "
                f"{slot.dimensions} dimensions ({slot.embedder})"
            )
        if point.id in seen:
            raise PointError(f"the point {point.id} was given twice for {url}")
        seen.add(point.id)
    return [_row(point) for point in points]


def _row(point: Point) -> Row:
    indices, weights = terms(point.sparse)
    payload: Payload = {
        "url": point.url,
        "title": point.title,
        "text": point.text,
        "heading_path": list(point.heading_path),
        "unit_ids": list(point.unit_ids),
        "position": point.position,
        "tokens": point.tokens,
        "fetched_at": point.fetched_at.isoformat(),
        "lang": point.lang,
        # A point's id does not depend on its terms: this tells when they are other ones.
        "terms": zlib.crc32(weights, zlib.crc32(indices)),
    }
    return Row(point.id, point.dense.astype("float32").tobytes(), indices, weights, payload)


def terms(sparse: SparseVector) -> tuple[bytes, bytes]:
    """A sparse vector's indices and weights as bytes."""
    return array("I", sparse.indices).tobytes(), array("f", sparse.values).tobytes()


@dataclass(frozen=True, slots=True)
class Change:
    """What turns the stored points of a page into the wanted ones."""

    upsert: list[Row]
    """New points, and known ones whose terms changed."""
    payload: list[Row]
    """Known points of which only the payload changed."""
    fresh: list[str]
    """Ids of new points: what taking the change back removes."""
    stale: list[str]
    kept: int


def change(
    stored: Mapping[str, Payload], wanted: Sequence[Row], ours: Sequence[str] = ()
) -> Change:
    """Compare a page's stored payloads, by id, with the wanted rows.

    `ours` are keys that a backend adds to each payload; they do not count.
    """
    upsert: list[Row] = []
    payload: list[Row] = []
    for row in wanted:
        old = stored.get(row.id)
        if old is None or old["terms"] != row.payload["terms"]:
            upsert.append(row)
        elif {key: value for key, value in old.items() if key not in ours} != row.payload:
            payload.append(row)
    ids = {row.id for row in wanted}
    fresh, stale = sorted(ids - stored.keys()), sorted(stored.keys() - ids)
    return Change(upsert, payload, fresh, stale, len(ids) - len(fresh))


def batches(wanted: Sequence[Row]) -> list[list[Row]]:
    """`wanted` in batches, in order, cut by count and by bytes."""
    cut: list[list[Row]] = []
    room = 0
    for row in wanted:
        if not cut or len(cut[-1]) == BATCH_POINTS or row.size > room:
            cut.append([])
            room = BATCH_BYTES
        cut[-1].append(row)
        room -= row.size
    return cut


def hit(slot: Slot, chunk_id: str, found: Fused[Any], payload: Payload) -> Hit:
    """A search result from what the engine holds of it."""
    return Hit(
        score=found.score,
        dense_rank=found.dense_rank,
        sparse_rank=found.sparse_rank,
        chunk_id=chunk_id,
        customer=slot.customer,
        source=slot.source,
        url=payload["url"],
        title=payload["title"],
        text=payload["text"],
        heading_path=tuple(payload["heading_path"]),
        unit_ids=tuple(payload["unit_ids"]),
        position=payload["position"],
        tokens=payload["tokens"],
        fetched_at=datetime.fromisoformat(payload["fetched_at"]),
    )


def stored(chunk_id: str, payload: Payload) -> Stored:
    """What `wrac verify` compares."""
    return Stored(
        id=chunk_id,
        url=payload["url"],
        text=payload["text"],
        heading_path=tuple(payload["heading_path"]),
        unit_ids=tuple(payload["unit_ids"]),
        position=payload["position"],
    )


def one_embedder(slots: Sequence[Slot]) -> None:
    """Raise `SlotError` where vectors of two embedders would be compared."""
    embedders = sorted({slot.embedder for slot in slots})
    if len(embedders) > 1:
        raise SlotError(f"sources with different embedders: {', '.join(embedders)}")
