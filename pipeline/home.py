"""The home folder: all embedded state, and where each part of it lies."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from pipeline.errors import HomeError, UsageError

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}\Z")


@dataclass(frozen=True, slots=True)
class Home:
    """Paths of the embedded state under one folder."""

    root: Path

    @property
    def ledger(self) -> Path:
        return self.root / "ledger.sqlite"

    @property
    def caches(self) -> Path:
        return self.root / "caches.sqlite"

    @property
    def store(self) -> Path:
        return self.root / "store"

    @property
    def logs(self) -> Path:
        return self.root / "logs"


def create(root: Path) -> Home:
    """The home at `root`, made if it is not there. Raises `HomeError` if it cannot be written."""
    root = root.expanduser().absolute()
    try:
        root.mkdir(parents=True, exist_ok=True, mode=0o700)
    except (NotADirectoryError, FileExistsError) as error:
        raise HomeError(
            f"home folder {root} is not a folder", "choose another with --home DIR"
        ) from error
    except OSError as error:
        raise HomeError(
            f"home folder {root} cannot be made: {error.strerror}", "choose another with --home DIR"
        ) from error
    if not os.access(root, os.W_OK | os.X_OK):
        raise HomeError(
            f"home folder {root} is not writable",
            "choose another with --home DIR, or mend its mode",
        )
    return Home(root)


def existing(root: Path) -> Home:
    """The home at `root`, which must hold a ledger. Raises `HomeError` otherwise."""
    home = Home(root.expanduser().absolute())
    if not home.root.is_dir() or not home.ledger.is_file():
        raise HomeError(
            f"there is no wrac home at {home.root}",
            "wrac ingest URL --source NAME makes one; --home DIR or WRAC_HOME names another",
        )
    return home


def check_name(kind: str, name: str) -> str:
    """`name` if it can be part of paths and keys. Raises `UsageError` naming the rule."""
    if not _NAME.match(name):
        raise UsageError(
            f"{kind} name {name!r} cannot be used",
            "use 1 to 63 lower-case letters, digits, '.', '_' or '-', beginning with one of the "
            "first two",
        )
    return name
