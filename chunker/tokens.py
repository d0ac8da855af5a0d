"""The one fixed tokenizer: it sizes units and is that of the default embedder.

The vocabulary is all-MiniLM-L6-v2's WordPiece (Apache-2.0, `data/minilm/`), so that a size never
depends on what is installed beside the package.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from tokenizers import Tokenizer

VOCABULARY = Path(__file__).parent / "data" / "minilm" / "tokenizer.json"

#: Counts the tokens of one text, special tokens included.
Counter = Callable[[str], int]


@cache
def tokenizer() -> Tokenizer:
    """The tokenizer, without truncation or padding."""
    loaded = Tokenizer.from_file(str(VOCABULARY))
    loaded.no_truncation()
    loaded.no_padding()
    return loaded


#: Words whose length is remembered; the memory starts anew when it is full.
_REMEMBERED = 200_000
_lengths: dict[str, int] = {}
#: White space to Python, and characters that WordPiece takes out without parting the word.
_CONTROL = re.compile(r"[\x0b\x0c\x1c-\x1f\x85]")
_SPACE = re.compile(r"[ \t\n\r]+")
#: A word of ASCII is parted at its signs, each a token, into runs of letters and digits; but for
#: the names of special tokens.
_PLAIN = re.compile(r"[!-~]+")
_SPECIAL = re.compile(r"\[(?:PAD|UNK|CLS|SEP|MASK)\]")
_RUN = re.compile(r"[A-Za-z0-9]+")
_SIGN = re.compile(r"[^A-Za-z0-9]")


def count(text: str) -> int:
    """Tokens of `text`, without special tokens."""
    return count_all([text])[0]


def count_all(texts: Sequence[str]) -> list[int]:
    """Tokens of each text, without special tokens.

    WordPiece never joins what white space parts, so a text's length is the sum of its words', and
    most words have been counted before.
    """
    global _lengths
    split = [_words(text) for text in texts]
    if len(_lengths) > _REMEMBERED:
        _lengths = {}
    known = _lengths or _vocabulary()
    _lengths = known
    new = {word for words in split for word in words if word not in known}
    if new:
        plain = {word for word in new if _PLAIN.fullmatch(word) and not _SPECIAL.search(word)}
        runs = {word: _RUN.findall(word.lower()) for word in plain}
        _encode({run for found in runs.values() for run in found if run not in known})
        _encode(new - plain)
        for word, found in runs.items():
            known[word] = sum(map(known.__getitem__, found), len(_SIGN.findall(word)))
    return [sum(map(known.__getitem__, words)) for words in split]


def _encode(words: set[str]) -> None:
    """Remember how long some words are."""
    order = list(words)
    encoded = tokenizer().encode_batch_fast(order, add_special_tokens=False)
    _lengths.update(zip(order, map(len, encoded), strict=True))


def _vocabulary() -> dict[str, int]:
    """The words that are one token."""
    return {word: 1 for word in tokenizer().get_vocab() if word.isascii() and word.isalnum()}


def _words(text: str) -> list[str]:
    if _CONTROL.search(text):
        return _SPACE.split(text)
    return text.split()
