"""Oblivious regression trees and one linear layer, from a file of arrays.

The trees are CatBoost's symmetric ones (Prokhorenkova et al., 2018): a tree of depth d asks d
questions `column > border` and reads its answer from a table of 2**d values. `train_region.py`
in `benchmarks/` writes the file.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]

#: Rows at a time: what they are compared to stays in the processor's cache.
_ROWS = 512


@dataclass(frozen=True, slots=True)
class Trees:
    """A sum of oblivious trees of one depth."""

    column: npt.NDArray[np.int64]
    """Columns asked, tree by tree, `depth` each."""
    border: Floats
    value: Floats
    """One row a tree, `2**depth` values."""
    bias: float

    @property
    def depth(self) -> int:
        return int(self.value.shape[1]).bit_length() - 1

    def probability(self, table: Floats) -> Floats:
        """One probability a row of the table."""
        parts = [self._raw(table[i : i + _ROWS]) for i in range(0, len(table), _ROWS)]
        raw = np.concatenate(parts) + self.bias
        result: Floats = (1 / (1 + np.exp(-raw))).astype(np.float32)
        return result

    def _raw(self, table: Floats) -> Floats:
        asked = np.ascontiguousarray(table.T)[self.column] > self.border[:, None]
        bits = asked.reshape(len(self.value), self.depth, len(table)).view(np.uint8)
        leaf = bits[:, 0].astype(np.int32)
        for level in range(1, self.depth):
            leaf |= bits[:, level] << np.uint8(level)
        leaf += (np.arange(len(self.value), dtype=np.int32) * self.value.shape[1])[:, None]
        total: Floats = self.value.ravel()[leaf].sum(axis=0, dtype=np.float32)
        return total


@dataclass(frozen=True, slots=True)
class Model:
    """The two parts: the kind of page, and trees over its blocks."""

    kind_weights: Floats
    kind_bias: Floats
    trees: Trees
    pages: frozenset[int]
    """Digests of the pages that it was trained on: what is measured on them says little."""

    def kinds(self, summary: Floats) -> Floats:
        """Probabilities of the kinds of page, from the word-weighted mean of the blocks' rows."""
        raw = summary @ self.kind_weights + self.kind_bias
        raw = np.exp(raw - raw.max())
        result: Floats = (raw / raw.sum()).astype(np.float32)
        return result


@cache
def load() -> Model:
    """The model that this version of the package carries."""
    with files(__package__).joinpath("region.npz").open("rb") as file, np.load(file) as data:
        trees = Trees(
            data["column"].astype(np.int64),
            data["border"].astype(np.float32),
            data["value"].astype(np.float32),
            float(data["bias"]),
        )
        return Model(
            data["kind_weights"].astype(np.float32),
            data["kind_bias"].astype(np.float32),
            trees,
            frozenset(data["pages"].tolist()),
        )


def page_digest(body: bytes) -> int:
    """The name of a page among those trained on."""
    return int.from_bytes(hashlib.blake2b(body, digest_size=8).digest(), "big")
