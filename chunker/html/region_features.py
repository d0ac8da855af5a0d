"""Numbers about each text block of a page, for the classifier. Everything is numpy arithmetic
over the tables of `region_blocks`; a container's sums are differences of running sums.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chunker.html.region_blocks import PATH_TAGS, Blocks
from chunker.html.region_containers import Ints, chain, climb, first_of, most_prose
from chunker.html.region_names import GROUPS
from chunker.html.region_tables import Floats, Tables, Values, bits, tables_of
from chunker.html.region_text import PHRASES, words

#: Container sizes, in blocks, at which a block's surroundings are looked at.
SCALES = (2, 4, 8, 16, 40, 100)
#: Shares of the page's words at which the surroundings are looked at.
SHARES = (0.1, 0.3, 0.6, 0.9)
_LEVELS = 4
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


def features(blocks: Blocks, page: Page) -> Features:
    """The feature table of a page with at least one block."""
    t = tables_of(blocks)
    ancestors = _contexts(t)
    own = _own(t)
    look_number, look_count, _ = first_of(t.look)
    up1 = t.parent[t.element]
    up2 = t.parent[up1]
    near_names = t.own_names[t.element] | t.inner_names | t.own_names[up1] | t.own_names[up2]
    near_tags = t.own_tags[t.element] | t.inner_tags | t.own_tags[up1]
    index = np.arange(t.blocks)
    before = np.where(index > 0, t.phrases[index - 1], 0)
    after = np.where(index < t.blocks - 1, t.phrases[np.minimum(index + 1, t.blocks - 1)], 0)
    section, sections = _sections(t)
    parts: tuple[Values, ...] = (
        own[:, :6],
        _alone(t, blocks, page),
        _look(t, look_number, look_count),
        _head(t, blocks, page),
        _containers(t)[ancestors].reshape(t.blocks, -1),
        bits(t.path_names[t.element] | t.inner_names, len(GROUPS)),
        bits(near_names, len(GROUPS)),
        bits(t.path_tags[t.element] | t.inner_tags, len(PATH_TAGS)),
        bits(near_tags, len(PATH_TAGS)),
        bits(t.phrases, len(PHRASES)),
        bits(section, len(PHRASES)),
        sections,
        _chains(t),
        *_neighbours(t, own),
        bits(before, len(PHRASES)),
        bits(after, len(PHRASES)),
        _whole(t, blocks, page, look_count),
    )
    # column by column in memory: what reads it (trees, sums) goes down the columns
    table = np.empty((t.blocks, sum(part.shape[1] for part in parts)), np.float32, order="F")
    np.concatenate(parts, axis=1, out=table, casting="unsafe")
    return Features(table, t.raw[:, 0].astype(np.float32), ancestors, t.start, t.end, look_number)


def _containers(t: Tables) -> Floats:
    """A row an element: what is in it, see `_CONTAINER`."""
    word, char, sentence, comma, digit, capital, link, count, heads, links = t.of_element.T
    some = np.maximum(count, 1)
    chars = np.maximum(char, 1)
    some_words = np.maximum(word, 1)
    _, alike, _ = first_of(t.signature)
    return np.column_stack(
        (
            np.log1p(word),
            np.log1p(count),
            link / chars,
            sentence / some_words,
            comma / some_words,
            digit / chars,
            capital / chars,
            np.log1p(word / some),
            word / max(t.total[0], 1),
            heads / some,
            t.depth,
            t.start / t.blocks,
            t.end / t.blocks,
            np.log1p(alike),
            (t.shapes[t.end] - t.shapes[t.start]) / some,
            links / some,
        )
    ).astype(np.float32)


def _contexts(t: Tables) -> Ints:
    """Elements around each block: the nearest, then those of the sizes and shares."""
    levels = [t.element]
    for _ in range(_LEVELS - 1):
        levels.append(t.parent[levels[-1]])
    enough = [t.of_element[:, 7] >= size for size in SCALES]
    enough += [t.of_element[:, 0] >= share * t.total[0] for share in SHARES]
    return np.column_stack((*levels, climb(t.element, t.parent, np.array(enough)).T))


def _own(t: Tables) -> Values:
    """Counts of each block's text, relative to its length, and its tag."""
    number = np.maximum(t.raw[:, 0], 1)
    length = np.maximum(t.raw[:, 1], 1)
    return np.column_stack(
        (
            np.log1p(t.raw[:, 0]),
            t.linked / length,
            t.raw[:, 2] / number,
            t.raw[:, 3] / number,
            t.raw[:, 4] / length,
            t.raw[:, 5] / length,
            t.tag,
        )
    )


