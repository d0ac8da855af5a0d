"""Document to outline: what a planner may see of a page. Ids and sizes, no body text."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from chunker.model import Document, Outline, OutlineRow, Unit
from chunker.plain import plain
from chunker.policy import Policy
from chunker.tokens import count

#: Longest heading text that is shown, in characters.
HEADING_CHARS = 160
#: Longest paragraph that may be a heading, in characters and in words.
CANDIDATE_CHARS = 100
CANDIDATE_WORDS = 16

#: Share of headings that skip a level from which on a page's levels are not believed.
JUMPS_UNCLEAR = 0.1

_STEP_HEADING = re.compile(r"^(?:step\s+)?\d{1,2}(?:[.):]|\s+-)\s", re.IGNORECASE)
_ORDERED_ITEM = re.compile(r"^\s{0,3}\d{1,9}[.)]\s")
_ITEM = re.compile(r"^\s{0,3}(?:[-*+]|\d{1,9}[.)])\s")
_SENTENCE_END = re.compile("[.;,!\u2026\u3002\uff01\uff1b\uff0c\u3001]$")
_SENTENCES = re.compile(r"\w{3,}[.!?]\s+\S|[\u3002\uff01\uff1f].")
_MARKS = re.compile(r"^[ \t]*#{1,6}(?:[ \t]+|$)")
_NUMBER = re.compile(r"^\s*\d{1,9}[.)]\s+")
_LEADS = (":", "\uff1a", "?", "\uff1f")


def outline(document: Document, policy: Policy) -> Outline:
    """The ID-only view of `document`.

    Headings carry their text, and so do one-line paragraphs that may be headings; any other
    unit carries nothing, or its first `policy.cue_words` words.
    """
    levels = [unit.level for unit in document.units if unit.level is not None]
    rows = tuple(_rows(document, policy))
    return Outline(document.title, document.lang, rows, levels_clear(levels))


def levels_clear(levels: Sequence[int]) -> bool:
    """False where heading levels jump downwards so often that they cannot be meant.

    Levels that the page does not use are closed up first: h2 with h4 below it, all through, is
    clear.
    """
    ranks = {level: rank for rank, level in enumerate(sorted(set(levels)))}
    jumps = sum(ranks[after] - ranks[before] > 1 for before, after in pairwise(levels))
    return jumps < 2 or jumps < JUMPS_UNCLEAR * len(levels)


def size_bucket(tokens: int) -> int:
    """`tokens` rounded to a power of 1.5: a changed word seldom changes the bucket."""
    if tokens <= 1:
        return max(tokens, 0)
    return round(1.5 ** round(math.log(tokens, 1.5)))


def heading_text(markdown: str) -> str:
    """The words of a heading, or of a line that acts as one, with its number, on one line."""
    text = _MARKS.sub("", markdown)
    number = _NUMBER.match(text)
    return " ".join(((number.group() if number else "") + plain(text)).split())


def leads_in(unit: Unit, raw: str) -> bool:
    """Whether a paragraph belongs with what follows: it ends in a colon, or asks."""
    return unit.kind == "text" and raw.rstrip(" *_").endswith(_LEADS)


def _rows(document: Document, policy: Policy) -> Iterator[OutlineRow]:
    for unit in document.units:
        raw = document.markdown[unit.start : unit.end]
        shown = _shown_text(unit, raw)
        words = raw.split(maxsplit=policy.cue_words)[: policy.cue_words]
        cue = " ".join(words) if words and shown is None else None
        yield OutlineRow(
            id=unit.id,
            kind=unit.kind,
            level=unit.depth,
            parent=unit.parent,
            size=size_bucket(_size(unit, raw)),
            role=unit.role,
            text=shown,
            cue=cue,
            emphasised=unit.emphasised,
            lead_in=leads_in(unit, raw),
            steps=_is_steps(unit, raw, shown),
        )


def _size(unit: Unit, raw: str) -> int:
    """Tokens of a unit's words. Where links lead is shown, and says nothing of how much is said."""
    return count(plain(raw)) if "](" in raw else unit.tokens


def _shown_text(unit: Unit, raw: str) -> str | None:
    if unit.kind == "heading":
        return heading_text(raw)[:HEADING_CHARS]
    if unit.kind != "text" or "\n" in raw.strip() or _ITEM.match(raw):
        return None
    text = heading_text(raw)
    if not text or len(text) > CANDIDATE_CHARS or len(text.split()) > CANDIDATE_WORDS:
        return None
    letters = sum(map(str.isalpha, text))
    if letters * 2 < len(text):
        return None
    if not unit.emphasised and (_SENTENCE_END.search(text) or _SENTENCES.search(text)):
        return None
    return text


def _is_steps(unit: Unit, raw: str, shown: str | None) -> bool:
    if unit.kind == "list":
        return bool(_ORDERED_ITEM.match(raw))
    return shown is not None and bool(_STEP_HEADING.match(shown))
