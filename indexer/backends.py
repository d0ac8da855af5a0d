"""The vector index that the settings name."""

from __future__ import annotations

import os
from pathlib import Path

from indexer.ports import VectorIndex

#: Names the key of a Qdrant server: of the environment alone, so that no file and no log holds it.
KEY_VARIABLE = "WRAC_INDEX_KEY"


def open_index(home: Path, url: str = "") -> VectorIndex:
    """The Qdrant server at `url`, or, where there is none, the embedded index in `home`.

    Nothing is contacted or started before the first call of the index.
    """
    if url:
        from indexer.qdrant import open_server

        return open_server(url, os.environ.get(KEY_VARIABLE) or None)
    from indexer.edge.client import EdgeIndex

    return EdgeIndex(home)
