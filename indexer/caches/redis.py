"""The cache of a cluster: Redis. A key a vector, so that Redis may evict what has no room."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np
import redis

from indexer.caches import portions, prefix
from indexer.errors import CacheUnavailableError
from indexer.model import Vector

PREFIX = "wrac:embedding:"
KEEP = 90 * 24 * 3600  # seconds since a vector was made or last read
AT_ONCE = 500
TIMEOUT = 10.0  # seconds for one request


class RedisCache:
    """An `EmbeddingCache` on a Redis server."""

    def __init__(self, url: str) -> None:
        self._client = redis.Redis.from_url(
            url, socket_timeout=TIMEOUT, socket_connect_timeout=TIMEOUT
        )

    def get_many(self, keys: Sequence[str]) -> dict[str, Vector]:
        found: dict[str, Vector] = {}
        with _named():
            for some in portions(keys, AT_ONCE):
                with self._client.pipeline(transaction=False) as pipe:
                    for key in some:
                        pipe.getex(PREFIX + key, ex=KEEP)
                    answers = pipe.execute()
                for key, blob in zip(some, answers, strict=True):
                    if blob is not None:
                        found[key] = np.frombuffer(blob, np.float32)
        return found

    def put_many(self, vectors: Mapping[str, Vector]) -> None:
        with _named():
            for some in portions(vectors.items(), AT_ONCE):
                with self._client.pipeline(transaction=False) as pipe:
                    for key, vector in some:
                        pipe.set(PREFIX + key, vector.astype(np.float32).tobytes(), ex=KEEP)
                    pipe.execute()

    def forget(self, customer: str) -> int:
        removed = 0
        pattern = f"{PREFIX}{prefix(customer)}*"  # a quoted name holds no mark of a pattern
        with _named():
            for some in portions(self._client.scan_iter(match=pattern, count=1000), AT_ONCE):
                removed += int(self._client.unlink(*some))
        return removed

    def close(self) -> None:
        self._client.close()


@contextmanager
def _named() -> Iterator[None]:
    try:
        yield
    except redis.RedisError as error:
        raise CacheUnavailableError(f"the Redis cache cannot be used: {error}") from error
