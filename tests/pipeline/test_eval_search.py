"""What `wrac eval` calls the product's own search ranks as the index does."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from chunker import parse
from chunker.model import show
from chunker.policy import Policy
from indexer.edge.client import EdgeIndex
from indexer.embedders import DEFAULT, open_embedder
from indexer.model import Slot
from indexer.points import points
from indexer.search import ranking
from indexer.sparse import encode_document
from pipeline.evaluation.retrieval_corpus import Piece, load
from pipeline.evaluation.retrieval_search import ProductSearch
from pipeline.page import chunk

CORPUS = Path(__file__).parents[1] / "data" / "retrieval"
NOW = datetime(2026, 5, 1, tzinfo=UTC)


def test_the_evaluation_ranks_as_the_index_does(tmp_path: Path) -> None:
    embedder = open_embedder(DEFAULT)
    slot = Slot("acme", "site", embedder.identity, embedder.dimensions, 1)
    organisation = next(one for one in load(CORPUS) if one.questions)
    index = EdgeIndex(tmp_path)
    pieces: list[Piece] = []
    vectors = []
    try:
        for url, markdown in organisation.documents.items():
            page = parse(markdown.encode(), url, "text/markdown")
            made = chunk(page, Policy(), embedder.count).chunks
            dense = embedder.embed([one.embedded for one in made])
            sparse = [encode_document(one.embedded, page.lang) for one in made]
            stored = points(slot, url, page.title, page.lang, NOW, made, dense, sparse)
            index.replace_page(slot, url, stored)
            pieces += [Piece(one.shown, one.embedded, url, lang=page.lang) for one in made]
            vectors += list(dense)
        search = ProductSearch(pieces)
        for question in organisation.questions:
            [asked] = embedder.embed_queries([question.text])
            cosine = np.stack(vectors) @ asked
            expected = [pieces[at].shown for at in search.ranking(question.text, cosine)]
            hits = ranking(index, embedder, [slot], question.text, 100)
            assert [show(hit.heading_path, hit.text) for hit in hits[:6]] == expected[:6]
    finally:
        index.stop()
