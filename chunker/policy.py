"""The chunking policy: how units become chunks. A TOML file; every key has a default."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from chunker.errors import PolicyError
from chunker.model import Kind, Role

#: Who may group the units of a page.
PlannerName = Literal["structural", "vllm", "endpoint"]


@dataclass(frozen=True, slots=True)
class Policy:
    """All that decides how a document is chunked."""

    target_tokens: int = 100
    """Size that small neighbouring sections are merged up to, as shown."""
    max_tokens: int = 256
    """Largest a chunk may be, as shown, counted with the embedder's tokenizer."""
    keep_whole: tuple[Kind, ...] = ("table", "code", "list", "text", "quote")
    """Kinds of units that are cut only where they are over the maximum by themselves; others are
    cut from the target on."""
    drop: tuple[Role, ...] = ("navigation", "cookie", "login", "share", "legal", "empty")
    """Roles of units that are left out of the index, with the role as the reason."""
    context: Literal["path", "none"] = "path"
    """What is shown above a chunk's text: the path of headings it stands under, or nothing."""
    planner: PlannerName = "structural"
    """Who groups the units."""
    escalation_threshold: float = 0.0
    """What the structural planner is less sure of than this a model planner is asked about; 0:
    the model is asked about every page."""
    cue_words: int = 0
    """First words of each body unit that a model planner is shown; 0: no body text at all."""
    enrichment: bool = False
    """Add generated keywords and a summary to the text that is embedded (never shown)."""

    def __post_init__(self) -> None:
        if not 16 <= self.max_tokens <= 8192:
            raise PolicyError(f"max_tokens is {self.max_tokens}; it must be 16 to 8192")
        if not 1 <= self.target_tokens <= self.max_tokens:
            raise PolicyError(
                f"target_tokens is {self.target_tokens}; it must be 1 to max_tokens "
                f"({self.max_tokens})"
            )
        if not 0.0 <= self.escalation_threshold <= 1.0:
            raise PolicyError(
                f"escalation_threshold is {self.escalation_threshold}; it must be 0 to 1"
            )
        if self.cue_words < 0:
            raise PolicyError(f"cue_words is {self.cue_words}; it must not be negative")

    @property
    def asks_model(self) -> bool:
        """Whether pages may be planned by a model."""
        return self.planner != "structural"

    def planned_by(self, planner: PlannerName) -> Policy:
        """The same policy with another planner; the structural one escalates to none."""
        threshold = 0.0 if planner == "structural" else self.escalation_threshold
        return replace(self, planner=planner, escalation_threshold=threshold)

    @property
    def canonical(self) -> str:
        """The policy as JSON with sorted keys: equal for equal policies."""
        return json.dumps(asdict(self), sort_keys=True, separators=(",", ":"))

    @property
    def fingerprint(self) -> str:
        """Hash of the canonical form, 16 hex digits."""
        return hashlib.sha256(self.canonical.encode()).hexdigest()[:16]


def load(path: Path) -> Policy:
    """Read a policy file. Raises `PolicyError` with the file and the key that is wrong."""
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PolicyError(f"cannot read policy {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PolicyError(f"policy {path} is not TOML: {error}") from error
    try:
        return from_mapping(values)
    except PolicyError as error:
        raise PolicyError(f"policy {path}: {error}") from error


def from_mapping(values: Mapping[str, Any]) -> Policy:
    """A policy from plain values, as TOML or JSON give them."""
    types = get_type_hints(Policy)
    known = [f.name for f in fields(Policy)]
    given: dict[str, Any] = {}
    for key, value in values.items():
        if key not in known:
            near = get_close_matches(key, known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"known keys: {', '.join(known)}"
            raise PolicyError(f"unknown key {key}; {hint}")
        given[key] = _checked(key, value, types[key])
    return Policy(**given)


def _checked(key: str, value: Any, wanted: Any) -> Any:
    origin = get_origin(wanted)
    if origin is Literal:
        return _one_of(key, value, get_args(wanted))
    if origin is tuple:
        if not isinstance(value, list | tuple):
            raise PolicyError(f"{key} must be a list")
        return tuple(_one_of(key, item, get_args(get_args(wanted)[0])) for item in value)
    if wanted is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if type(value) is not wanted:
        raise PolicyError(f"{key} must be {_NAMES[wanted]}, not {value!r}")
    return value


def _one_of(key: str, value: Any, choices: tuple[Any, ...]) -> Any:
    if value not in choices:
        near = get_close_matches(str(value), [str(c) for c in choices], n=1)
        hint = f"did you mean {near[0]}?" if near else f"one of: {', '.join(map(str, choices))}"
        raise PolicyError(f"{key} has {value!r}; {hint}")
    return value


_NAMES = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}
