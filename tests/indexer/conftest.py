"""The index backends that the contract suite runs on."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from qdrant_client import QdrantClient

from indexer.edge.client import EdgeIndex
from indexer.ports import VectorIndex
from indexer.qdrant import QdrantIndex, open_server

SERVER = "WRAC_TEST_QDRANT_URL"


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """A home whose index process, if a test started one, is gone at the end."""
    yield tmp_path / "home"
    EdgeIndex(tmp_path / "home").stop()


@pytest.fixture
def edge(home: Path) -> Iterator[EdgeIndex]:
    index = EdgeIndex(home)
    yield index
    index.close()


@pytest.fixture(params=["edge", "server", "fake-server-in-memory-is-no-server"])
def index(request: pytest.FixtureRequest) -> Iterator[VectorIndex]:
    if request.param == "edge":
        yield request.getfixturevalue("edge")
    elif request.param == "server":
        yield from _server()
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that payload indexes do nothing here
            fake = QdrantIndex(QdrantClient(":memory:"))
            yield fake
            fake.close()


def _server() -> Iterator[VectorIndex]:
    url = os.environ.get(SERVER)
    if not url:  # no package installs one: not even WRAC_TEST_REQUIRE=all demands it
        pytest.skip(f"{SERVER} names no Qdrant server: this half is not counted as passed")
    index = open_server(url)
    for slot in index.slots():
        index.drop(slot)
    yield index
    for slot in index.slots():
        index.drop(slot)
    index.close()
