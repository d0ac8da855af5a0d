"""Where the index process of a home keeps its files and its socket."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import IO
from urllib.parse import quote

from indexer.errors import HomeNotWritableError, IndexBusyError, IndexFullError
from indexer.model import Slot

#: Part of the socket's name: a client of another version never talks to an older process.
PROTOCOL = 1

_MAX_SOCKET_PATH = 100  # AF_UNIX takes 108 bytes on Linux, 104 on macOS
_POLL = 0.02


def index_folder(home: Path) -> Path:
    """The folder of all shards of a home, made where it is missing.

    Raises `HomeNotWritableError` or `IndexFullError`.
    """
    folder = home / "index"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        (home / "logs").mkdir(exist_ok=True)
    except OSError as error:
        kind = IndexFullError if error.errno == errno.ENOSPC else HomeNotWritableError
        raise kind(f"cannot write to the home {home}: {error.strerror}") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise HomeNotWritableError(f"cannot write to {folder}: permission denied")
    return folder


def slot_folder(index: Path, slot: Slot) -> Path:
    """A slot's place: the customer first, so that removing one is removing a folder."""
    embedder = hashlib.sha256(slot.embedder.encode()).hexdigest()[:12]
    return index / _name(slot.customer) / _name(slot.source) / f"{slot.build}-{embedder}"


def _name(name: str) -> str:
    """A file name that no other name gives and that cannot leave its folder."""
    quoted = quote(name, safe=" ").replace(".", "%2E")
    if not quoted or len(quoted) > 200:
        return "%" + hashlib.sha256(name.encode()).hexdigest()
    return quoted


def socket_path(home: Path) -> Path:
    """The socket of a home's index process, in a folder that only its owner may open."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    base = Path(runtime) if runtime and Path(runtime).is_dir() else Path(tempfile.gettempdir())
    folder = base / f"wrac-{os.getuid()}"
    name = hashlib.sha256(f"{PROTOCOL}:{home.resolve()}".encode()).hexdigest()[:20] + ".sock"
    if len(os.fsencode(folder / name)) > _MAX_SOCKET_PATH:
        folder = Path("/tmp") / f"wrac-{os.getuid()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError as error:
        raise HomeNotWritableError(f"cannot make {folder}: {error.strerror}") from error
    if found.st_uid != os.getuid() or found.st_mode & 0o077 or not folder.is_dir():
        raise HomeNotWritableError(f"{folder} is open to others; it must be yours alone (0700)")
    return folder / name


def lock(path: Path, timeout: float) -> IO[str]:
    """Take the lock file at `path` and keep it until the returned file is closed.

    The file names its holder. Raises `IndexBusyError` after `timeout` seconds.
    """
    try:
        file = path.open("a+", encoding="utf-8")
    except OSError as error:
        raise HomeNotWritableError(f"cannot open {path}: {error.strerror}") from error
    end = time.monotonic() + timeout
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if time.monotonic() < end:
                time.sleep(_POLL)
                continue
            file.seek(0)
            holder = file.read(64).strip() or "unknown"
            file.close()
            raise IndexBusyError(f"{path} is held by another process ({holder})") from error
        with suppress(OSError):  # a full disk must not keep the index from being read
            file.truncate(0)
            file.write(f"pid {os.getpid()}\n")
            file.flush()
        return file
