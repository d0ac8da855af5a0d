"""Vectors that were made once: no text is embedded twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from indexer.model import Vector
from pipeline.caches.cache import Cache
from pipeline.caches.stores import key


def embedding_key(customer: str, text: str, identity: str) -> str:
    """The key of a text's vector, made by the embedder of that identity."""
    return key(customer, text, identity)


class EmbeddingCache:
    """Vectors by key, in a cache that may be lost."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    def get_many(self, keys: Sequence[str]) -> dict[str, Vector]:
        """The vectors that are held, by key."""
        held = self._cache.get_many(keys)
        return {key: np.frombuffer(value, np.float32) for key, value in held.items()}

    def put_many(self, vectors: Mapping[str, Vector]) -> None:
        """Keep vectors; one that is held already is replaced."""
        self._cache.put_many(
            {key: vector.astype(np.float32).tobytes() for key, vector in vectors.items()}
        )
