"""What a store of cached bytes does, whichever it is, and how its keys are made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal, Protocol, TypeVar, get_args
from urllib.parse import quote

from indexer.points import digest

T = TypeVar("T")

#: What is cached. Each kind has its own entries, size and bound.
Kind = Literal["embeddings", "plans"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True, slots=True)
class Size:
    """How much a store holds of a kind."""

    entries: int
    bytes: int
    damaged: int
    """Entries that could not be used and were removed, since the store was made."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How long entries are kept, and how many bytes of them."""

    seconds: float = 90 * 24 * 3600
    """Since an entry was made or last read."""
    bytes: int = 2 * 2**30
    """Of one kind. Kept by a SQLite file; a Redis server has its own `maxmemory`."""


class Store(Protocol):
    """Bytes of one kind by key. Every call raises `CacheUnavailableError` where it is away."""

    def get_many(self, keys: Sequence[str]) -> dict[str, bytes]:
        """The values that are held, by key; reading prolongs their life."""

    def put_many(self, values: Mapping[str, bytes]) -> None:
        """Keep values; one that is held already is replaced."""

    def discard(self, keys: Sequence[str]) -> None:
        """Remove entries that cannot be used, and count them as damaged."""

    def claim(self, keys: Sequence[str], holder: str, seconds: float) -> list[str]:
        """Those of the keys that nobody else has claimed, claimed by `holder` for so long.

        Claiming what one has prolongs it. A claim that is not prolonged ends by itself.
        """

    def release(self, keys: Sequence[str], holder: str) -> None:
        """End claims of `holder`."""

    def forget(self, customer: str) -> int:
        """Remove all of a customer's; returns how many entries there were."""

    def size(self) -> Size:
        """What is held. Redis is asked for every entry: seconds for a million."""

    def close(self) -> None: ...


def key(customer: str, *fields: str) -> str:
    """A key: the customer first, then a hash of length-prefixed fields."""
    return prefix(customer) + digest(customer, *fields)


def prefix(customer: str) -> str:
    """What all keys of a customer begin with, and no other customer's."""
    return quote(customer, safe="") + "/"


def portions(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """`items` in lists of at most `size`: one statement or round trip each."""
    rest = iter(items)
    while some := list(islice(rest, size)):
        yield some
