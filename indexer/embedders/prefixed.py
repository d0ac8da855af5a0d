"""Models that were trained to be told what a text is: a question, or a passage that may answer.

Without the words that a model expects before a text its vectors are still vectors, and worse ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from indexer.model import Vector
from indexer.ports import Embedder


class Prefixes(NamedTuple):
    """What stands before a question and before a passage."""

    query: str
    passage: str


#: By model family, as its authors' model cards give them.
FAMILIES = {
    "e5": Prefixes("query: ", "passage: "),
    "bge": Prefixes("Represent this sentence for searching relevant passages: ", ""),
    "nomic": Prefixes("search_query: ", "search_document: "),
}


class PrefixedEmbedder:
    """An `Embedder` that puts a family's prefixes before what another one reads."""

    def __init__(self, inner: Embedder, family: str) -> None:
        self._inner = inner
        self._family = family
        self._prefixes = FAMILIES[family]

    @property
    def identity(self) -> str:
        return f"{self._family}+{self._inner.identity}"

    @property
    def dimensions(self) -> int:
        return self._inner.dimensions

    @property
    def max_tokens(self) -> int:
        return self._inner.max_tokens

    def count(self, text: str) -> int:
        return self._inner.count(self._prefixes.passage + text)

    def embed(self, texts: Sequence[str]) -> Vector:
        return self._inner.embed([self._prefixes.passage + text for text in texts])

    def embed_queries(self, texts: Sequence[str]) -> Vector:
        return self._inner.embed([self._prefixes.query + text for text in texts])
