"""The caches of a cluster: Redis. A key an entry, so that Redis may evict what has no room."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import redis

from pipeline.caches.stores import Bounds, Kind, Size, portions, prefix
from pipeline.errors import CacheUnavailableError

AT_ONCE = 500
TIMEOUT = 10.0  # seconds for one request

#: The first part of a kind's keys.
_NAMES: dict[Kind, str] = {"embeddings": "wrac:embedding", "plans": "wrac:plan"}

#: KEYS: claims; ARGV: holder, milliseconds. Answers the places of those that are the holder's now.
_CLAIM = """
local mine = {}
for place, key in ipairs(KEYS) do
  local holder = redis.call('GET', key)
  if not holder or holder == ARGV[1] then
    redis.call('SET', key, ARGV[1], 'PX', ARGV[2])
    mine[#mine + 1] = place
  end
end
return mine
"""
_RELEASE = """
for _, key in ipairs(KEYS) do
  if redis.call('GET', key) == ARGV[1] then redis.call('DEL', key) end
end
"""


class RedisStore:
    """A `Store` on a Redis server."""

    def __init__(self, url: str, kind: Kind, bounds: Bounds) -> None:
        self._client = redis.Redis.from_url(
            url, socket_timeout=TIMEOUT, socket_connect_timeout=TIMEOUT
        )
        name = _NAMES[kind]
        self._entries, self._claims = f"{name}:", f"{name}-claim:"
        self._damaged = f"{name}-damaged"
        self._keep = round(bounds.seconds * 1000)
        self._claim = self._client.register_script(_CLAIM)
        self._release = self._client.register_script(_RELEASE)

    def get_many(self, keys: Sequence[str]) -> dict[str, bytes]:
        found: dict[str, bytes] = {}
        with _named():
            for some in portions(keys, AT_ONCE):
                with self._client.pipeline(transaction=False) as pipe:
                    for key in some:
                        pipe.getex(self._entries + key, px=self._keep)
                    answers = pipe.execute()
                found.update(
                    (key, value)
                    for key, value in zip(some, answers, strict=True)
                    if value is not None
                )
        return found

    def put_many(self, values: Mapping[str, bytes]) -> None:
        with _named():
            for some in portions(values.items(), AT_ONCE):
                with self._client.pipeline(transaction=False) as pipe:
                    for key, value in some:
                        pipe.set(self._entries + key, value, px=self._keep)
                    pipe.execute()

    def discard(self, keys: Sequence[str]) -> None:
        with _named():
            for some in portions(keys, AT_ONCE):
                self._client.unlink(*(self._entries + key for key in some))
                self._client.incrby(self._damaged, len(some))

    def claim(self, keys: Sequence[str], holder: str, seconds: float) -> list[str]:
        mine: list[str] = []
        with _named():
            for some in portions(keys, AT_ONCE):
                names = [self._claims + key for key in some]
                places = self._claim(keys=names, args=[holder, round(seconds * 1000)])
                mine += [some[place - 1] for place in places]
        return mine

    def release(self, keys: Sequence[str], holder: str) -> None:
        with _named():
            for some in portions(keys, AT_ONCE):
                self._release(keys=[self._claims + key for key in some], args=[holder])

    def forget(self, customer: str) -> int:
        with _named():  # a quoted name holds no mark of a pattern
            return sum(int(self._client.unlink(*some)) for some in self._scan(prefix(customer)))

    def size(self) -> Size:
        entries = held = 0
        with _named():
            for some in self._scan(""):
                with self._client.pipeline(transaction=False) as pipe:
                    for name in some:
                        pipe.strlen(name)
                    held += sum(pipe.execute())
                entries += len(some)
            damaged = int(self._client.get(self._damaged) or 0)
        return Size(entries, held, damaged)

    def close(self) -> None:
        self._client.close()

    def _scan(self, beginning: str) -> Iterator[list[bytes]]:
        """Names of all entries whose keys begin so, in portions. Redis may name one twice."""
        found = self._client.scan_iter(match=f"{self._entries}{beginning}*", count=1000)
        return portions(found, AT_ONCE)


@contextmanager
def _named() -> Iterator[None]:
    try:
        yield
    except redis.RedisError as error:
        raise CacheUnavailableError(f"the Redis cache cannot be used: {error}") from error
