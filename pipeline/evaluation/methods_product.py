"""The product's own chunks: its parser, its planner, its checks, as `wrac ingest` runs them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chunker import parse
from chunker.model import show
from chunker.policy import Policy
from chunker.tokens import Counter
from pipeline.evaluation.methods import Method, Original
from pipeline.evaluation.retrieval_corpus import Piece
from pipeline.page import chunk

_MEDIA_TYPES = {
    "md": "text/markdown; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "pdf": "application/pdf",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
}


def product_method(policy: Policy, count: Counter) -> Method:
    """The product under a policy; `count` is the embedder's tokenizer."""

    def method(originals: Sequence[Original]) -> list[Piece]:
        return [piece for original in originals for piece in _pieces(original, policy, count)]

    return method


def _pieces(original: Original, policy: Policy, count: Counter) -> Iterator[Piece]:
    url = f"file:///{original.file}.{original.ending}"
    document = parse(original.body, url, _MEDIA_TYPES[original.ending])
    for made in chunk(document, policy, count).chunks:
        path_length = len(show(made.heading_path, made.text)) - len(made.text)
        yield Piece(made.shown, made.embedded, original.file, path_length, document.lang)
