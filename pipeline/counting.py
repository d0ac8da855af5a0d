"""Which tokenizer counts a chunk: the embedder's own."""

from __future__ import annotations

from chunker.tokens import Counter
from pipeline.parts import Parts


def counter_of(parts: Parts) -> Counter:
    """Counts a text as the configured embedder does, special tokens included."""
    return parts.embedder.count
