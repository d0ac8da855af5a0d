"""A question to hits: both sides, a budget of tokens, equal texts once, languages."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from indexer.edge.client import EdgeIndex
from indexer.model import Slot, Vector
from indexer.search import search
from tests.indexer.samples import DIMENSIONS, page, slot, vector


class WordEmbedder:
    """An embedder whose vectors are those of the sample points."""

    identity = "sample-model@1"
    dimensions = DIMENSIONS
    max_tokens = 256

    def count(self, text: str) -> int:
        return len(text.split())

    def embed(self, texts: Sequence[str]) -> Vector:
        return np.stack([vector(text) for text in texts])

    def embed_queries(self, texts: Sequence[str]) -> Vector:
        return self.embed(texts)


EMBEDDER = WordEmbedder()


@pytest.fixture
def filled(edge: EdgeIndex) -> EdgeIndex:
    pages = {
        "a": ["change the tyre with a jack", "pump up the tyre"],
        "b": ["change the tyre with a jack", "paint the door"],
        "c": ["change the tyre with a jack"],
    }
    for url, texts in pages.items():
        edge.replace_page(slot(), url, page(slot(), url, texts))
    return edge


def ask(index: EdgeIndex, query: str, *slots: Slot, **bounds: int) -> list[str]:
    return [hit.text for hit in search(index, EMBEDDER, slots or [slot()], query, **bounds)]


def test_equal_texts_are_shown_once_and_others_take_their_place(filled: EdgeIndex) -> None:
    assert ask(filled, "changing a tyre", limit=3) == [
        "change the tyre with a jack",
        "pump up the tyre",
        "paint the door",
    ]
    assert ask(filled, "changing a tyre", limit=2)[1] == "pump up the tyre"


def test_a_budget_is_filled_by_as_many_hits_as_it_holds(filled: EdgeIndex) -> None:
    hits = search(filled, EMBEDDER, [slot()], "changing a tyre", limit=3)
    assert [hit.tokens for hit in hits] == [6, 4, 3]
    assert ask(filled, "changing a tyre", budget=5) == []
    assert ask(filled, "changing a tyre", budget=6) == [hits[0].text]
    assert len(ask(filled, "changing a tyre", budget=100)) == 2  # the first two stand side by side


def test_a_question_of_white_space_or_over_nothing_has_no_hits(filled: EdgeIndex) -> None:
    assert ask(filled, " \n") == []
    assert search(filled, EMBEDDER, [], "tyre") == []


def test_each_page_is_searched_in_its_own_language(filled: EdgeIndex) -> None:
    german = page(slot(), "d", ["die Häuser der Stadt"], lang="de")
    filled.replace_page(slot(), "d", german)
    hits = search(filled, EMBEDDER, [slot()], "Haus", limit=10)
    assert [hit.text for hit in hits if hit.sparse_rank == 1] == ["die Häuser der Stadt"]
