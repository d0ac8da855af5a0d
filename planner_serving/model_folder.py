"""A folder that holds a model: what has to be in it, and the digest that names it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from planner_serving.errors import PlannerModelError

#: What makes a model: its weights and what turns text into its input.
_DIGESTED = (
    "*.safetensors",
    "config.json",
    "tokenizer*",
    "*.jinja",
    "*.model",
    "vocab*",
    "merges*",
)


def read_config(folder: Path) -> dict[str, Any]:
    """The model's `config.json`.

    Raises `PlannerModelError`, naming what is missing, where `folder` is none that an engine can
    load: configuration, tokenizer, and weights as safetensors (other forms can carry programs).
    """
    if not folder.is_dir():
        raise PlannerModelError(f"the planner's model {folder} is no folder on this machine")
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise PlannerModelError(f"{folder} is no model folder: it has no config.json") from None
    except (OSError, ValueError) as error:
        raise PlannerModelError(f"{folder}/config.json cannot be read: {error}") from error
    if not isinstance(config, dict) or not config.get("architectures"):
        raise PlannerModelError(f"{folder}/config.json names no architecture of a language model")
    if not any(folder.glob("*.safetensors")):
        raise PlannerModelError(f"{folder} is no model folder: it holds no *.safetensors")
    if not any(folder.glob("tokenizer*")):
        raise PlannerModelError(f"{folder} is no model folder: it holds no tokenizer")
    return config


def identity(folder: Path) -> str:
    """The model as architecture and digest: the same for the same bytes, wherever they lie.

    Reads all weights: about a second a gigabyte. Raises `PlannerModelError` as `read_config`.
    """
    architecture = read_config(folder)["architectures"][0]
    whole = hashlib.sha256()
    for path in sorted({path for pattern in _DIGESTED for path in folder.glob(pattern)}):
        with path.open("rb") as file:
            part = hashlib.file_digest(file, "sha256").digest()
        whole.update(path.name.encode() + b"\0" + part)
    return f"{architecture}@{whole.hexdigest()[:16]}"
