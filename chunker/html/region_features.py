"""Numbers about each text block of a page, for the classifier. Everything is numpy arithmetic
over the tables of `region_blocks`; a container's sums are differences of running sums.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from chunker.html.region_blocks import PATH_TAGS, TAG_BITS, Blocks
from chunker.html.region_names import GROUPS
from chunker.html.region_text import PHRASES, counts, phrase_bits, words

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]

#: Container sizes, in blocks, at which a block's surroundings are looked at.
SCALES = (2, 4, 8, 16, 40, 100)
#: Shares of the page's words at which the surroundings are looked at.
SHARES = (0.1, 0.3, 0.6, 0.9)
_LEVELS = 4
_CLIMB = 48
_TAGS = ["p", "li", "div", "span", "td", "th", "a", "dd", "dt", "button", "pre", "blockquote"]
_TAG_NUMBER = {tag: i + 1 for i, tag in enumerate(_TAGS)}
_TAG_NUMBER.update(h1=20, h2=21, h3=22, h4=23, h5=24, h6=25, figcaption=26, label=27, section=28)
_CONTAINER = str.split(
    "words blocks link sentence comma digit capital mean share heads depth first last alike "
    "shapes bold"
)
_CHAIN = ["apart", "words", "share", "before"]
_NEAR = ["words", "link", "sentence", "comma", "digit", "capital", "tag", "same"]


@dataclass(frozen=True, slots=True)
class Page:
    """What is known of the page as a whole: from its head and its address."""

    title: str = ""
    description: str = ""
    types: int = 0
    """Bit mask of schema.org and Open Graph types, see `region_page`."""
    address: int = 0
    """Bit mask of words in the URL's path, see `region_page`."""
    depth: int = 0
    """Number of the path's segments."""


@dataclass(frozen=True, slots=True)
class Features:
    """A row a block, a column a feature, and what the second pass needs of the page."""

    table: Floats
    words: Floats
    ancestors: Ints
    """Contexts of a block (columns of elements), inner to outer."""
    start: Ints
    end: Ints
    signature: Ints
    """Of the block's element and inline tags together."""


def names() -> list[str]:
    """Names of the table's columns."""
    contexts = (
        [f"up{i}" for i in range(_LEVELS)]
        + [f"size{n}" for n in SCALES]
        + [f"share{s}" for s in SHARES]
    )
    out = ["words", "link", "sentence", "comma", "digit", "capital", "length", "tag", "end"]
    out += ["position", "wordposition", "depth", "repeats", "repeatnumber", "alike", "alikelink"]
    out += ["alikewords", "title", "description", "question", "colon", "upper"]
    out += [f"{c}.{n}" for c in contexts for n in _CONTAINER]
    out += [f"path.{g}" for g in GROUPS] + [f"near.{g}" for g in GROUPS]
    out += [f"in.{t}" for t in PATH_TAGS] + [f"at.{t}" for t in PATH_TAGS]
    out += [f"says.{p}" for p in PHRASES] + [f"section.{p}" for p in PHRASES]
    out += ["section.distance", "section.level", "section.sibling", "h1.distance", "h1.count"]
    out += [f"h1.{n}" for n in _CHAIN] + [f"top.{n}" for n in _CHAIN] + ["top.share"]
    out += [f"{d:+d}.{n}" for d in (-3, -2, -1, 1, 2, 3) for n in _NEAR]
    out += [f"-1.says.{p}" for p in PHRASES] + [f"+1.says.{p}" for p in PHRASES]
    out += ["page.blocks", "page.words", "page.link", "page.sentence", "page.mean", "page.p"]
    out += ["page.pwords", "page.repeat", "page.forms", "page.articles", "page.main"]
    out += ["page.depth"]
    out += [f"page.type{i}" for i in range(20)] + [f"page.address{i}" for i in range(20)]
    out += [f"page.body.{g}" for g in GROUPS]
    return out


def _bits(masks: Ints, width: int) -> Floats:
    """One column a bit."""
    raw = masks.astype("<u8").view(np.uint8).reshape(-1, 8)
    return np.unpackbits(raw, axis=1, bitorder="little")[:, :width].astype(np.float32)


def _climb(element: Ints, parent: Ints, enough: npt.NDArray[np.bool_]) -> Ints:
    """For each block its innermost element that is enough, or the outermost reached."""
    at = element.copy()
    for _ in range(_CLIMB):
        short = ~enough[at] & (at > 0)
        if not short.any():
            break
        at[short] = parent[at[short]]
    return at


def _first_of(keys: Ints) -> tuple[Ints, Ints, Ints]:
    """Per row: number of the key, rows with that key, running number among them."""
    _, inverse, count = np.unique(keys, return_inverse=True, return_counts=True)
    order = np.argsort(inverse, kind="stable")
    starts = np.concatenate(([0], np.cumsum(count)[:-1]))
    running = np.empty(len(keys), np.int64)
    running[order] = np.arange(len(keys)) - np.repeat(starts, count)
    return inverse, count[inverse], running


