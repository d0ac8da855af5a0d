"""The content region of an HTML page: which nodes are the page's own, and which are around it.

Rules first (what no reader sees is out), then a classifier over the text blocks
(`region_scores`), then what the site's profile says of blocks that stand on many of its pages.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from selectolax.lexbor import LexborHTMLParser

from chunker.html.region_blocks import HEADINGS, TAG_BITS, Blocks, blocks_of
from chunker.html.region_features import features
from chunker.html.region_names import BITS, bits_of
from chunker.html.region_page import page_of
from chunker.html.region_scores import most_expected, once, scores
from chunker.html.region_tables import Floats
from chunker.profile import fingerprint, template_runs

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Region:
    """What of a page's tree is content. Everything under `<body>` that is not dropped is."""

    dropped: Mapping[int, str] = field(default_factory=dict)
    """`mem_id` of an element *or a text node* to a short reason (`hidden`, `navigation`,
    `cookie`, `login`, `share`, `footer`, `boilerplate`, `template`); the whole subtree goes."""
    confidence: float = 0.0
    """Expected word F1 of the choice, 0 to 1, as the classifier sees it."""
    blocks: tuple[str, ...] = ()
    """Fingerprints of the page's text blocks, in order: what a site's profile is folded from."""


#: A hidden element that holds more than this share of the page's words waits for a script to
#: show it (a page that fades in, a React page that streams its parts), or is what a page that is
#: built by scripts says without them (`noscript`).
_WAITING = 0.4
#: Characters from which on a `noscript` says more than that scripts are needed.
_TELLING = 300
#: `<div hidden id="S:3">`: how React's server rendering sends a part before its place is known.
_STREAMED = re.compile(r"S:[0-9a-f]+$")
#: Reasons by word group of the path and by tag, the first that fits.
_NAMED = (
    ("cookie", BITS["cookie"]),
    ("login", BITS["login"]),
    ("share", BITS["social"]),
)
_TAGGED = (
    ("navigation", TAG_BITS["nav"] | TAG_BITS["header"]),
    ("footer", TAG_BITS["footer"]),
)
_FRAME_NAMES = bits_of(
    "nav menu header footer sidebar breadcrumb paging related popular promo newsletter social "
    "cookie login modal cart filter search form comment review legal hiddenname widget "
    "button card grid slider"
)
#: Blocks up to which a page is judged block by block; real pages have some hundreds.
_MANY = 8000
#: Markup is not believed where it would leave less than this share of the likely content.
_LYING = 0.3
#: What nothing speaks against is kept where its score is over this.
_DOUBT = 0.43
_CONTENT = TAG_BITS["main"] | TAG_BITS["article"]
_NEVER = TAG_BITS["footer"] | TAG_BITS["dialog"]
_AROUND = TAG_BITS["nav"] | TAG_BITS["aside"] | TAG_BITS["header"]
_AROUND_NAMES = bits_of("nav menu footer sidebar breadcrumb newsletter social cookie login modal")
_FRAME_TAGS = sum(TAG_BITS[tag] for tag in str.split("nav header footer aside form dialog button"))
_FRAME = TAG_BITS["nav"] | TAG_BITS["footer"] | TAG_BITS["aside"] | TAG_BITS["dialog"]
_NAVIGATION = BITS["nav"] | BITS["menu"] | BITS["breadcrumb"] | BITS["paging"] | BITS["header"]


def choose(tree: LexborHTMLParser, url: str, verdicts: Mapping[str, bool] | None = None) -> Region:
    """The region of a parsed page.

    `url` is the page's own address: words of its path are a hint of the kind of page, its host
    is not looked at. `verdicts` says for fingerprints of blocks whether the site's profile takes
    them for its template; those of other pages' blocks do no harm. The tree is not changed.
    """
    blocks = blocks_of(tree)
    if not blocks.text:
        return Region(dict(blocks.unseen), 0.0)
    marks = tuple(map(fingerprint, blocks.text))
    hidden = hidden_blocks(blocks)
    words, score = _judged(blocks, tree, url, hidden)
    template = np.zeros(len(hidden), bool)
    if verdicts:
        known = [verdicts.get(mark, False) for mark in marks]
        template = template_runs(np.array(known, bool), words)
    free = ~(hidden | template)
    keep, confidence = kept(blocks, words, score, free)
    dropped = dict(blocks.unseen)
    _drop(blocks, keep, hidden, template, dropped)
    return Region(dropped, confidence, marks)


def _judged(
    blocks: Blocks, tree: LexborHTMLParser, url: str, hidden: Flags
) -> tuple[Floats, Floats]:
    """Words of each block and the share of them that is expected to be content. The tables of a
    page with very many blocks would not fit: its tags and names alone decide."""
    if len(blocks.text) > _MANY:
        number = np.array([len(text.split()) for text in blocks.text], np.float32)
        around = [bool(blocks.path_names[element] & _AROUND_NAMES) for element in blocks.element]
        return number, np.where(around, np.float32(0), np.float32(1))
    found = features(blocks, page_of(tree, url))
    return found.words, scores(found, hidden)


def kept(blocks: Blocks, words: Floats, score: Floats, free: Flags) -> tuple[Flags, float]:
    """The blocks to keep, and the word F1 that is expected of the classifier's part of it.

    `free` are the blocks that may be kept; `score` the share of each block's words that is
    expected to be content.
    """
    score = np.where(free, score, np.float32(0))
    inside = np.where(_framed(blocks), np.float32(0), score)
    if (inside * words).sum() > _LYING * (score * words).sum():
        score = inside
    seen = once(score, words, blocks.text)
    keep, confidence = most_expected(seen, words)
    return _with_headings(blocks, keep | _plain(blocks, free, score), free), confidence


