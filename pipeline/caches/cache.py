"""A cache that costs time when it is lost, and nothing else."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

import structlog

from pipeline.caches.seal import seal, unseal
from pipeline.caches.stores import Bounds, Kind, Size, Store
from pipeline.errors import CacheSpecError, CacheUnavailableError
from pipeline.settings import without_password

log = structlog.get_logger()

#: Seconds for which a store that did not answer is not asked again.
AWAY = 30.0

_KNOWN = "known are sqlite:///FILE and redis://HOST:PORT/DB"


class Cache:
    """Bytes of one kind by key, in a store that may be away, damaged or emptied.

    Reading, keeping and claiming never fail: away is empty, and an entry that is not what was
    kept is missing, removed and counted. Only `forget` and `size`, which must be true, raise
    `CacheUnavailableError`.
    """

    def __init__(self, store: Store, kind: Kind, now: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._kind = kind
        self._now = now
        self._away_until = 0.0

    def get_many(self, keys: Sequence[str]) -> dict[str, bytes]:
        """The values that are held, by key; reading prolongs their life."""
        if not keys or self._is_away():
            return {}
        try:
            held = self._store.get_many(keys)
            values = {key: unseal(key, stored) for key, stored in held.items()}
            damaged = [key for key, value in values.items() if value is None]
            if damaged:
                log.warning("damaged cache entries", kind=self._kind, entries=len(damaged))
                self._store.discard(damaged)
        except CacheUnavailableError as error:
            self._went_away(error)
            return {}
        return {key: value for key, value in values.items() if value is not None}

    def put_many(self, values: Mapping[str, bytes]) -> None:
        """Keep values; one that is held already is replaced."""
        if not values or self._is_away():
            return
        try:
            self._store.put_many({key: seal(key, value) for key, value in values.items()})
        except CacheUnavailableError as error:
            self._went_away(error)

    def claim(self, keys: Sequence[str], holder: str, seconds: float) -> list[str]:
        """The keys whose values `holder` shall make: those that nobody else is making now.

        Where the store is away there is nobody to wait for: all of them.
        """
        if not keys or self._is_away():
            return list(keys)
        try:
            return self._store.claim(keys, holder, seconds)
        except CacheUnavailableError as error:
            self._went_away(error)
            return list(keys)

    def release(self, keys: Sequence[str], holder: str) -> None:
        """End claims of `holder`; those that cannot be ended end by themselves."""
        if not keys or self._is_away():
            return
        try:
            self._store.release(keys, holder)
        except CacheUnavailableError as error:
            self._went_away(error)

    def forget(self, customer: str) -> int:
        """Remove all of a customer's; returns how many entries there were."""
        return self._store.forget(customer)

    def size(self) -> Size:
        """How much is held."""
        return self._store.size()

    def close(self) -> None:
        self._store.close()

    def _is_away(self) -> bool:
        return self._now() < self._away_until

    def _went_away(self, error: CacheUnavailableError) -> None:
        log.warning("a cache is away", kind=self._kind, error=str(error))
        self._away_until = self._now() + AWAY


def open_cache(url: str, kind: Kind, bounds: Bounds | None = None) -> Cache:
    """The cache at `url`: `sqlite:///FILE`, or `redis://HOST:PORT/DB` (`rediss://`, `unix://`).

    Nothing is contacted before the first call. Raises `CacheSpecError` for anything else.
    """
    scheme, _, rest = url.partition("://")
    bounds = bounds or Bounds()
    if scheme == "sqlite" and rest.startswith("/"):
        from pipeline.caches.sqlite import SqliteStore

        return Cache(SqliteStore(rest[1:], kind, bounds), kind)
    if scheme in ("redis", "rediss", "unix"):
        from pipeline.caches.redis import RedisStore

        try:
            return Cache(RedisStore(url, kind, bounds), kind)
        except ValueError as error:  # a port that is none, an option that it does not know
            raise CacheSpecError(f"the cache {without_password(url)!r}: {error}", _KNOWN) from error
    raise CacheSpecError(f"unknown cache {without_password(url)!r}", _KNOWN)
