"""The tables of `region_blocks` as arrays, with what the features are computed from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from chunker.html.region_blocks import TAG_BITS, Blocks
from chunker.html.region_containers import Ints
from chunker.html.region_text import counts, phrase_bits, words

Floats = npt.NDArray[np.float32]
Values = npt.NDArray[Any]

_TAGS = ["p", "li", "div", "span", "td", "th", "a", "dd", "dt", "button", "pre", "blockquote"]
_TAG_NUMBER = {tag: i + 1 for i, tag in enumerate(_TAGS)}
_TAG_NUMBER.update(h1=20, h2=21, h3=22, h4=23, h5=24, h6=25, figcaption=26, label=27, section=28)


@dataclass(frozen=True, slots=True)
class Tables:
    """Arrays over elements and over blocks; names as in `Blocks`."""

    blocks: int
    """Number of blocks."""
    element: Ints
    parent: Ints
    start: Ints
    end: Ints
    depth: Values
    path_names: Ints
    own_names: Ints
    path_tags: Ints
    own_tags: Ints
    signature: Ints
    inner_names: Ints
    inner_tags: Ints
    tokens: list[list[str]]
    """Words of each block."""
    raw: Values
    """Counts of each block, see `region_text.COUNTS`."""
    linked: Values
    tag: Values
    """Number of the tag of each block's element; 20 to 25 are `h1` to `h6`."""
    phrases: Ints
    look: Ints
    """Equal for blocks with the same path and inline tags."""
    sums: Values
    """Running sums over the blocks: the counts, characters in links, blocks, headings, links."""
    of_element: Values
    """The same sums of each element."""
    shapes: Values
    """Running number of changes of the element's signature from block to block."""

    @property
    def total(self) -> Values:
        """The sums of the page."""
        result: Values = self.sums[-1]
        return result


def tables_of(blocks: Blocks) -> Tables:
    """The arrays of a page with at least one block."""
    element = np.array(blocks.element, np.int64)
    start = np.array(blocks.start, np.int64)
    end = np.array(blocks.end, np.int64)
    signature = np.array(blocks.signature, np.int64)
    inner_tags = np.array(blocks.inner_tags, np.int64)
    tokens = [words(text) for text in blocks.text]
    raw = counts(blocks.text, tokens)
    linked = np.minimum(np.array(blocks.linked, float), raw[:, 1])
    tag = np.array([_TAG_NUMBER.get(blocks.tag[e], 0) for e in blocks.element], float)
    phrases = [phrase_bits(t, w) for t, w in zip(blocks.text, tokens, strict=True)]
    heading = (tag >= 20) & (tag <= 25)
    link = (inner_tags & TAG_BITS["a"]) != 0
    columns = np.column_stack((raw, linked, np.ones(len(tokens)), heading, link))
    sums = np.zeros((len(tokens) + 1, columns.shape[1]))
    np.cumsum(columns, axis=0, out=sums[1:])
    change = np.concatenate(([True], signature[element][1:] != signature[element][:-1]))
    depth = np.zeros(len(blocks.parent))
    for i, above in enumerate(blocks.parent[1:], 1):
        depth[i] = depth[above] + 1
    return Tables(
        len(tokens),
        element,
        np.array(blocks.parent, np.int64),
        start,
        end,
        depth,
        np.array(blocks.path_names, np.int64),
        np.array(blocks.own_names, np.int64),
        np.array(blocks.path_tags, np.int64),
        np.array([TAG_BITS.get(name, 0) for name in blocks.tag], np.int64),
        signature,
        np.array(blocks.inner_names, np.int64),
        inner_tags,
        tokens,
        raw,
        linked,
        tag,
        np.array(phrases, np.int64),
        signature[element] * 4096 + (inner_tags & 4095),
        sums,
        sums[end] - sums[start],
        np.concatenate(([0], np.cumsum(change))),
    )


def bits(masks: Ints, width: int) -> Floats:
    """One column a bit."""
    raw = masks.astype("<u8").view(np.uint8).reshape(-1, 8)
    return np.unpackbits(raw, axis=1, bitorder="little")[:, :width].astype(np.float32)
