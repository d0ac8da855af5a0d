"""Whether a text holds a fact: the words of both, weighted by how rare they are in the source.

A rule, not a model: the same answer every time, and the same for every method. `docs/evaluation.md`
says how it compares with the labels that the paper's language model gave.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

#: Share of a fact's weight that a text must hold to cover it.
COVERED = 0.45

_LINK = re.compile(r"(!?\[[^\]]*\])\([^()\s]*(?:\([^()]*\)[^()\s]*)*(?:\s+\"[^\"]*\")?\)")
_AUTOLINK = re.compile(r"<(?:https?://|mailto:)[^>\s]*>", re.IGNORECASE)
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_GROUPED = re.compile(r"(?<=\d),(?=\d)")
_CJK = r"\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af"
_WORD = re.compile(rf"[{_CJK}]+|[^\W_{_CJK}]+")
_IDEOGRAPH = re.compile(rf"[{_CJK}]")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}#{1,6}(\s|$)")
_BLANK_LINE = re.compile(r"\n\s*\n")

#: English words that say nothing about a fact. Few on purpose: rarity does the weighting.
STOP_WORDS = frozenset(
    re.findall(r"\w+", "a an and are as at be by for from in is it of on or that the this to with")
)


def words(text: str) -> list[str]:
    """The words of a text that count as evidence, in order, repeated as they are.

    Lower case, without Markdown marks and link targets, stop words removed, plurals cut:
    `1,500 [Seats](x.html)` gives `1500 seat`. Text without spaces between words (Chinese,
    Japanese) gives its pairs of characters.
    """
    plain = _TAG.sub(" ", _AUTOLINK.sub(" ", _LINK.sub(r"\1", text)))
    plain = _GROUPED.sub("", plain).lower()
    found: list[str] = []
    for run in _WORD.findall(plain):
        if _IDEOGRAPH.match(run) and len(run) > 1:
            found.extend(run[at : at + 2] for at in range(len(run) - 1))
        elif run not in STOP_WORDS:
            found.append(_singular(run))
    return found


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 3:
        return word[:-3] + "y"
    if word.endswith("s") and len(word) > 3 and not word.endswith("ss"):
        return word[:-1]
    return word


def paragraphs(markdown: str) -> list[str]:
    """The blocks of a Markdown text that blank lines part."""
    return [block for block in _BLANK_LINE.split(markdown) if block.strip()]


def without_headings(markdown: str) -> str:
    """A Markdown text without its heading lines (`# ...` outside of code fences)."""
    kept: list[str] = []
    fence = ""
    for line in markdown.splitlines():
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        if fence or not _HEADING.match(line):
            kept.append(line)
    return "\n".join(kept)


@dataclass(frozen=True, slots=True)
class Judge:
    """Decides coverage for one source."""

    idf: Mapping[str, float]
    """Weight of every word of the source. A word that the source does not have has none: no text
    could hold it, however good."""

    def weights(self, fact: str) -> dict[str, float]:
        """Each different word of a fact with its share of the fact's weight; they add up to 1."""
        weight = {word: self.idf.get(word, 0.0) for word in words(fact)}
        total = sum(weight.values())
        return {word: value / total for word, value in weight.items()} if total else {}

    def covers(self, text: str, fact: str) -> bool:
        """Whether `text` holds enough of `fact`'s words."""
        return enough(self.weights(fact), set(words(text)))

    def matrix(self, facts: Sequence[str], texts: Sequence[Iterable[str]]) -> NDArray[np.bool_]:
        """Which texts, given by their words, cover which facts: shape (facts, texts)."""
        shares = [self.weights(fact) for fact in facts]
        column = {word: i for i, word in enumerate(sorted({w for s in shares for w in s}))}
        weight = np.zeros((len(facts), len(column)))
        for row, share in enumerate(shares):
            for word, value in share.items():
                weight[row, column[word]] = value
        covers = np.zeros((len(facts), len(texts)), dtype=bool)
        for start in range(0, len(texts), _AT_ONCE):
            some = texts[start : start + _AT_ONCE]
            held = np.zeros((len(column), len(some)))
            for at, text in enumerate(some):
                held[[column[word] for word in text if word in column], at] = 1.0
            covers[:, start : start + _AT_ONCE] = weight @ held >= COVERED - _ROUNDING
        return covers


#: Texts that are compared in one product: bounds its memory on a large index.
_AT_ONCE = 1024
#: Sums of the same shares in another order may differ in the last bits.
_ROUNDING = 1e-9


def enough(shares: Mapping[str, float], held: Set[str]) -> bool:
    """Whether the words held are enough of a fact's weight (`Judge.weights`) to cover it."""
    return sum(share for word, share in shares.items() if word in held) >= COVERED - _ROUNDING


def make_judge(documents: Iterable[str]) -> Judge:
    """A judge for the source whose documents, as Markdown, are given.

    A word's weight is ln(1 + N / (1 + df)) over the source's N paragraphs, `df` of which hold it.
    """
    blocks = [set(words(block)) for markdown in documents for block in paragraphs(markdown)]
    seen = Counter(word for block in blocks for word in block)
    total = len(blocks)
    return Judge({word: math.log1p(total / (1 + n)) for word, n in seen.items()})
