"""Pages as the training of the region's classifier sees them: features, and labels by alignment."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

import numpy as np
from cydifflib import SequenceMatcher
from selectolax.lexbor import LexborHTMLParser

from chunker.html.decode import decode
from chunker.html.region import hidden_blocks
from chunker.html.region_blocks import Blocks, blocks_of
from chunker.html.region_features import Features, features
from chunker.html.region_page import page_of
from chunker.html.region_scores import COPIES
from chunker.html.region_text import words
from pipeline.evaluation.extraction import Page

#: Weight of the pages without a frame that are made from the kinds that small sites have.
BARE = {"article": 0.3, "documentation": 0.3, "service": 0.3}
#: How much a page of a kind counts: what crawled pages are, more than what the sample has.
KINDS = {"article": 2.5, "service": 1.3}
#: Two-part public suffixes' second part, for registered domains.
SECOND_LEVEL = frozenset(["ac", "asn", "co", "com", "edu", "gov", "net", "or", "org"])


@dataclass(frozen=True, slots=True)
class Sample:
    """A page as the training sees it."""

    page: Page
    blocks: Blocks
    found: Features
    hidden: np.ndarray
    label: np.ndarray
    number: np.ndarray
    """Word number of each word of the blocks; -1 where the content does not have it."""
    block: np.ndarray
    """Block of each word."""
    wanted: np.ndarray
    """How often the content has each numbered word."""
    total: int
    weight: float


def domain(url: str) -> str:
    """The registered domain of a URL, near enough to keep a site's pages together."""
    parts = (urlsplit(url).hostname or "").split(".")
    long = len(parts) > 2 and len(parts[-1]) == 2 and parts[-2] in SECOND_LEVEL
    return ".".join(parts[-3 if long else -2 :])


def aligned(page: list[str], content: list[str]) -> np.ndarray:
    """For each word of the page whether it is a word of the content: longest common runs in
    order, then left-over runs of four words and more wherever they are."""
    out = np.zeros(len(page), bool)
    if not page or not content:
        return out
    numbers: dict[str, int] = {}
    a = [numbers.setdefault(word, len(numbers)) for word in page]
    b = [numbers.setdefault(word, len(numbers)) for word in content]
    used = np.zeros(len(b), bool)
    for match in SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks():
        out[match.a : match.a + match.size] = True
        used[match.b : match.b + match.size] = True
    grams: dict[tuple[int, ...], list[int]] = {}
    for i in range(len(a) - 3):
        if not out[i : i + 4].any():
            grams.setdefault(tuple(a[i : i + 4]), []).append(i)
    for j in range(len(b) - 3):
        if used[j : j + 4].any():
            continue
        for i in grams.get(tuple(b[j : j + 4]), ())[:50]:
            size = 0
            while (
                max(i + size + 1 - len(a), j + size + 1 - len(b)) <= 0
                and a[i + size] == b[j + size]
                and not (out[i + size] or used[j + size])
            ):
                size += 1
            if size >= 4:
                out[i : i + size] = True
                used[j : j + size] = True
                break
    return out


def sample(page: Page) -> Sample | None:
    """Features and labels of a page; None where it has no text at all."""
    tree = LexborHTMLParser(decode(page.body, None).text)
    blocks = blocks_of(tree)
    if not blocks.text:
        return None
    found = features(blocks, page_of(tree, page.url))
    tokens = [words(text) for text in blocks.text]
    flat = [word for block in tokens for word in block]
    block = np.repeat(np.arange(len(tokens)), [len(block) for block in tokens])
    content = words(page.content)
    hit = np.bincount(block, aligned(flat, content), len(tokens))
    label = hit / np.maximum(found.words, 1)
    best: dict[str, float] = {}  # copies of a text share the label of the one that was aligned
    for text, own in zip(blocks.text, label, strict=True):
        best[text.casefold()] = max(own, best.get(text.casefold(), 0.0))
    copies = np.array([best[text.casefold()] for text in blocks.text])
    count = Counter(content)
    numbers = {word: i for i, word in enumerate(count)}
    share = found.words / (len(content) + 50.0)
    weight = KINDS.get(page.kind, 1.0) * min(1.0, 4 / max(share.sum(), 1e-9)) / (len(content) + 50)
    return Sample(
        page,
        blocks,
        found,
        hidden_blocks(blocks),
        np.where(found.words >= COPIES, copies, label),
        np.array([numbers.get(word, -1) for word in flat], int),
        block,
        np.array(list(count.values()), int),
        len(content),
        weight,
    )


def bare(one: Sample) -> Sample | None:
    """The page without what is not its content: as plain as a page of a small site can be."""
    tree = LexborHTMLParser(decode(one.page.body, None).text)
    leaves = blocks_of(tree).leaves
    out = {leaf for i in np.flatnonzero(one.label < 0.3) for leaf in leaves[i]}
    for node in [n for n in tree.root.traverse(include_text=True) if n.mem_id in out]:
        node.decompose()
    plain = sample(replace(one.page, body=tree.html.encode()))
    return plain and replace(plain, weight=plain.weight * BARE[one.page.kind])
