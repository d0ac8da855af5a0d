"""Where embeddings are kept so that no text is embedded twice. May be lost at any time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Protocol, TypeVar
from urllib.parse import quote

from indexer.errors import CacheSpecError
from indexer.model import Vector
from indexer.points import digest

T = TypeVar("T")


class EmbeddingCache(Protocol):
    """Vectors by key. Every call raises `CacheUnavailableError` where it cannot be reached."""

    def get_many(self, keys: Sequence[str]) -> dict[str, Vector]:
        """The vectors that are held, by key."""

    def put_many(self, vectors: Mapping[str, Vector]) -> None:
        """Keep vectors; one that is held already is replaced."""

    def forget(self, customer: str) -> int:
        """Remove all of a customer's; returns how many there were."""

    def close(self) -> None: ...


def embedding_key(customer: str, text: str, identity: str) -> str:
    """The key of a text's vector: customer first, then a hash of length-prefixed fields."""
    return prefix(customer) + digest(customer, text, identity)


def prefix(customer: str) -> str:
    """What all keys of a customer begin with, and no other customer's."""
    return quote(customer, safe="") + "/"


def open_cache(url: str) -> EmbeddingCache:
    """The cache at `url`: `sqlite:///FILE`, or `redis://HOST:PORT/DB` (`rediss://`, `unix://`).

    Raises `CacheSpecError` for another scheme.
    """
    scheme, _, rest = url.partition("://")
    if scheme == "sqlite" and rest.startswith("/"):
        from indexer.caches.sqlite import SqliteCache

        return SqliteCache(rest[1:])
    if scheme in ("redis", "rediss", "unix"):
        from indexer.caches.redis import RedisCache

        return RedisCache(url)
    raise CacheSpecError(f"unknown cache {url!r}; known: sqlite:///FILE, redis://HOST:PORT/DB")


def portions(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """`items` in lists of at most `size`: one statement or round trip each."""
    rest = iter(items)
    while some := list(islice(rest, size)):
        yield some
