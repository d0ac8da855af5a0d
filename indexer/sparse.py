"""BM25 term vectors (Robertson and Zaragoza 2009), for pages of several languages.

A document's weights are its saturated term frequencies; the engine multiplies in the inverse
document frequency of the slot when it searches. Stemming, stop words and the hashing of terms are
Qdrant's own (`qdrant_edge.Bm25`, the same ids as its server's). What a term *is* is decided here:
the engine's tokenizer splits 1,500 into 1 and 500, and 2.5 into 2 and 5.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Any

from qdrant_edge import Bm25, Bm25Config, DisabledStemmer, StopwordsSet, TokenizerType

from indexer.model import SparseVector

K1 = 1.2
B = 0.75

#: Terms, stop words apart, of a chunk of the default size (160 word pieces), about: the length
#: that is taken as neither short nor long.
AVERAGE_TERMS = 64

#: What a slot's term vectors were made with. Another identity needs another build of the slot.
IDENTITY = f"bm25/{K1}/{B}/{AVERAGE_TERMS}/1"

#: Languages with a stemmer and a list of stop words. Others get neither.
STEMMED = frozenset(re.findall(r"\w+", "ar da de el en es fi fr hu it nl no pt ro ru sv tr"))
_ALIASES = {"nb": "no", "nn": "no", "": "en"}  # a page that does not say: most are English
_DECIMAL_POINT = frozenset(["en", "ar", "zh", "ja", "ko", "th", "he", "hi"])
_ELIDING = frozenset(["fr", "it", "ca"])  # l'huile is two words; driver's is one

_GROUPED = r"(?<![\d.,])\d{{1,3}}(?:[{0}]\d{{3}})+(?![\d{0}])"
_SPACES = "\u00a0\u202f\u2009"
_GROUPS = {
    True: re.compile(_GROUPED.format(f",'{_SPACES}")),
    False: re.compile(_GROUPED.format(f".'{_SPACES}")),
}
_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d)")
_WITH_UNIT = re.compile(r"(?<![^\W_])(?<!\d[.])(\d+(?:\.\d+)*)([^\W\d_]{1,4})(?![^\W_])")
_TERM = re.compile(r"\d+(?:\.\d+)+|°[CF]\b|[^\W_]+(?:'[^\W_]+)*(?:\+\+|#(?!\w))?|[%€£$¥]")
_UNSPACED = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}")


def language(tag: str) -> str:
    """The language that a page's `lang` stands for: `de-AT` is `de`; none at all is English."""
    base = tag.lower().replace("_", "-").partition("-")[0]
    return _ALIASES.get(base, base)


def encode_document(text: str, lang: str) -> SparseVector:
    """The terms of a chunk, as its page's language has them, weighted by saturated frequency."""
    lang = language(lang)
    found = _bm25(lang).embed_document(" ".join(terms(text, lang)))
    return SparseVector(tuple(found.indices), tuple(found.values))


def encode_query(text: str, languages: Iterable[str]) -> SparseVector:
    """The terms of a question, stemmed by each of the languages that are searched.

    What is a stop word in one of them is left out: it would be a rare, and so a heavy, term in
    the pages of another. A question of stop words alone gives an empty vector.
    """
    langs = sorted({language(tag) for tag in languages}) or ["en"]
    indices: set[int] = set()
    for lang in langs:
        for term in terms(text, lang):
            if all(_indices(term, other) for other in langs):
                indices.update(_indices(term, lang))
    return SparseVector(tuple(sorted(indices)), (1.0,) * len(indices))


def terms(text: str, lang: str) -> list[str]:
    """The words, numbers and units of a text, in order; 1,500 is 1500, and 15mm is 15 and mm."""
    text = text.replace("\u2019", "'")
    text = _GROUPS[lang in _DECIMAL_POINT].sub(lambda found: re.sub(r"\D", "", found[0]), text)
    if lang not in _DECIMAL_POINT:
        text = _DECIMAL_COMMA.sub(".", text)
    text = unicodedata.normalize("NFKC", text)
    text = _WITH_UNIT.sub(r"\1 \2", text)
    if lang in _ELIDING:
        text = text.replace("'", " ")
    return [part for term in _TERM.findall(text) for part in _parts(term)]


def _parts(term: str) -> list[str]:
    """Scripts without spaces are cut into pairs of characters, as Lucene's CJK analysis does."""
    if not _UNSPACED.fullmatch(term):
        return [term]
    return [term[i : i + 2] for i in range(len(term) - 1)]


@cache
def _bm25(lang: str) -> Bm25:
    common: dict[str, Any] = {
        "k": K1,
        "b": B,
        "avg_len": AVERAGE_TERMS,
        "tokenizer": TokenizerType.Whitespace,
    }
    if lang in STEMMED:
        return Bm25(Bm25Config(**common, language=lang))
    return Bm25(Bm25Config(**common, stopwords=StopwordsSet(), stemmer=DisabledStemmer()))


@lru_cache(maxsize=1 << 14)
def _indices(term: str, lang: str) -> tuple[int, ...]:
    """The ids of one term; none for a stop word."""
    return tuple(_bm25(lang).embed_query(term).indices)
