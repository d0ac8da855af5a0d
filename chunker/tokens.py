"""The one fixed tokenizer: it sizes units and is that of the default embedder.

The vocabulary is all-MiniLM-L6-v2's WordPiece (Apache-2.0, `data/minilm/`), so that a size never
depends on what is installed beside the package.
"""

from __future__ import annotations

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


def count(text: str) -> int:
    """Tokens of `text`, without special tokens."""
    return len(tokenizer().encode(text, add_special_tokens=False))


def count_all(texts: Sequence[str]) -> list[int]:
    """Tokens of each text, without special tokens; one call into the library."""
    encoded = tokenizer().encode_batch_fast(list(texts), add_special_tokens=False)
    return [len(one) for one in encoded]
