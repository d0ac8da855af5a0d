"""Points made for the tests: a text's words are its terms and decide its vector."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np

from chunker.model import Chunk
from indexer.model import Point, Slot, SparseVector, Vector
from indexer.points import points
from indexer.sparse import encode_document

DIMENSIONS = 32
FETCHED = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)


def slot(source: str = "site", customer: str = "acme", build: int = 1) -> Slot:
    return Slot(customer, source, "sample-model@1", DIMENSIONS, build)


def vector(text: str) -> Vector:
    """The sum of a fixed random direction for each word, at unit length."""
    total = np.zeros(DIMENSIONS, np.float32)
    for word in text.lower().split() or [""]:
        seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
        total += np.random.default_rng(seed).standard_normal(DIMENSIONS).astype(np.float32)
    scaled: Vector = total / np.linalg.norm(total)
    return scaled


def chunk(text: str, position: int = 0, path: Sequence[str] = ("Guide",)) -> Chunk:
    return Chunk(
        id=f"chunk-{position}",
        text=text,
        heading_path=tuple(path),
        unit_ids=(f"text_{position + 1}",),
        tokens=len(text.split()),
        position=position,
        spans=((0, len(text)),),
        embedded=text,
    )


def page(
    of: Slot,
    url: str,
    texts: Sequence[str],
    *,
    title: str = "Title",
    lang: str = "en",
    fetched_at: datetime = FETCHED,
) -> list[Point]:
    """The points of a page that holds `texts`, in order."""
    chunks = [chunk(text, position) for position, text in enumerate(texts)]
    dense = np.stack([vector(text) for text in texts]) if texts else np.zeros((0, DIMENSIONS))
    sparse = [encode_document(text, lang) for text in texts]
    return points(of, url, title, lang, fetched_at, chunks, dense.astype(np.float32), sparse)


def no_terms() -> SparseVector:
    return SparseVector((), ())