def _framed(blocks: Blocks) -> Flags:
    """Blocks that the page's own markup puts outside its content: footers and dialogs, and
    `nav`, `aside` and `header` outside of `main` and `article` where the page has these."""
    tags = np.array(
        [blocks.path_tags[e] | t for e, t in zip(blocks.element, blocks.inner_tags, strict=True)]
    )
    inside = (tags & _CONTENT) != 0
    result: Flags = (tags & _NEVER) != 0
    if inside.any():
        result |= ~inside & ((tags & _AROUND) != 0)
    return result


def _plain(blocks: Blocks, free: Flags, score: Floats) -> Flags:
    """Blocks that nothing speaks against: no word or tag of their path is one that frames are
    made of, they are not mostly links, and their score is no low one. They are kept whatever
    their neighbours are, so that an edit elsewhere takes nothing out; on a page that has no frame
    at all, so is everything."""
    suspect = np.array([_is_suspect(blocks, block) for block in range(len(free))])
    if not (suspect & free).any():
        return free
    linked = np.array(blocks.linked) * 2 > np.array([len(text) for text in blocks.text])
    result: Flags = free & ~suspect & ~linked & (score > _DOUBT)
    return result


def _is_suspect(blocks: Blocks, block: int) -> bool:
    """Whether a name or a tag of the block's path is one that frames are made of. The id of a
    heading spells its text, and the header in a table is the table's own."""
    element = blocks.element[block]
    tags = blocks.path_tags[element] | blocks.inner_tags[block]
    named = blocks.parent[element] if blocks.tag[element] in HEADINGS else element
    names = blocks.path_names[named] | blocks.inner_names[block]
    if tags & TAG_BITS["td"]:
        names &= ~BITS["header"]
    return bool(names & _FRAME_NAMES or tags & _FRAME_TAGS)


def _with_headings(blocks: Blocks, keep: Flags, free: Flags) -> Flags:
    """What is kept with the headings that it stands under: the page's first `h1` outside its
    frame, and each heading right before a kept block. The benchmark's content has no titles; a
    document needs them."""
    out = keep.copy()
    tags = [blocks.tag[element] for element in blocks.element]
    titles = [block for block in np.flatnonzero(free).tolist() if tags[block] == "h1"]
    for frame in (_FRAME | TAG_BITS["header"], _FRAME):
        outside = [b for b in titles if not blocks.path_tags[blocks.element[b]] & frame]
        if outside:
            out[outside[0]] = True
            break
    for block in range(len(tags) - 2, -1, -1):
        if out[block + 1] and free[block] and tags[block] in HEADINGS:
            out[block] = True
    return out


def hidden_blocks(blocks: Blocks) -> Flags:
    """Blocks that no reader gets to see.

    What is hidden until a click shows it (a tab, an accordion's panel, the target of
    `aria-controls`) or until a script has run is not hidden in this sense.
    """
    out = np.zeros(len(blocks.text), bool)
    if not blocks.hidden:
        return out
    sums = np.concatenate(([0], np.cumsum([len(text) for text in blocks.text])))
    for element, name, panel in blocks.hidden:
        start, end = blocks.start[element], blocks.end[element]
        size = sums[end] - sums[start]
        waiting = size > _WAITING * sums[-1]
        if blocks.tag[element] == "noscript":
            waiting = waiting and size >= _TELLING
        if not (panel or waiting or name in blocks.controlled or _STREAMED.match(name)):
            out[start:end] = True
    return out


def _drop(
    blocks: Blocks, keep: Flags, hidden: Flags, template: Flags, dropped: dict[int, str]
) -> None:
    """Name the outermost elements without a kept block, and single text nodes elsewhere."""
    kept = np.concatenate(([0], np.cumsum(keep)))
    start = np.array(blocks.start)
    end = np.array(blocks.end)
    bare = _bare(blocks, keep)
    empty = kept[end] == kept[start]
    empty[0] = False
    parent = np.array(blocks.parent)
    for element in (np.flatnonzero(empty[1:] & ~empty[parent][1:]) + 1).tolist():
        low, high = blocks.start[element], blocks.end[element]
        if low < high:
            dropped[blocks.node[element]] = _reason(blocks, low, hidden, template)
        elif blocks.tag[element] == "noscript":  # the copy of an image that a script loads
            dropped[blocks.node[element]] = "hidden"
        elif not bare[low]:
            dropped[blocks.node[element]] = "boilerplate"
    for block in np.flatnonzero(~keep).tolist():
        if not empty[blocks.element[block]]:
            reason = _reason(blocks, block, hidden, template)
            for leaf in blocks.leaves[block]:
                dropped[leaf] = reason
    for node, element, place in blocks.images:
        if not empty[element] and not bare[place]:
            dropped[node] = "boilerplate"


def _bare(blocks: Blocks, keep: Flags) -> Flags:
    """For each place between blocks whether what has no text there (an image) is kept: where
    the block before or the block after is, and none of the two stands against it."""
    before = np.concatenate(([True], keep))
    after = np.concatenate((keep, [True]))
    both: Flags = before & after
    return both


def _reason(blocks: Blocks, block: int, hidden: Flags, template: Flags) -> str:
    """A short fixed word for why a block is out."""
    if hidden[block]:
        return "hidden"
    if template[block]:
        return "template"
    names = blocks.path_names[blocks.element[block]] | blocks.inner_names[block]
    tags = blocks.path_tags[blocks.element[block]] | blocks.inner_tags[block]
    for reason, bits in _NAMED:
        if names & bits:
            return reason
    for reason, bits in _TAGGED:
        if tags & bits:
            return reason
    if names & _NAVIGATION:
        return "navigation"
    return "footer" if names & BITS["footer"] else "boilerplate"
