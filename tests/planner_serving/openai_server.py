"""A fake of a model's server: real HTTP, OpenAI chat completions, and no model.

It stands for a GPU. It answers inside the grammar by a rule (the first string that the regular
expression takes), or misbehaves as it is told.
"""

from __future__ import annotations

import json
import re._constants as sre  # type: ignore[import-untyped]
import re._parser as sre_parser  # type: ignore[import-untyped]
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from typing import Any, Literal

MODEL = "fake-planner"

Behaviour = Literal["answer", "prose", "429", "500", "400", "404", "half", "nonsense", "silence"]


@dataclass
class FakeOpenAI:
    """A running server. `behave` may be changed at any time; `requests` holds every question."""

    url: str
    behave: Callable[[dict[str, Any]], Behaviour] = lambda _: "answer"
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    ended: Event = field(default_factory=Event)
    most_at_once: int = 0
    _at_once: int = 0
    _guard: Lock = field(default_factory=Lock)

    def always(self, behaviour: Behaviour) -> None:
        self.behave = lambda _: behaviour

    def enter(self, request: dict[str, Any], headers: dict[str, str]) -> None:
        with self._guard:
            self.requests.append(request)
            self.headers.append(headers)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)

    def leave(self) -> None:
        with self._guard:
            self._at_once -= 1


@contextmanager
def serve() -> Iterator[FakeOpenAI]:
    """A server on a free port of this machine, for as long as the context lasts."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        server.daemon_threads = True
        fake = FakeOpenAI(f"http://127.0.0.1:{server.server_port}/v1")
        server.fake = fake  # type: ignore[attr-defined]
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield fake
        finally:
            fake.ended.set()
            server.shutdown()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def fake(self) -> FakeOpenAI:
        fake: FakeOpenAI = self.server.fake  # type: ignore[attr-defined]
        return fake

    def do_GET(self) -> None:
        if self.path.endswith("/models"):
            self._send(200, {"object": "list", "data": [{"id": MODEL, "max_model_len": 32768}]})
        else:
            self._send(404, {"error": {"message": "not found"}})

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.fake.enter(request, dict(self.headers))
        try:
            self._behave(request, self.fake.behave(request))
        finally:
            self.fake.leave()

    def _behave(self, request: dict[str, Any], behaviour: Behaviour) -> None:
        match behaviour:
            case "answer":
                self._send(200, completion(request, first_match(asked_regex(request))))
            case "prose":
                self._send(200, completion(request, "Sure! The first group holds the heading."))
            case "429":
                self._send(429, {"error": {"message": "slow down"}}, {"Retry-After": "0"})
            case "500" | "400" | "404":
                self._send(int(behaviour), {"error": {"message": f"a fault: {behaviour}"}})
            case "nonsense":
                self._send(200, {"choices": "none"})
            case "half":
                body = json.dumps(completion(request, "x" * 100)).encode()
                self._start(200, len(body), {})
                self.wfile.write(body[: len(body) // 2])
                self.close_connection = True
            case "silence":
                self.fake.ended.wait()
                self.close_connection = True

    def _send(self, status: int, value: object, headers: dict[str, str] | None = None) -> None:
        body = json.dumps(value).encode()
        self._start(status, len(body), headers or {})
        self.wfile.write(body)

    def _start(self, status: int, length: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(length))
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


def completion(request: dict[str, Any], text: str) -> dict[str, Any]:
    """The body of an answer to a request of chat completions; a word is a token."""
    said = [str(message["content"]) for message in request["messages"]]
    tokens = sum(len(content.split()) for content in said)
    return {
        "object": "chat.completion",
        "model": request["model"],
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text},
                "finish_reason": "stop",
            }
        ],
        "usage": {
            "prompt_tokens": tokens,
            "completion_tokens": len(text),
            "total_tokens": tokens + len(text),
            "prompt_tokens_details": {"cached_tokens": len(said[0].split())},
        },
    }


def asked_regex(request: dict[str, Any]) -> str:
    """The regular expression that a request asks the answer to match, as vLLM takes it."""
    structured = request.get("structured_outputs") or {}
    return str(structured.get("regex") or request.get("guided_regex") or "")


def first_match(regex: str) -> str:
    """The first string that a regular expression takes: first branch, first character, fewest
    repeats."""
    return _first(sre_parser.parse(regex))


def _first(parts: Any) -> str:
    return "".join(_one(kind, what) for kind, what in parts)


def _one(kind: Any, what: Any) -> str:
    if kind is sre.LITERAL:
        return chr(what)
    if kind is sre.IN:
        return _one(*what[0])
    if kind is sre.RANGE:
        return chr(what[0])
    if kind in (sre.MAX_REPEAT, sre.MIN_REPEAT):
        least, _, part = what
        return _first(part) * least
    if kind is sre.SUBPATTERN:
        return _first(what[-1])
    if kind is sre.BRANCH:
        return _first(what[1][0])
    if kind is sre.AT:
        return ""
    raise ValueError(f"no rule for {kind} in a regular expression")
