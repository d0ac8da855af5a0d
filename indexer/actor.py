"""Embedding as a Ray actor: the one file of this package that knows Ray."""

from __future__ import annotations

from collections.abc import Sequence

import ray

from indexer.embedders import open_embedder
from indexer.errors import TerminalError, TransientError
from indexer.model import Vector


@ray.remote(max_restarts=-1, max_task_retries=2)
class EmbedActor:
    """An embedder that is loaded once and lives long. Repeating a call is harmless."""

    def __init__(self, spec: str, threads: int | None = None) -> None:
        self._embedder = open_embedder(spec, threads)

    def embed(self, texts: Sequence[str]) -> Vector | TransientError | TerminalError:
        """Vectors of `texts`, or what went wrong, as a value: Ray would wrap what is raised."""
        try:
            return self._embedder.embed(texts)
        except (TransientError, TerminalError) as error:
            return error