def features(blocks: Blocks, page: Page) -> Features:
    """The feature table of a page with at least one block."""
    n = len(blocks.text)
    element = np.array(blocks.element, np.int64)
    parent = np.array(blocks.parent, np.int64)
    start = np.array(blocks.start, np.int64)
    end = np.array(blocks.end, np.int64)
    path_names = np.array(blocks.path_names, np.int64)
    own_names = np.array(blocks.own_names, np.int64)
    path_tags = np.array(blocks.path_tags, np.int64)
    own_tags = np.array([TAG_BITS.get(tag, 0) for tag in blocks.tag], np.int64)
    inner_names = np.array(blocks.inner_names, np.int64)
    inner_tags = np.array(blocks.inner_tags, np.int64)
    signature = np.array(blocks.signature, np.int64)

    tokens = [words(text) for text in blocks.text]
    raw = np.array([counts(t, len(w)) for t, w in zip(blocks.text, tokens, strict=True)], float)
    linked = np.minimum(np.array(blocks.linked, float), raw[:, 1])
    tag = np.array([_TAG_NUMBER.get(blocks.tag[e], 0) for e in blocks.element], float)
    heading = (tag >= 20) & (tag <= 25)
    phrases = np.array(
        [phrase_bits(t, w) for t, w in zip(blocks.text, tokens, strict=True)], np.int64
    )
    bold = ((inner_tags & TAG_BITS["a"]) != 0).astype(float)

    # running sums: words, chars, sentences, commas, digits, capitals, linked, one, heading, bold
    columns = np.column_stack((raw, linked, np.ones(n), heading, bold))
    sums = np.zeros((n + 1, columns.shape[1]))
    np.cumsum(columns, axis=0, out=sums[1:])
    of_element = sums[end] - sums[start]
    total = sums[-1]
    shape = np.concatenate(([True], signature[element][1:] != signature[element][:-1]))
    shapes = np.concatenate(([0], np.cumsum(shape)))
    depth = np.zeros(len(parent))
    for i, p in enumerate(blocks.parent[1:], 1):
        depth[i] = depth[p] + 1
    _, alike, _ = _first_of(signature)

    word, char, sentence, comma, digit, capital, link, count, heads, bolds = of_element.T
    some = np.maximum(count, 1)
    chars = np.maximum(char, 1)
    container = np.column_stack(
        (
            np.log1p(word),
            np.log1p(count),
            link / chars,
            sentence / np.maximum(word, 1),
            comma / np.maximum(word, 1),
            digit / chars,
            capital / chars,
            np.log1p(word / some),
            word / max(total[0], 1),
            heads / some,
            depth,
            start / n,
            end / n,
            np.log1p(alike),
            (shapes[end] - shapes[start]) / some,
            bolds / some,
        )
    ).astype(np.float32)

    levels = [element]
    for _ in range(_LEVELS - 1):
        levels.append(parent[levels[-1]])
    levels += [_climb(element, parent, count >= size) for size in SCALES]
    levels += [_climb(element, parent, word >= share * total[0]) for share in SHARES]
    ancestors = np.stack(levels, axis=1)

    own = np.column_stack(
        (
            np.log1p(raw[:, 0]),
            linked / np.maximum(raw[:, 1], 1),
            raw[:, 2] / np.maximum(raw[:, 0], 1),
            raw[:, 3] / np.maximum(raw[:, 0], 1),
            raw[:, 4] / np.maximum(raw[:, 1], 1),
            raw[:, 5] / np.maximum(raw[:, 1], 1),
            tag,
        )
    )
    keys: dict[str, int] = {}
    same_text = np.array([keys.setdefault(t.lower(), len(keys)) for t in blocks.text], np.int64)
    _, repeats, repeat_number = _first_of(same_text)
    look = signature[element] * 4096 + (inner_tags & 4095)
    look_number, look_count, _ = _first_of(look)
    look_words = np.bincount(look_number, raw[:, 0])[look_number] / look_count
    look_chars = np.bincount(look_number, raw[:, 1])[look_number]
    look_link = np.bincount(look_number, linked)[look_number] / np.maximum(look_chars, 1)
    title = set(words(page.title))
    description = set(words(page.description))
    ends = np.array([_END.get(text[-1], 0) for text in blocks.text])
    upper = np.array([text.isupper() for text in blocks.text], float)
    index = np.arange(n)
    alone = np.column_stack(
        (
            own[:, :6],
            np.log1p(raw[:, 1] / np.maximum(raw[:, 0], 1)),
            tag,
            ends,
            index / n,
            sums[:-1, 0] / max(total[0], 1),
            depth[element],
            np.log1p(repeats),
            repeat_number,
            np.log1p(look_count),
            look_link,
            np.log1p(look_words),
            [_overlap(w, title) for w in tokens],
            [_overlap(w, description) for w in tokens],
            ends == 3,
            ends == 2,
            upper,
        )
    )

    up1 = parent[element]
    up2 = parent[up1]
    near_names = own_names[element] | inner_names | own_names[up1] | own_names[up2]
    near_tags = own_tags[element] | inner_tags | own_tags[up1]

    last_heading = np.maximum.accumulate(np.where(heading, index, -1))
    has_heading = last_heading >= 0
    section = np.where(has_heading, phrases[last_heading], 0)
    h1 = np.flatnonzero(tag == 20)
    first_h1 = h1[0] if len(h1) else -1
    sections = np.column_stack(
        (
            np.where(has_heading, np.log1p(index - last_heading), -1),
            np.where(has_heading, tag[last_heading] - 19, 0),
            np.where(has_heading, start[up1] <= last_heading, 0),
            np.clip(index - first_h1, -200, 200) if len(h1) else np.full(n, -999),
            np.full(n, len(h1)),
        )
    )

    top = _most_prose(element, parent, tag, raw, link / chars)
    chains = [
        _chain(int(element[first_h1]) if len(h1) else 0, parent, start, end, word, index),
        _chain(top, parent, start, end, word, index),
        np.full((n, 1), word[top] / max(total[0], 1)),
    ]

    neighbours = []
    for shift in (-3, -2, -1, 1, 2, 3):
        other = index + shift
        inside = (other >= 0) & (other < n)
        other = np.clip(other, 0, n - 1)
        near = np.column_stack((own[other], look[other] == look))
        near[~inside] = -1
        neighbours.append(near)
    before = np.where(index > 0, phrases[index - 1], 0)
    after = np.where(index < n - 1, phrases[np.minimum(index + 1, n - 1)], 0)

    paragraph = tag == 1
    whole = [
        np.log1p(n),
        np.log1p(total[0]),
        total[6] / max(total[1], 1),
        total[2] / max(total[0], 1),
        np.log1p(total[0] / n),
        paragraph.mean(),
        raw[paragraph, 0].sum() / max(total[0], 1),
        look_count.max() / n,
        blocks.tag.count("form"),
        blocks.tag.count("article"),
        blocks.tag.count("main"),
        page.depth,
    ]
    page_bits = _bits(np.array([page.types, page.address], np.int64), 20).ravel()
    table = np.concatenate(
        (
            alone,
            container[ancestors].reshape(n, -1),
            _bits(path_names[element] | inner_names, len(GROUPS)),
            _bits(near_names, len(GROUPS)),
            _bits(path_tags[element] | inner_tags, len(PATH_TAGS)),
            _bits(near_tags, len(PATH_TAGS)),
            _bits(phrases, len(PHRASES)),
            _bits(section, len(PHRASES)),
            sections,
            *chains,
            *neighbours,
            _bits(before, len(PHRASES)),
            _bits(after, len(PHRASES)),
            np.broadcast_to(np.array(whole), (n, len(whole))),
            np.broadcast_to(page_bits, (n, len(page_bits))),
            np.broadcast_to(
                _bits(np.array([blocks.body_names], np.int64), len(GROUPS)), (n, len(GROUPS))
            ),
        ),
        axis=1,
        dtype=np.float32,
    )
    return Features(table, raw[:, 0].astype(np.float32), ancestors, start, end, look_number)


