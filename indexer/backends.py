"""The vector index that the settings name."""

from __future__ import annotations

from pathlib import Path

from indexer.ports import VectorIndex


def open_index(home: Path, url: str = "", api_key: str | None = None) -> VectorIndex:
    """The Qdrant server at `url`, or, where there is none, the embedded index in `home`.

    Nothing is contacted or started before the first call of the index.
    """
    if url:
        from indexer.qdrant import open_server

        return open_server(url, api_key)
    from indexer.edge.client import EdgeIndex

    return EdgeIndex(home)
