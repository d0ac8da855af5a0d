"""Models that are told what a text is: prefixes reach the model, count as tokens, are identity."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from indexer.embedders import open_embedder
from indexer.embedders.prefixed import FAMILIES, PrefixedEmbedder
from indexer.errors import EmbedderSpecError
from indexer.model import Vector


class Recorder:
    """An embedder that keeps what it was given to read."""

    identity = "recorder@1"
    dimensions = 2
    max_tokens = 256

    def __init__(self) -> None:
        self.read: list[str] = []

    def count(self, text: str) -> int:
        return len(text.split())

    def embed(self, texts: Sequence[str]) -> Vector:
        self.read.extend(texts)
        return np.ones((len(texts), 2), np.float32)

    def embed_queries(self, texts: Sequence[str]) -> Vector:
        raise AssertionError("the family decides what a question looks like")


@pytest.mark.parametrize("family", FAMILIES)
def test_questions_and_passages_get_their_prefix(family: str) -> None:
    inner = Recorder()
    embedder = PrefixedEmbedder(inner, family)
    embedder.embed_queries(["wo?"])
    embedder.embed(["hier", "da"])
    query, passage = FAMILIES[family]
    assert inner.read == [query + "wo?", passage + "hier", passage + "da"]
    assert embedder.count("hier") == inner.count(passage + "hier")
    assert embedder.identity == f"{family}+recorder@1"


def test_the_specification_names_the_family() -> None:
    plain, prefixed = open_embedder("minilm"), open_embedder("e5+minilm")
    assert prefixed.identity == f"e5+{plain.identity}"
    assert np.allclose(prefixed.embed(["hier"]), plain.embed(["passage: hier"]))
    assert np.allclose(prefixed.embed_queries(["wo?"]), plain.embed(["query: wo?"]))
    with pytest.raises(EmbedderSpecError, match="known: e5, bge, nomic"):
        open_embedder("e6+minilm")


def test_a_folder_may_have_a_plus_in_its_name() -> None:
    with pytest.raises(Exception, match=r"no model at /models/a\+b"):
        open_embedder("onnx:/models/a+b")
