"""Chunks to points: ids that stay for as long as a chunk stays, and the values that are stored."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Sequence
from datetime import datetime

from chunker.model import Chunk
from indexer.model import Point, Slot, SparseVector, Vector
from indexer.sparse import IDENTITY

_NAMESPACE = uuid.UUID("6f1c2f5e-3c0b-5d0a-9b1d-6e2f0f7a4c11")


def point_ids(slot: Slot, url: str, chunks: Sequence[Chunk]) -> list[str]:
    """The id of each chunk of a page, in order: UUIDv5 (RFC 9562) of customer, source, build, URL,
    hash of shown text, heading path and embedded text, and which of several equal ones it is."""
    seen: dict[str, int] = {}
    ids: list[str] = []
    for chunk in chunks:
        content = digest(chunk.text, *chunk.heading_path, "", chunk.embedded)
        occurrence = seen[content] = seen.get(content, 0) + 1
        fields = (slot.customer, slot.source, str(slot.build), url, content, str(occurrence))
        ids.append(str(uuid.uuid5(_NAMESPACE, digest(*fields))))
    return ids


def points(
    slot: Slot,
    url: str,
    title: str,
    lang: str,
    fetched_at: datetime,
    chunks: Sequence[Chunk],
    dense: Vector,
    sparse: Sequence[SparseVector],
) -> list[Point]:
    """A page's points, one a chunk, in order. `dense` has a row and `sparse` an entry for each."""
    ids = point_ids(slot, url, chunks)
    return [
        Point(
            id=point_id,
            dense=vector,
            sparse=terms,
            url=url,
            title=title,
            text=chunk.text,
            heading_path=chunk.heading_path,
            unit_ids=chunk.unit_ids,
            position=chunk.position,
            tokens=chunk.tokens,
            fetched_at=fetched_at,
            lang=lang,
        )
        for point_id, chunk, vector, terms in zip(ids, chunks, dense, sparse, strict=True)
    ]


def mark(
    slot: Slot, url: str, title: str, lang: str, fetched_at: datetime, chunks: Sequence[Chunk]
) -> str:
    """A hash of all that `points` would make of a page: where it is the same, they are the same.

    Vectors and terms stand in it by what they are made of and with. It costs neither.
    """
    values = [slot.embedder, IDENTITY, title, lang, fetched_at.isoformat()]
    for id_, chunk in zip(point_ids(slot, url, chunks), chunks, strict=True):
        values += [id_, digest(*chunk.unit_ids), str(chunk.position), str(chunk.tokens)]
    return digest(*values)


def digest(*fields: str) -> str:
    """SHA-256 of length-prefixed fields: no two lists of fields share one."""
    whole = hashlib.sha256()
    for field in fields:
        data = field.encode("utf-8", "surrogatepass")
        whole.update(len(data).to_bytes(8, "big"))
        whole.update(data)
    return whole.hexdigest()
