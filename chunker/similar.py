"""Pages that say the same under different addresses: print views, shells in another language.

Candidates are found by MinHash over runs of words (Broder, "On the resemblance and containment of
documents", 1997) in bands (Leskovec, Rajaraman and Ullman, "Mining of massive datasets", 3.4). What
is a candidate is then compared unit by unit, and little is forgiven: variants of a product resemble
each other more than two views of a page do, and a page that is taken for another is lost.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter

import numpy as np

from chunker.model import Document, Unit

#: Words of a run; hashes of a band, which two pages must share all of; bands.
RUN, ROWS, BANDS = 3, 4, 3
#: Words that the smaller of two pages has at least, unless they are equal and called the same.
FEWEST = 40
#: What one page may have besides the other: this share of its words, and this many.
SHARE, MOST = 0.05, 30
WORD = re.compile(r"\w+")
#: Days, times and addresses: the only numbers that may stand in what one page has besides.
STAMP = re.compile(r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}|\d{1,2}:\d{2}(?::\d{2})?|https?://\S+")
#: The hash functions: odd multipliers, and what is added, drawn once.
_DRAWN = np.random.default_rng(20260105).integers(1, 2**63, (2, ROWS * BANDS), np.uint64)
_FACTORS, _TERMS = _DRAWN[0] | np.uint64(1), _DRAWN[1]


def sketch(document: Document) -> tuple[str, ...]:
    """Bands of a page's body: two pages that share one are worth comparing. Empty: no text."""
    words = [word for text in _texts(document).elements() for word in WORD.findall(text)]
    if not words:
        return ()
    runs = {" ".join(words[at : at + RUN]) for at in range(max(1, len(words) - RUN + 1))}
    hashes = np.array([_hash(run) for run in runs], np.uint64)
    # Arithmetic wraps at 2**64, as it is meant to; the low bits of such a product are poor.
    least = ((hashes[:, None] * _FACTORS + _TERMS) >> np.uint64(16)).min(axis=0)
    return tuple(_digest(band.tobytes()) for band in least.reshape(BANDS, ROWS))


def same(one: Document, other: Document) -> bool:
    """Whether two pages say the same to a reader: one adds nothing but a line like a print date."""
    texts, others = _texts(one), _texts(other)
    more, less = texts - others, others - texts
    if more and less:
        return False
    words = min(_words(texts), _words(others))
    if words < FEWEST:
        return not more and not less and words > 0 and one.title == other.title
    if _headings(one) != _headings(other):
        return False
    besides = more or less
    added = _words(besides)
    return added <= min(MOST, SHARE * words) and not any(
        any(c.isdigit() for c in STAMP.sub("", text)) for text in besides
    )


def _texts(document: Document) -> Counter[str]:
    return Counter(_plain(document, unit) for unit in document.units if unit.role == "body")


def _headings(document: Document) -> list[str]:
    units = (unit for unit in document.units if unit.role == "body" and unit.kind == "heading")
    return [_plain(document, unit) for unit in units]


def _plain(document: Document, unit: Unit) -> str:
    return " ".join(document.markdown[unit.start : unit.end].casefold().split())


def _words(texts: Counter[str]) -> int:
    return sum(len(WORD.findall(text)) * times for text, times in texts.items())


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest())


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=6).hexdigest()
