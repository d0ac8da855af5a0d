"""Prepared pages become points: each for itself, whatever the pages beside it do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from indexer.edge.client import EdgeIndex
from indexer.embedders import open_embedder
from indexer.errors import EmbedderRefusedError
from indexer.model import Vector
from pipeline.caches import open_cache
from pipeline.caches.embeddings import EmbeddingCache
from pipeline.index_stage import IndexStage
from pipeline.ledger import Job
from pipeline.pages import Failed, Indexed, Parsed, Removal, Removed
from pipeline.pagestore import PageStore
from pipeline.parse_stage import ParseStage
from tests.pipeline.test_parse_stage import SOURCE, job

EMBEDDER = open_embedder("minilm")
PINNED = replace(
    SOURCE,
    pins=replace(SOURCE.pins, embedder=EMBEDDER.identity, dimensions=EMBEDDER.dimensions),
)


class ChoosyEmbedder:
    """The real model behind an endpoint that refuses some texts."""

    identity = EMBEDDER.identity
    dimensions = EMBEDDER.dimensions
    max_tokens = EMBEDDER.max_tokens
    count = EMBEDDER.count

    def embed(self, texts: Sequence[str]) -> Vector:
        if any("refused" in text for text in texts):
            raise EmbedderRefusedError("400: this input is too long")
        return EMBEDDER.embed(texts)


@pytest.fixture
def index(tmp_path: Path) -> Iterator[EdgeIndex]:
    opened = EdgeIndex(tmp_path / "home")
    yield opened
    opened.stop()


def removal(of: Job) -> Removal:
    return Removal(replace(of, wanted=None, body_hash=None))


def test_a_text_that_the_embedder_refuses_costs_its_page_alone(
    tmp_path: Path, index: EdgeIndex
) -> None:
    store = PageStore(str(tmp_path / "store"))
    jobs = [
        job(store, f"<main><h1>Opening hours</h1><p>It is {word}.</p></main>".encode(), word)
        for word in ("open", "refused", "shut")
    ]
    pages: list[Parsed] = list(ParseStage(PINNED, store, EMBEDDER.count).run(jobs))
    cache = EmbeddingCache(open_cache(f"sqlite:///{tmp_path}/caches.sqlite", "embeddings"))
    stage = IndexStage(PINNED, store, ChoosyEmbedder(), cache, index)
    found = stage.run([*pages, removal(jobs[0])])
    assert [type(one) for one in found] == [Indexed, Failed, Indexed, Removed]
    assert isinstance(found[1], Failed)
    assert (found[1].reason, found[1].transient) == ("embedder", False)
