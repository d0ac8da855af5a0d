"""A real HTTP server whose sites misbehave in the ways that real ones do."""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True)
class Answer:
    """What the server sends. A `drip` sends the body a byte at a time; `length` may lie."""

    body: bytes | str = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    drip: float = 0.0
    length: int | None = None
    padding: int = 0
    """Headers of a thousand bytes each."""


@dataclass(frozen=True)
class Asked:
    """One line of the request log. `headers` by lower-case name."""

    path: str
    at: float
    headers: Mapping[str, str]
    body: str = ""


Route = Answer | Callable[["Asked", int], Answer]


class Site:
    """Routes by path and query, or by path alone; keeps a log of what was asked."""

    def __init__(self, latency: float = 0.0, tls: ssl.SSLContext | None = None) -> None:
        self.routes: dict[str, Route] = {}
        self.log: list[Asked] = []
        self.arrived = threading.Condition()
        self.most_at_once = 0
        self.latency = latency
        self.fallback: Route = Answer("no such page", 404)
        self._now = 0
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        self._scheme = "http"
        if tls is not None:
            self._scheme = "https"
            self._server.socket = tls.wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False
            )

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        return f"{self._scheme}://127.0.0.1:{self.port}"

    def page(self, path: str, *links: str, head: str = "", **headers: str) -> None:
        """An HTML page with links; header names have `_` for `-`."""
        anchors = "".join(f'<p><a href="{link}">to {link}</a></p>' for link in links)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.routes[path] = Answer(
            f"<!doctype html><html><head><title>{path}</title>{head}</head>"
            f"<body><h1>{path}</h1>{anchors}</body></html>",
            headers={"Content-Type": "text/html; charset=utf-8", **named},
        )

    def redirect(self, path: str, target: str, status: int = 302) -> None:
        self.routes[path] = Answer(status=status, headers={"Location": target})

    def asked(self, path: str) -> int:
        """How often a path, with its query, was asked for."""
        return sum(one.path == path for one in self.log)

    def answer(self, asked: Asked) -> Answer:
        with self.arrived:
            self.log.append(asked)
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
            times = self.asked(asked.path)
            self.arrived.notify_all()
        if self.latency:
            time.sleep(self.latency)
        route = self.routes.get(asked.path) or self.routes.get(asked.path.partition("?")[0])
        if route is None:
            route = self.fallback
        return route if isinstance(route, Answer) else route(asked, times)

    def answered(self) -> None:
        with self.arrived:
            self._now -= 1

    def wait_for_requests(self, count: int) -> None:
        """Returns when that many requests have arrived."""
        with self.arrived:
            assert self.arrived.wait_for(lambda: len(self.log) >= count, timeout=30)

    @contextmanager
    def serving(self) -> Iterator[Site]:
        thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that break off, or trust nobody, are part of the tests."""


def _handler(site: Site) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.do_GET()

        def do_GET(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            body = self.rfile.read(int(headers.get("content-length", 0))).decode()
            answer = site.answer(Asked(self.path, time.monotonic(), headers, body))
            site.answered()
            # A client that has seen enough closes the connection.
            with suppress(ConnectionError):
                self._send(answer)

        def _send(self, answer: Answer) -> None:
            body = answer.body.encode() if isinstance(answer.body, str) else answer.body
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            for number in range(answer.padding):
                self.send_header(f"X-{number}", "x" * 1000)
            if answer.status != 304:
                self.send_header("Content-Length", str(answer.length or len(body)))
            self.end_headers()
            if answer.drip:
                for index in range(len(body)):
                    self.wfile.write(body[index : index + 1])
                    self.wfile.flush()
                    time.sleep(answer.drip)
            else:
                self.wfile.write(body)
            if answer.length:
                self.close_connection = True

        def log_message(self, *args: object) -> None:
            pass

    return Handler
