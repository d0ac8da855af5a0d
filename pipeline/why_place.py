"""Where on a page a paragraph stands: the units that hold its words."""

from __future__ import annotations

from collections.abc import Sequence

from chunker.model import Document, Unit
from chunker.plain import plain
from indexer.sparse import language, terms

#: Share of a paragraph's words that a text must hold to be where it is.
HOLDS = 0.8
#: Most units that a paragraph, as it was copied from the page, is looked for in.
MOST_UNITS = 8


def holders(document: Document, paragraph: str) -> tuple[Sequence[Unit], float]:
    """The fewest units in a row that hold a paragraph, and the share of its words that they hold.

    Where no `MOST_UNITS` in a row hold it: the one unit that holds most.
    """
    wanted = words(paragraph, document.lang)
    texts = [
        set(words(plain(document.markdown[unit.start : unit.end]), document.lang))
        for unit in document.units
    ]
    if not texts or not wanted:
        return (), 0.0
    best = max(range(len(texts)), key=lambda at: share(wanted, texts[at]))
    for length in range(1, MOST_UNITS + 1):
        runs = [
            (share(wanted, set().union(*texts[at : at + length])), -at)
            for at in range(len(texts) - length + 1)
        ]
        found, at = max(runs, default=(0.0, 0))
        if found >= HOLDS:
            return document.units[-at : length - at], found
    return document.units[best : best + 1], share(wanted, texts[best])


def held(text: str, paragraph: str, lang: str) -> float:
    """Share of a paragraph's words that a Markdown text holds."""
    return share(words(paragraph, lang), set(words(plain(text), lang)))


def share(wanted: Sequence[str], among: set[str]) -> float:
    """Share of words, repeated ones as often as they are, that a set has."""
    return sum(word in among for word in wanted) / len(wanted) if wanted else 0.0


def words(text: str, lang: str) -> list[str]:
    """As the index has them: a sentence of a script without spaces is more than one word."""
    return terms(text.lower(), language(lang))
