"""Adds a source's file and takes it away; a file that a person wrote is never rewritten."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pipeline.errors import UsageError
from pipeline.sources.files import FOLDER, TABLE, Declared, declare, read


def add(name: str, values: Mapping[str, Any], root: Path = Path()) -> Declared:
    """Write `sources.d/NAME.toml` with these keys. Raises `UsageError` where they are wrong."""
    known = read(root)
    if name in known:
        raise UsageError(f"source {name} is in {known[name].file} already", "change it there")
    file = root / FOLDER / f"{name}.toml"
    declared = declare(name, values, file)
    file.parent.mkdir(exist_ok=True)
    lines = [f"[{TABLE}.{json.dumps(name) if '.' in name else name}]"]
    lines += [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in values.items()]
    # A run may read the folder at any moment: it sees the whole file or none.
    draft = file.with_suffix(".new")
    draft.write_text("\n".join(lines) + "\n", encoding="utf-8")
    draft.replace(file)
    return declared


def remove(name: str, root: Path = Path()) -> Path:
    """Take away the file that declares only this source; returns it. Raises `UsageError`."""
    known = read(root)
    if name not in known:
        raise UsageError(f"no file declares source {name}", _there(known))
    file = known[name].file
    others = [one.name for one in known.values() if one.file == file and one.name != name]
    if others or file.parent.name != FOLDER.name:
        raise UsageError(
            f"{file} holds more than source {name}", f"take [{TABLE}.{name}] out of it by hand"
        )
    file.unlink()
    return file


def _there(known: Mapping[str, Declared]) -> str:
    return f"declared: {', '.join(known)}" if known else "wrac sources add NAME URL declares one"
