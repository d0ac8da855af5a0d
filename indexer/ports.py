"""The ports of the indexer: what embeds, and what stores and searches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from indexer.model import Hit, Point, Slot, SparseVector, Stored, Swap, Vector


class Embedder(Protocol):
    """Turns texts into unit-length vectors."""

    @property
    def identity(self) -> str:
        """Name and digest of the model: vectors of two identities are never mixed."""

    @property
    def dimensions(self) -> int: ...

    @property
    def max_tokens(self) -> int:
        """Most tokens of a text that the model reads, special tokens included."""

    def count(self, text: str) -> int:
        """Tokens of a text by the model's own tokenizer, special tokens included."""

    def embed(self, texts: Sequence[str]) -> Vector:
        """Vectors of `texts`, shape (len(texts), dimensions), float32, in the same order."""

    def embed_queries(self, texts: Sequence[str]) -> Vector:
        """The same for questions, which some models read in another way than what answers them."""


class VectorIndex(Protocol):
    """Stores the points of pages and searches them. Every write is durable when it returns."""

    def replace_page(self, slot: Slot, url: str, points: Sequence[Point]) -> Swap:
        """Make `points` all that the slot holds of `url`. Repeating it changes nothing.

        A search that runs meanwhile sees the page as it was or as it will be, whole.
        """

    def delete_page(self, slot: Slot, url: str) -> int:
        """Remove a page; returns the number of points removed."""

    def search(
        self, slots: Sequence[Slot], dense: Vector, sparse: SparseVector, limit: int
    ) -> list[Hit]:
        """Best hits over the slots, dense and sparse fused as `indexer.fusion` does.

        Sparse weights use the document frequencies of each slot alone.
        """

    def points(self, slot: Slot) -> Iterator[Stored]:
        """Every point of a slot."""

    def count(self, slot: Slot) -> int: ...

    def slots(self) -> Sequence[Slot]:
        """Every slot that the index holds something of."""

    def languages(self, slots: Sequence[Slot]) -> frozenset[str]:
        """The languages of the pages in `slots`."""

    def drop(self, slot: Slot) -> int:
        """Remove the slot wholly, files included; returns the number of points it held."""

    def close(self) -> None: ...
