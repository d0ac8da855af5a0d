"""What is no model folder is refused by name, and a model is its bytes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from planner_serving import smollm2
from planner_serving.errors import PlannerModelError
from planner_serving.model_folder import identity, read_config


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The outside of a model: what is in its files is the engine's to judge."""
    made = tmp_path / "model"
    made.mkdir()
    (made / "config.json").write_text('{"architectures": ["LlamaForCausalLM"]}')
    (made / "tokenizer.json").write_text("{}")
    (made / "model.safetensors").write_bytes(b"weights")
    return made


def test_a_model_folder_is_read(folder: Path) -> None:
    assert read_config(folder) == {"architectures": ["LlamaForCausalLM"]}


@pytest.mark.parametrize("gone", ["config.json", "tokenizer.json", "model.safetensors"])
def test_what_is_missing_is_named(folder: Path, gone: str) -> None:
    (folder / gone).unlink()
    with pytest.raises(PlannerModelError, match=gone.rpartition(".")[0]):
        read_config(folder)


@pytest.mark.parametrize("text", ["", "[]", "{}", "not JSON", '{"architectures": []}', "\xff"])
def test_a_configuration_of_no_model_is_named(folder: Path, text: str) -> None:
    (folder / "config.json").write_text(text, encoding="latin-1")
    with pytest.raises(PlannerModelError, match=r"config\.json"):
        read_config(folder)


def test_a_folder_that_is_not_there_or_is_a_file_is_named(folder: Path) -> None:
    for path in (folder / "nothing", folder / "config.json"):
        with pytest.raises(PlannerModelError, match=path.name):
            read_config(path)


def test_a_model_is_its_bytes_wherever_they_lie(folder: Path, tmp_path: Path) -> None:
    first = identity(folder)
    assert first.startswith("LlamaForCausalLM@")
    moved = shutil.copytree(folder, tmp_path / "elsewhere" / "other-name")
    assert identity(moved) == first
    (moved / "README.md").write_text("says nothing about the model")
    assert identity(moved) == first


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
def test_a_changed_byte_is_another_model(folder: Path, name: str) -> None:
    first = identity(folder)
    with (folder / name).open("a") as file:
        file.write(" ")
    assert identity(folder) != first


def test_other_weights_than_those_tried_are_not_converted(tmp_path: Path) -> None:
    other = tmp_path / smollm2.FILE
    other.write_bytes(b"GGUF")
    with pytest.raises(PlannerModelError, match=smollm2.DIGEST[:16]):
        smollm2.checked(other)


def test_the_small_model_takes_no_other_folder_s_place(tmp_path: Path) -> None:
    with pytest.raises(PlannerModelError, match="is there and is no model"):
        smollm2.convert(tmp_path)
    assert list(tmp_path.iterdir()) == []
