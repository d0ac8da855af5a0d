"""An embedding endpoint, over HTTP: retries, refusals, wrong answers. And fastembed's absence."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from indexer.embedders import endpoint, open_embedder
from indexer.embedders.endpoint import ATTEMPTS, EndpointEmbedder
from indexer.errors import (
    EmbedderAnswerError,
    EmbedderRefusedError,
    EmbedderUnavailableError,
    ModelNotFoundError,
    TransientError,
)

Answer = tuple[int, dict[str, str], Any]


class Model:
    """A server whose vectors are (length of the text, 1), and what it is to answer next."""

    def __init__(self) -> None:
        self.next: list[Answer | Callable[[dict[str, Any]], Answer]] = []
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []

    def answer(self, body: dict[str, Any]) -> Answer:
        self.requests.append(body)
        if self.next:
            scripted = self.next.pop(0)
            return scripted(body) if callable(scripted) else scripted
        return 200, {}, {"data": rows(body["input"])}


def rows(texts: list[str]) -> list[dict[str, Any]]:
    made = [{"index": i, "embedding": [len(text), 1.0]} for i, text in enumerate(texts)]
    return made[::-1]  # the order of rows means nothing, their index does


@pytest.fixture
def model() -> Model:
    return Model()


@pytest.fixture
def url(model: Model) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._send(200, {}, {"data": [{"id": "m", "max_model_len": 99}]})

        def do_POST(self) -> None:
            assert self.path == "/v1/embeddings"
            model.keys.append(self.headers["Authorization"])
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self._send(*model.answer(body))

        def _send(self, status: int, headers: dict[str, str], content: Any) -> None:
            data = json.dumps(content).encode()
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


@pytest.fixture
def waits() -> list[float]:
    return []


@pytest.fixture
def embedder(url: str, waits: list[float]) -> EndpointEmbedder:
    return EndpointEmbedder(url, "m", wait=waits.append)


def test_vectors_come_in_the_order_of_the_texts_and_at_unit_length(
    embedder: EndpointEmbedder, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint, "BATCH_TEXTS", 2)
    texts = ["four", "a longer text", "", "sixsix", "x"]
    vectors = embedder.embed(texts)
    lengths = np.array([4, 13, 1, 6, 1], np.float32)
    assert np.allclose(vectors[:, 0] / vectors[:, 1], lengths)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)
    assert (vectors.dtype, embedder.dimensions, embedder.max_tokens) == (np.float32, 2, 99)
    assert [len(body["input"]) for body in model.requests[1:]] == [2, 2, 1]
    assert embedder.embed([]).shape == (0, 2)


def test_what_stands_around_a_key_is_no_part_of_it(url: str, model: Model) -> None:
    EndpointEmbedder(url, "m", "a key\r\n")
    assert model.keys == ["Bearer a key"]


@pytest.mark.parametrize("wrong", ["secret\nx", "secret\x00x", "secr\u00e9t secret"])
def test_a_key_that_no_header_can_carry_is_refused_unseen(wrong: str) -> None:
    with pytest.raises(EmbedderRefusedError, match="WRAC_EMBEDDER_KEY") as refused:
        EndpointEmbedder("http://127.0.0.1:9/v1", "m", wrong)
    assert "secret" not in str(refused.value)


def test_the_specification_names_url_and_model(
    url: str, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WRAC_EMBEDDER_KEY", "secret")
    opened = open_embedder(f"endpoint:{url}/embeddings#m")
    assert model.requests[0]["model"] == "m"
    assert model.keys == ["Bearer secret"]
    assert "secret" not in opened.identity


@pytest.mark.parametrize("status", [408, 429, 500, 503, 522])
def test_what_passes_is_tried_again_with_growing_pauses(
    embedder: EndpointEmbedder, model: Model, waits: list[float], status: int
) -> None:
    model.next = [(status, {}, {})] * (ATTEMPTS - 1)
    assert embedder.embed(["text"]).shape == (1, 2)
    assert len(waits) == ATTEMPTS - 1
    assert waits == sorted(waits)


def test_the_server_says_how_long_to_wait_up_to_a_bound(
    embedder: EndpointEmbedder, model: Model, waits: list[float]
) -> None:
    model.next = [(429, {"Retry-After": "7"}, {}), (503, {"Retry-After": "86400"}, {})]
    embedder.embed(["text"])
    assert waits == [7.0, endpoint.MAX_WAIT]


def test_what_does_not_pass_is_a_transient_error(embedder: EndpointEmbedder, model: Model) -> None:
    model.next = [(500, {}, {})] * ATTEMPTS
    with pytest.raises(EmbedderUnavailableError, match="500") as caught:
        embedder.embed(["text"])
    assert isinstance(caught.value, TransientError)


def test_nobody_there_is_a_transient_error(waits: list[float]) -> None:
    with pytest.raises(EmbedderUnavailableError, match=r"127\.0\.0\.1:1/"):
        EndpointEmbedder("http://127.0.0.1:1/v1", "m", wait=waits.append)


def test_a_refusal_is_terminal_and_asked_once(embedder: EndpointEmbedder, model: Model) -> None:
    model.next = [(401, {}, {"error": "no key"})]
    with pytest.raises(EmbedderRefusedError, match="no key"):
        embedder.embed(["text"])
    assert len(model.requests) == 2


@pytest.mark.parametrize(
    "content",
    [
        {"data": []},
        {"data": [{"index": 0, "embedding": [1.0, 2.0, 3.0]}]},
        {"data": [{"index": 1, "embedding": [1.0, 2.0]}]},
        {"data": [{"index": 0, "embedding": [1.0, float("nan")]}]},
        {"data": [{"index": 0}]},
        {"error": "?"},
        [],
    ],
)
def test_an_answer_that_does_not_fit_is_terminal(
    embedder: EndpointEmbedder, model: Model, content: Any
) -> None:
    model.next = [(200, {}, content)]
    with pytest.raises(EmbedderAnswerError):
        embedder.embed(["text"])


def test_fastembed_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "fastembed", None)
    with pytest.raises(ModelNotFoundError, match=r"wrac\[fastembed\]"):
        open_embedder("fastembed:BAAI/bge-small-en-v1.5")
