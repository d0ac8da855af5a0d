"""How slots share a Qdrant collection: what marks their points, and what selects them."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np
from qdrant_client import models

from indexer.model import Slot, SparseVector, Vector
from indexer.payload import DENSE, SPARSE, Payload, Row

PREFIX = "wrac-"

_KEYWORD = models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD)

#: Payload keys that are searched by. A tenant's points lie together on the server's disk.
INDEXED = {
    "customer": models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True),
    "slot": _KEYWORD,
    "url": _KEYWORD,
    "lang": _KEYWORD,
}

#: What is added to each payload here, and is no part of the point.
OURS = ("customer", "source", "embedder", "dimensions", "build", "slot", "revision")


def collection_name(slot: Slot) -> str:
    """One collection for all vectors that one embedder makes."""
    return PREFIX + hashlib.sha256(slot.embedder.encode()).hexdigest()[:16]


def vectors_of(slot: Slot) -> dict[str, Any]:
    """What `create_collection` is told of a collection."""
    return {
        "vectors_config": {
            DENSE: models.VectorParams(size=slot.dimensions, distance=models.Distance.COSINE)
        },
        "sparse_vectors_config": {SPARSE: models.SparseVectorParams(modifier=models.Modifier.IDF)},
        # A graph inside each tenant and none over all: a search is always one of some tenant.
        "hnsw_config": models.HnswConfigDiff(m=0, payload_m=16),
    }


def ours(slot: Slot, revision: int) -> Payload:
    """The marks of a slot's point."""
    return {
        "customer": slot.customer,
        "source": slot.source,
        "embedder": slot.embedder,
        "dimensions": slot.dimensions,
        "build": slot.build,
        "slot": _key(slot),
        "revision": revision,
    }


def slot_of(payload: Payload) -> Slot:
    """The slot that a stored point is in."""
    return Slot(
        payload["customer"],
        payload["source"],
        payload["embedder"],
        payload["dimensions"],
        payload["build"],
    )


def everything_of(
    slot: Slot, url: str | None = None, but: Sequence[str] | None = None
) -> models.Filter:
    """All points of a slot, or of one of its pages, but those with the ids in `but`."""
    must = [_match("customer", slot.customer), _match("slot", _key(slot))]
    if url is not None:
        must.append(_match("url", url))
    kept: list[Any] = [models.HasIdCondition(has_id=list(but))] if but else []
    return models.Filter(must=must, must_not=kept)


def tenant_key(key: str, value: str) -> models.Filter:
    return models.Filter(must=[_match(key, value)])


def record(row: Row, marks: Payload) -> models.PointStruct:
    """A point as the server takes it."""
    terms = models.SparseVector(
        indices=array("I", row.indices).tolist(), values=array("f", row.weights).tolist()
    )
    vectors: dict[str, Any] = {DENSE: array("f", row.dense).tolist(), SPARSE: terms}
    return models.PointStruct(id=row.id, vector=vectors, payload=row.payload | marks)


def nearest(slot: Slot, query: Vector | SparseVector, limit: int) -> models.QueryRequest:
    """The slot's nearest points by vector or by terms; frequencies of terms are the slot's own."""
    of_slot = everything_of(slot)
    if isinstance(query, SparseVector):
        terms = models.SparseVector(indices=list(query.indices), values=list(query.values))
        return models.QueryRequest(
            query=terms,
            using=SPARSE,
            filter=of_slot,
            params=models.SearchParams(idf=models.IdfCorpusParams(corpus=of_slot)),
            limit=limit,
            with_payload=True,
        )
    vector = query.astype(np.float32).tolist()
    return models.QueryRequest(
        query=vector, using=DENSE, filter=of_slot, limit=limit, with_payload=True
    )


def _key(slot: Slot) -> str:
    fields = (slot.customer, slot.source, slot.embedder, slot.build)
    return hashlib.sha256(repr(fields).encode()).hexdigest()[:24]


def _match(key: str, value: str) -> Any:
    return models.FieldCondition(key=key, match=models.MatchValue(value=value))
