"""What the embedder reads of a chunk: its words, without the marks that cost it word pieces."""

from __future__ import annotations

from chunker.plain import plain


def embedded(heading_path: tuple[str, ...], text: str) -> str:
    """Heading path and text for the embedder; a function of what is shown, nothing added."""
    words = "\n".join(line for line in plain(text).splitlines() if line.strip())
    return "\n".join((*heading_path, words))