def _alone(t: Tables, blocks: Blocks, page: Page) -> Values:
    """Where a block stands, and whether its text stands on the page again."""
    keys: dict[str, int] = {}
    same = np.array([keys.setdefault(text.lower(), len(keys)) for text in blocks.text], np.int64)
    _, repeats, repeat_number = first_of(same)
    return np.column_stack(
        (
            np.log1p(t.raw[:, 1] / np.maximum(t.raw[:, 0], 1)),
            t.tag,
            [_END.get(text[-1], 0) for text in blocks.text],
            np.arange(t.blocks) / t.blocks,
            t.sums[:-1, 0] / max(t.total[0], 1),
            t.depth[t.element],
            np.log1p(repeats),
            repeat_number,
        )
    )


def _look(t: Tables, number: Ints, count: Ints) -> Values:
    """The blocks that look alike (same path, same inline tags): how many, and what they hold."""
    mean = np.bincount(number, t.raw[:, 0])[number] / count
    chars = np.bincount(number, t.raw[:, 1])[number]
    link = np.bincount(number, t.linked)[number] / np.maximum(chars, 1)
    return np.column_stack((np.log1p(count), link, np.log1p(mean)))


def _head(t: Tables, blocks: Blocks, page: Page) -> Values:
    """What a block shares with the page's title and description, and how its text is written."""
    title = set(words(page.title))
    description = set(words(page.description))
    return np.column_stack(
        (
            [_overlap(tokens, title) for tokens in t.tokens],
            [_overlap(tokens, description) for tokens in t.tokens],
            [text[-1] == "?" for text in blocks.text],
            [text[-1] == ":" for text in blocks.text],
            [text.isupper() for text in blocks.text],
        )
    )


def _sections(t: Tables) -> tuple[Ints, Values]:
    """Phrases of the heading that each block stands under, and how far that and the `h1` are."""
    index = np.arange(t.blocks)
    heading = (t.tag >= 20) & (t.tag <= 25)
    last = np.maximum.accumulate(np.where(heading, index, -1))
    under = last >= 0
    h1 = np.flatnonzero(t.tag == 20)
    columns = np.column_stack(
        (
            np.where(under, np.log1p(index - last), -1),
            np.where(under, t.tag[last] - 19, 0),
            np.where(under, t.start[t.parent[t.element]] <= last, 0),
            np.clip(index - h1[0], -200, 200) if len(h1) else np.full(t.blocks, -999),
            np.full(t.blocks, len(h1)),
        )
    )
    return np.where(under, t.phrases[last], 0), columns


def _chains(t: Tables) -> Values:
    """How far each block is from the first `h1` and from the element with most prose."""
    word, link = t.of_element[:, 0], t.of_element[:, 6] / np.maximum(t.of_element[:, 1], 1)
    h1 = np.flatnonzero(t.tag == 20)
    title = int(t.element[h1[0]]) if len(h1) else 0
    top = most_prose(t.element, t.parent, t.tag, t.raw, link)
    index = np.arange(t.blocks)
    return np.column_stack(
        (
            chain(title, t.parent, t.start, t.end, word, index),
            chain(top, t.parent, t.start, t.end, word, index),
            np.full(t.blocks, word[top] / max(t.total[0], 1)),
        )
    )


def _neighbours(t: Tables, own: Values) -> list[Values]:
    """The counts of the blocks before and after, and whether they look the same."""
    index = np.arange(t.blocks)
    out = []
    for shift in (-3, -2, -1, 1, 2, 3):
        other = index + shift
        inside = (other >= 0) & (other < t.blocks)
        other = np.clip(other, 0, t.blocks - 1)
        near = np.column_stack((own[other], t.look[other] == t.look))
        near[~inside] = -1
        out.append(near)
    return out


def _whole(t: Tables, blocks: Blocks, page: Page, look_count: Ints) -> Values:
    """What is the same for all blocks of the page."""
    paragraph = t.tag == 1
    row = [
        np.log1p(t.blocks),
        np.log1p(t.total[0]),
        t.total[6] / max(t.total[1], 1),
        t.total[2] / max(t.total[0], 1),
        np.log1p(t.total[0] / t.blocks),
        paragraph.mean(),
        t.raw[paragraph, 0].sum() / max(t.total[0], 1),
        look_count.max() / t.blocks,
        blocks.tag.count("form"),
        blocks.tag.count("article"),
        blocks.tag.count("main"),
        page.depth,
        *bits(np.array([page.types, page.address], np.int64), 20).ravel(),
        *bits(np.array([blocks.body_names], np.int64), len(GROUPS)).ravel(),
    ]
    return np.broadcast_to(np.array(row), (t.blocks, len(row)))


_END = {".": 1, ":": 2, "?": 3, "!": 4, ",": 5, "…": 6, "»": 7, ">": 7, "→": 7}


def _overlap(tokens: list[str], known: set[str]) -> float:
    """Share of the words that are in a set."""
    if known.isdisjoint(tokens):
        return 0.0
    return sum(map(known.__contains__, tokens)) / len(tokens)
