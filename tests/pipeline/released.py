"""A home that a release before wrote, unpacked for a test."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from indexer.backends import open_index

DATA = Path(__file__).parents[1] / "data"
#: A home of release 0.1.0 (schema 1): customers `harbour` (source `auben`, 4 pages) and `other`
#: (source `auben-too`, 3 of the same pages).
HOME_1 = DATA / "home-1.tar.xz"


@contextmanager
def unpacked(at: Path) -> Iterator[Path]:
    """The home at `at`; its index process is stopped in the end."""
    with tarfile.open(HOME_1) as archive:
        archive.extractall(at, filter="data")
    yield at
    open_index(at).stop()  # type: ignore[attr-defined]
