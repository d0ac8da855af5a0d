"""Folders outside of the home that a run needs, and what runs that were killed have left of them.

Ray's folder may hold spilled pages: what is forgotten must not stay there.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from pathlib import Path

import psutil

_PREFIX = "wrac-ray-"
_NAME = re.compile(_PREFIX + r"(\d+)-\w+\Z")


def make_folder() -> str:
    """A new folder for Ray, named after this process."""
    return tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-")


def sweep() -> int:
    """Remove the folders of this user's processes that are no more; returns how many there were."""
    gone = 0
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        owner = _NAME.match(folder.name)
        if owner and not psutil.pid_exists(int(owner[1])) and _is_ours(folder):
            shutil.rmtree(folder, ignore_errors=True)
            gone += 1
    return gone


def _is_ours(folder: Path) -> bool:
    try:
        return folder.lstat().st_uid == os.getuid()
    except FileNotFoundError:  # another command sweeps too
        return False
