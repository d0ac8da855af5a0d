"""An OpenAI-compatible `/v1/embeddings` endpoint: vLLM on a GPU, or a hosted model.

Follows the OpenAI API reference, "Create embeddings": `{model, input}` in, `{data: [{index,
embedding}]}` out. The key, where one is needed, is read from `WRAC_EMBEDDER_KEY`.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Sequence
from typing import Any

import httpx
import numpy as np

from chunker.tokens import count as count_tokens
from indexer.errors import EmbedderAnswerError, EmbedderRefusedError, EmbedderUnavailableError
from indexer.model import Vector
from indexer.texts import RULES, collapse

BATCH_TEXTS = 64
ATTEMPTS = 5
TIMEOUT = 60.0  # seconds for one request
MAX_WAIT = 30.0  # seconds between two attempts, whatever Retry-After says
MAX_TOKENS = 512  # where the endpoint does not say what its model reads

_TRY_AGAIN = {408, 425, 429, *range(500, 600)}  # with those of gateways, 520 to 529


def open_endpoint(url: str, model: str) -> EndpointEmbedder:
    """The embedder behind `url` (`http://host:8000/v1`); one request finds its dimensions."""
    return EndpointEmbedder(url, model, os.environ.get("WRAC_EMBEDDER_KEY"))


class EndpointEmbedder:
    """An `Embedder` over HTTP. Raises `EmbedderUnavailableError` when retries did not help,
    `EmbedderRefusedError` for a 4xx, `EmbedderAnswerError` for vectors that do not fit."""

    def __init__(
        self,
        url: str,
        model: str,
        key: str | None = None,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        self._url = url.rstrip("/").removesuffix("/embeddings") + "/embeddings"
        self._model = model
        self._wait = wait
        key = (key or "").strip()  # a file's line end is no part of it
        if not (key.isascii() and key.isprintable()):
            raise EmbedderRefusedError(
                "WRAC_EMBEDDER_KEY is no key: it holds what no header can carry"
            )
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._client = httpx.Client(headers=headers, timeout=TIMEOUT)
        self._max_tokens = self._model_limit()
        self._dimensions = 0
        self._dimensions = self._request(["dimensions"]).shape[1]

    @property
    def identity(self) -> str:
        """An endpoint has no digest to show: its model's name stands for it."""
        return f"endpoint:{self._model}/{self._dimensions}/{RULES}"

    @property
    def dimensions(self) -> int:
        return self._dimensions

    @property
    def max_tokens(self) -> int:
        return self._max_tokens

    def count(self, text: str) -> int:
        """Counted with the one fixed tokenizer: the endpoint's own is not known here."""
        return count_tokens(text) + 2

    def embed_queries(self, texts: Sequence[str]) -> Vector:
        return self.embed(texts)

    def embed(self, texts: Sequence[str]) -> Vector:
        read = [collapse(text) or " " for text in texts]  # many servers refuse an empty input
        vectors = np.empty((len(read), self._dimensions), np.float32)
        order = sorted(range(len(read)), key=lambda i: len(read[i]))
        for start in range(0, len(order), BATCH_TEXTS):
            batch = order[start : start + BATCH_TEXTS]
            vectors[batch] = self._request([read[i] for i in batch])
        return vectors

    def _request(self, texts: list[str]) -> Vector:
        body = {"model": self._model, "input": texts, "encoding_format": "float"}
        for attempt in range(1, ATTEMPTS + 1):
            try:
                response = self._client.post(self._url, json=body)
            except httpx.TransportError as error:
                problem, pause = f"{type(error).__name__}: {error}", None
            else:
                if response.status_code == 200:
                    return self._vectors(response, len(texts))
                if response.status_code not in _TRY_AGAIN:
                    raise EmbedderRefusedError(
                        f"{self._url} refused with {response.status_code}: {response.text[:300]}"
                    )
                problem = f"status {response.status_code}"
                pause = response.headers.get("retry-after")
            if attempt < ATTEMPTS:
                self._wait(_pause(attempt, pause))
        raise EmbedderUnavailableError(f"{self._url} failed {ATTEMPTS} times, last: {problem}")

    def _vectors(self, response: httpx.Response, wanted: int) -> Vector:
        try:
            rows = sorted(response.json()["data"], key=lambda row: row["index"])
            places = [row["index"] for row in rows]
            vectors = np.asarray([row["embedding"] for row in rows], np.float32)
        except (ValueError, KeyError, TypeError) as error:
            raise EmbedderAnswerError(f"{self._url} did not answer with embeddings") from error
        if places != list(range(wanted)) or vectors.ndim != 2:
            raise EmbedderAnswerError(f"{self._url} answered {len(rows)} vectors to {wanted} texts")
        if self._dimensions and vectors.shape[1] != self._dimensions:
            raise EmbedderAnswerError(
                f"{self._url} answered {vectors.shape[1]} dimensions, before {self._dimensions}"
            )
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.all(np.isfinite(lengths)):
            raise EmbedderAnswerError(f"{self._url} answered with vectors that are no numbers")
        scaled: Vector = vectors / np.maximum(lengths, np.float32(1e-12))
        return scaled

    def _model_limit(self) -> int:
        """What the model reads, where the endpoint says it (vLLM: `max_model_len`)."""
        try:
            listed: Any = self._client.get(self._url.removesuffix("/embeddings") + "/models").json()
            for row in listed["data"]:
                if row["id"] == self._model and isinstance(row.get("max_model_len"), int):
                    return int(row["max_model_len"])
        except (httpx.HTTPError, ValueError, KeyError, TypeError):
            pass  # optional: not every server lists its models
        return MAX_TOKENS


def _pause(attempt: int, retry_after: str | None) -> float:
    """Seconds before the next attempt: what the server asks, else doubling, with jitter."""
    if retry_after is not None and retry_after.isdigit():
        return min(float(retry_after), MAX_WAIT)
    return min(2.0 ** (attempt - 1), MAX_WAIT) * random.uniform(0.5, 1.0)
