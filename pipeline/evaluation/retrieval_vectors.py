"""Vectors of the texts under test, each computed once and kept in one file.

A run on other chunks of the same documents, or on the same chunks tomorrow, finds most of its
vectors there. The file may be removed at any time.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from indexer.model import Vector
from indexer.ports import Embedder
from pipeline.caches import Cache, open_cache
from pipeline.caches.embeddings import EmbeddingCache, embedding_key
from pipeline.caches.stores import portions

#: Names the folder for the evaluation's caches; without it they lie in `.cache`.
CACHE_VARIABLE = "WRAC_EVAL_CACHE"
#: Texts that are embedded before their vectors are kept: what an interrupted run may lose.
AT_ONCE = 256
#: Whose they are.
CUSTOMER = "evaluation"


def open_vectors() -> EmbeddingCache:
    """The cache in the evaluation's folder."""
    return EmbeddingCache(open_cache(_in_folder("vectors.sqlite"), "embeddings"))


def open_answers() -> Cache:
    """Where the answers of a planner's model are kept between evaluations."""
    return open_cache(_in_folder("answers.sqlite"), "plans")


def _in_folder(name: str) -> str:
    folder = Path(os.environ.get(CACHE_VARIABLE, ".cache")).absolute()
    return f"sqlite:///{folder / name}"


class CachedEmbedder:
    """An embedder that looks a text up before it computes its vector."""

    def __init__(self, embedder: Embedder, cache: EmbeddingCache) -> None:
        self._embedder = embedder
        self._cache = cache

    @property
    def identity(self) -> str:
        return self._embedder.identity

    def count(self, text: str) -> int:
        """Tokens of a text as the model counts them."""
        return self._embedder.count(text)

    def embed(self, texts: Sequence[str]) -> Vector:
        """Vectors of `texts`, shape (len(texts), dimensions)."""
        keys = [embedding_key(CUSTOMER, text, self.identity) for text in texts]
        return self._vectors(keys, texts, self._embedder.embed)

    def embed_queries(self, texts: Sequence[str]) -> Vector:
        """Vectors of questions."""
        identity = f"{self.identity}?"
        keys = [embedding_key(CUSTOMER, text, identity) for text in texts]
        return self._vectors(keys, texts, self._embedder.embed_queries)

    def _vectors(
        self, keys: Sequence[str], texts: Sequence[str], embed: Callable[[Sequence[str]], Vector]
    ) -> Vector:
        known = self._cache.get_many(list(dict.fromkeys(keys)))
        missing = {k: text for k, text in zip(keys, texts, strict=True) if k not in known}
        # Texts of one length are embedded together: short ones do not wait for long ones.
        by_length = sorted(missing.items(), key=lambda item: len(item[1]))
        for some in portions(by_length, AT_ONCE):
            vectors = embed([text for _, text in some])
            made = {key: vector for (key, _), vector in zip(some, vectors, strict=True)}
            self._cache.put_many(made)
            known.update(made)
        if not keys:
            return np.empty((0, self._embedder.dimensions), dtype=np.float32)
        return np.stack([known[key] for key in keys])
