"""The product's own chunks: its parser, its planner, its checks, as `wrac ingest` runs them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from chunker import parse
from chunker.model import Chunk, Document
from chunker.outline import outline
from chunker.policy import Policy
from chunker.tokens import Counter
from pipeline.evaluation.methods import Method, Original
from pipeline.evaluation.retrieval_corpus import Piece
from pipeline.page import STRUCTURAL, Chunked, checked
from planner_serving.ports import BatchPlanner

_MEDIA_TYPES = {
    "md": "text/markdown; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "pdf": "application/pdf",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
}


#: What is embedded of a chunk.
Read = Callable[[Chunk], str]


def product_method(
    policy: Policy,
    count: Counter,
    planner: BatchPlanner | None = None,
    read: Read = lambda made: made.embedded,
) -> Method:
    """The product under a policy; `count` is the embedder's tokenizer.

    `planner` asks a model, where the policy names one; `read` gives what is embedded. Raises what
    keeps the model from being asked.
    """

    def method(originals: Sequence[Original]) -> list[Piece]:
        documents = [_document(original) for original in originals]
        views = [outline(document, policy) for document in documents]
        plans = (
            planner.plan_many(views, policy)
            if planner
            else [STRUCTURAL.plan(view, policy) for view in views]
        )
        return [
            piece
            for original, document, view, plan in zip(
                originals, documents, views, plans, strict=True
            )
            for piece in _pieces(
                original, document, checked(document, view, plan, policy, count), read
            )
        ]

    return method


def _document(original: Original) -> Document:
    url = f"file:///{original.file}.{original.ending}"
    return parse(original.body, url, _MEDIA_TYPES[original.ending])


def _pieces(
    original: Original, document: Document, chunked: Chunked, read: Read
) -> Iterator[Piece]:
    for made in chunked.chunks:
        path_length = len(made.shown) - len(made.text)
        yield Piece(made.shown, read(made), original.file, path_length, document.lang)
