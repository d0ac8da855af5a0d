"""Models that fastembed knows. It fetches them from a model hub: a choice, never the default."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from indexer.errors import ModelNotFoundError, ModelUnsupportedError
from indexer.model import Vector
from indexer.texts import RULES, collapse


def open_fastembed(model: str, threads: int | None = None) -> FastembedEmbedder:
    """Raises `ModelNotFoundError` where fastembed is not installed or cannot get the model."""
    try:
        from fastembed import TextEmbedding  # type: ignore[import-not-found,unused-ignore]
    except ImportError as error:
        raise ModelNotFoundError(
            "fastembed is not installed; pip install 'wrac[fastembed]' adds it"
        ) from error
    known = {row["model"]: row for row in TextEmbedding.list_supported_models()}
    if model not in known:
        raise ModelUnsupportedError(f"fastembed does not know {model}; it lists {len(known)}")
    try:
        loaded = TextEmbedding(model_name=model, threads=threads)
    except Exception as error:  # the hub client's errors are many and not ours to list
        raise ModelNotFoundError(f"fastembed cannot get {model}: {error}") from error
    return FastembedEmbedder(loaded, model, int(known[model]["dim"]))


class FastembedEmbedder:
    """An `Embedder` on fastembed."""

    def __init__(self, model: Any, name: str, dimensions: int) -> None:
        self._model = model
        self._tokenizer = model.model.tokenizer
        self._name = name
        self._dimensions = dimensions

    @property
    def identity(self) -> str:
        """fastembed shows no digest: its name for the model stands for it."""
        return f"fastembed:{self._name}/{self._dimensions}/{RULES}"

    @property
    def dimensions(self) -> int:
        return self._dimensions

    @property
    def max_tokens(self) -> int:
        return int(self._tokenizer.truncation["max_length"])

    def count(self, text: str) -> int:
        encoded = self._tokenizer.encode(text)
        return sum(int(sum(part.attention_mask)) for part in [encoded, *encoded.overflowing])

    def embed_queries(self, texts: Sequence[str]) -> Vector:
        return self.embed(texts)

    def embed(self, texts: Sequence[str]) -> Vector:
        if not texts:
            return np.empty((0, self._dimensions), np.float32)
        read = [collapse(text) for text in texts]
        vectors = np.stack(list(self._model.embed(read, batch_size=16))).astype(np.float32)
        scaled: Vector = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        return scaled
