# mypy: disable-error-code="import-not-found"
"""Other chunkers in the same run, where they are installed (extra `eval`).

Each as its documentation shows it, at 256 tokens. Sizes are o200k_base tokens; docling's are the
embedder's, which is how it is meant to be used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any

from chunker.tokens import Counter
from pipeline.evaluation import tokens_count
from pipeline.evaluation.methods import Method, per_document

SIZE = 256
OVERLAP = 32

_Split = Callable[[str], Iterable[str]]


def peer_methods(count: Counter, names: Iterable[str]) -> dict[str, Method]:
    """Those of the named peers that are installed; `count` is the embedder's tokenizer."""
    found: dict[str, Method] = {}
    for name in names:
        with suppress(ImportError):
            found[name] = _method(_PEERS[name](count))
    return found


def _method(split: _Split) -> Method:
    def pairs(file: str, markdown: str) -> Iterator[tuple[str, str]]:
        for text in split(markdown):
            if text.strip():
                yield text, text

    return per_document(pairs)


def _langchain_recursive(count: Counter) -> _Split:
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    split: _Split = RecursiveCharacterTextSplitter(
        chunk_size=SIZE, chunk_overlap=OVERLAP, length_function=tokens_count.count
    ).split_text
    return split


def _langchain_headers(count: Counter) -> _Split:
    from langchain_text_splitters import MarkdownHeaderTextSplitter

    levels = [("#" * level, f"h{level}") for level in range(1, 7)]
    headers = MarkdownHeaderTextSplitter(levels, strip_headers=False)
    recursive = _langchain_recursive(count)

    def split(markdown: str) -> Iterator[str]:
        for section in headers.split_text(markdown):
            yield from recursive(section.page_content)

    return split


def _chonkie_recursive(count: Counter) -> _Split:
    from chonkie import RecursiveChunker

    size: Any = tokens_count.count  # a counter is taken where a tokenizer's name is asked for
    chunker = RecursiveChunker(tokenizer=size, chunk_size=SIZE)
    return lambda markdown: [chunk.text for chunk in chunker.chunk(markdown)]


def _semchunk(count: Counter) -> _Split:
    from semchunk.semchunk import chunkerify

    split: Any = chunkerify(tokens_count.count, SIZE)
    return lambda markdown: list(split(markdown))


def _docling_hybrid(count: Counter) -> _Split:
    from pipeline.evaluation.peers_docling import hybrid

    return hybrid(count, SIZE)


_PEERS: dict[str, Callable[[Counter], _Split]] = {
    "langchain_recursive": _langchain_recursive,
    "langchain_headers": _langchain_headers,
    "chonkie_recursive": _chonkie_recursive,
    "semchunk": _semchunk,
    "docling_hybrid": _docling_hybrid,
}
PEERS = tuple(_PEERS)
