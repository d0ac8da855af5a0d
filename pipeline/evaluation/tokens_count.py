"""Tokens of o200k_base, the vocabulary that the paper's usage and all budgets are counted in."""

from __future__ import annotations

from functools import cache
from typing import Any

import bpe_openai  # type: ignore[import-untyped]


@cache
def _encoding() -> Any:
    return bpe_openai.get_encoding("o200k_base")


def count(text: str) -> int:
    """Tokens of `text`."""
    return len(_encoding().encode_ordinary(text))


def cut(text: str, tokens: int) -> str:
    """The longest prefix of `text` of at most `tokens` tokens."""
    encoded = _encoding().encode_ordinary(text)
    if len(encoded) <= tokens:
        return text
    return _decoded(encoded[:tokens])


def windows(text: str, size: int, overlap: int) -> list[str]:
    """`text` as windows of `size` tokens, each beginning `overlap` before the last one's end."""
    encoded = _encoding().encode_ordinary(text)
    starts = range(0, max(len(encoded) - overlap, 1), size - overlap)
    return [_decoded(encoded[at : at + size]) for at in starts]


def _decoded(tokens: list[int]) -> str:
    """Their text; a character whose bytes are only partly there is left out."""
    return bytes(_encoding().decode_bytes(tokens)).decode("utf-8", errors="ignore")