_END = {".": 1, ":": 2, "?": 3, "!": 4, ",": 5, "…": 6, "»": 7, ">": 7, "→": 7}


def _overlap(tokens: list[str], known: set[str]) -> float:
    """Share of the words that are in a set."""
    if not tokens or not known:
        return 0.0
    return sum(map(known.__contains__, tokens)) / len(tokens)


def _most_prose(
    element: Ints,
    parent: Ints,
    tag: npt.NDArray[Any],
    raw: npt.NDArray[Any],
    linked: npt.NDArray[Any],
) -> int:
    """The element whose near blocks hold most prose (the idea of Arc90's Readability)."""
    score = np.where(raw[:, 0] >= 8, 1 + raw[:, 3] + np.minimum(raw[:, 0] / 25, 4), 0)
    score = score * (1 - linked[element])
    total = np.zeros(len(parent))
    loose = (tag == 0) | (tag == 3)
    above = np.where(loose, element, parent[element])
    np.add.at(total, above, score)
    np.add.at(total, parent[above], score / 2)
    return int(np.argmax(total * (1 - linked)))


def _chain(
    inner: int, parent: Ints, start: Ints, end: Ints, word: npt.NDArray[Any], index: Ints
) -> npt.NDArray[Any]:
    """How far each block is from an element: steps up until both are in one container, and
    the size of that container."""
    chain = [inner]
    while chain[-1] and len(chain) < _CLIMB:
        chain.append(int(parent[chain[-1]]))
    chain.append(0)
    at = np.array(chain)
    inside = (start[at][:, None] <= index) & (index < end[at][:, None])
    apart = np.argmax(inside, axis=0)
    common = word[at[apart]]
    return np.column_stack(
        (apart, np.log1p(common), common / max(word[0], 1), index < start[inner])
    )
