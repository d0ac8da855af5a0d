"""Reads the files that declare sources. Every mistake is named with file, source and key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from chunker.errors import PolicyError
from chunker.policy import Policy
from chunker.policy import load as load_policy
from pipeline.errors import UsageError
from pipeline.home import check_name
from pipeline.settings import CONFIG_FILE, read_toml
from pipeline.sources.spec import SourceSpec

FOLDER = Path("sources.d")
TABLE = "sources"


@dataclass(frozen=True, slots=True)
class Declared:
    """A source as a file has it. `policy` None: it keeps the one it has."""

    name: str
    file: Path
    spec: SourceSpec
    policy: Policy | None

    @property
    def policy_file(self) -> Path | None:
        return self.file.parent / self.spec.policy if self.spec.policy else None

    @property
    def customer(self) -> str:
        return self.spec.customer or self.name


def read(root: Path = Path()) -> dict[str, Declared]:
    """Every source that the files below `root` declare, by name.

    Raises `UsageError` naming the file, the source and the key that is wrong, and what is near it.
    """
    found: dict[str, Declared] = {}
    for file in files(root):
        for name, values in _tables(file):
            if name in found:
                raise UsageError(
                    f"source {name} is in {found[name].file} and in {file}", "take one of them out"
                )
            found[name] = declare(name, values, file)
    return found


def files(root: Path = Path()) -> list[Path]:
    """The files that may declare sources, those that are there."""
    return [
        file
        for file in (root / CONFIG_FILE, *sorted((root / FOLDER).glob("*.toml")))
        if file.is_file()
    ]


def declare(name: str, values: Mapping[str, Any], file: Path) -> Declared:
    """One source from the values of its table. Raises `UsageError`."""
    check_name("source", name)
    try:
        spec = SourceSpec.model_validate(dict(values))
    except ValidationError as error:
        raise _mistake(name, file, error) from error
    if spec.customer is not None:
        check_name("customer", spec.customer)
    try:
        policy = load_policy(file.parent / spec.policy) if spec.policy else None
    except PolicyError as error:
        raise UsageError(f"{file}: {TABLE}.{name}.policy: {error}") from error
    return Declared(name, file, spec, policy)


def _tables(file: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    tables = read_toml(file)
    if file.name != CONFIG_FILE.name:
        for key in tables.keys() - {TABLE}:
            raise UsageError(
                f"{file}: {key} does not belong here", f"a source begins with [{TABLE}.NAME]"
            )
    declared = tables.get(TABLE, {})
    for name, values in declared.items() if isinstance(declared, dict) else [("", declared)]:
        if not isinstance(values, dict):
            raise UsageError(
                f"{file}: {TABLE} holds tables only", f"a source begins with [{TABLE}.NAME]"
            )
        yield name, values


def _mistake(name: str, file: Path, error: ValidationError) -> UsageError:
    # A key that is spelt wrong is often another that is missing: it says more.
    first = min(error.errors(), key=lambda one: one["type"] != "extra_forbidden")
    path = [str(part) for part in first["loc"]]
    where = ".".join((TABLE, name, *path))
    if first["type"] == "extra_forbidden":
        return UsageError(f"{file}: unknown key {where}", _near(path))
    if first["type"] == "missing":
        return UsageError(f"{file}: {where} is missing", _described(path))
    message = first["msg"].removeprefix("Value error, ")
    return UsageError(f"{file}: {where}: {message}", _described(path))


def _model(path: list[str]) -> type[BaseModel]:
    """The table that a key stands in."""
    model: type[BaseModel] = SourceSpec
    for key in path[:-1]:
        field = model.model_fields.get(key)
        kinds = getattr(field.annotation, "__args__", (field.annotation,)) if field else ()
        inner = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)]
        if not inner:
            break
        model = inner[0]
    return model


def _near(path: list[str]) -> str:
    keys = sorted(_model(path).model_fields)
    near = get_close_matches(path[-1], keys, n=2)
    return f"did you mean {' or '.join(near)}?" if near else f"keys: {', '.join(keys)}"


def _described(path: list[str]) -> str:
    field = _model(path[:2]).model_fields.get(path[-1] if len(path) > 1 else "".join(path))
    return field.description or "" if field else ""
