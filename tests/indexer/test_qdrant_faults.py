"""A Qdrant server that fails, and pages between two revisions. The answers come from a small HTTP
server or from qdrant-client's in-memory fake; the contract suite has the real one."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from qdrant_client import QdrantClient

from indexer.errors import IndexFullError, IndexRefusedError, IndexUnavailableError
from indexer.model import Swap
from indexer.payload import rows
from indexer.qdrant import ATTEMPTS, LOOKS, QdrantIndex
from indexer.tenancy import collection_name, ours, record
from tests.indexer.samples import no_terms, page, slot, vector

URL = "https://acme.example/guide"


@pytest.fixture
def failing() -> Iterator[Callable[[int, str], QdrantIndex]]:
    """An index whose server answers every request with one status and body."""
    servers: list[ThreadingHTTPServer] = []

    def start(status: int, body: str) -> QdrantIndex:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body.encode())

            def log_message(self, *_: Any) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        servers.append(server)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        client = QdrantClient(
            url=f"http://127.0.0.1:{server.server_port}", check_compatibility=False
        )
        return QdrantIndex(client, wait=lambda _: None)

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def test_a_server_that_stays_down_is_a_transient_error(
    failing: Callable[[int, str], QdrantIndex],
) -> None:
    with pytest.raises(IndexUnavailableError, match="503"):
        failing(503, "busy").count(slot())
    nobody = QdrantClient(url="http://127.0.0.1:1", check_compatibility=False)
    waits: list[float] = []
    with pytest.raises(IndexUnavailableError):
        QdrantIndex(nobody, wait=waits.append).count(slot())
    assert len(waits) == ATTEMPTS - 1
    assert waits == sorted(waits)


def test_a_refusal_and_a_full_disk_are_named(failing: Callable[[int, str], QdrantIndex]) -> None:
    with pytest.raises(IndexRefusedError, match="forbidden"):
        failing(403, "forbidden").count(slot())
    with pytest.raises(IndexFullError):
        failing(500, "Service internal error: No space left on device").count(slot())


@pytest.fixture
def between() -> tuple[QdrantIndex, QdrantClient, list[float]]:
    """A page between two revisions: new points are there, old ones not yet gone."""
    client, waits = QdrantClient(":memory:"), []
    index = QdrantIndex(client, wait=waits.append)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that payload indexes do nothing here
        index.replace_page(slot(), URL, page(slot(), URL, ["old one", "old two"]))
    new = rows(slot(), URL, page(slot(), URL, ["new one"]))
    marks = ours(slot(), revision=2**62)
    client.upsert(collection_name(slot()), [record(row, marks) for row in new])
    return index, client, waits


def test_a_search_never_shows_two_revisions_of_a_page(
    between: tuple[QdrantIndex, QdrantClient, list[float]],
) -> None:
    index, _, waits = between
    hits = index.search([slot()], vector("one"), no_terms(), 10)
    assert [hit.text for hit in hits] == ["new one"]
    assert len(waits) == LOOKS - 1  # it had asked again, in vain


def test_the_next_swap_clears_what_a_cut_one_left(
    between: tuple[QdrantIndex, QdrantClient, list[float]],
) -> None:
    index, _, waits = between
    assert index.replace_page(slot(), URL, page(slot(), URL, ["new one"])) == Swap(0, 1, 2)
    assert index.replace_page(slot(), URL, page(slot(), URL, ["new one"])) == Swap(0, 1, 0)
    assert len(index.search([slot()], vector("one"), no_terms(), 10)) == 1
    assert waits == []
