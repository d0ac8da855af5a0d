"""Serve the example sites, each on a port of its own.

    with serve() as running:
        crawl(running.urls["harrier"])
        assert running.requests[0].status == 200

`python -m examples.server --port-base 8800` shows them in a browser.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC
from email.utils import format_datetime, parsedate_to_datetime
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread

from examples.generated import GENERATED, generate_site
from examples.site import Response, Site, read_site, site_names

SHUTDOWN_POLL = 0.05
"""Seconds after which a server notices that it was told to stop."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request that was answered."""

    site: str
    method: str
    path: str
    """With its query string."""
    status: int
    conditional: bool
    """Whether the client sent a validator."""


@dataclass(frozen=True)
class Running:
    """Sites that are being served."""

    sites: Mapping[str, Site]
    urls: Mapping[str, str]
    """Site name -> base URL, without a slash at its end."""
    requests: list[Request]
    """Every request so far, in the order of the answers."""
    stop: Callable[[], None] = field(repr=False)
    """Stop listening before the `with` block ends; a second call does nothing."""


@contextmanager
def serve(
    sites: Sequence[str] | None = None,
    host: str = "127.0.0.1",
    *,
    pages: int | None = None,
    port_base: int = 0,
) -> Iterator[Running]:
    """Serve the named sites (all when None), or one generated site of so many `pages`.

    The first site gets the port `port_base`, the next one the port after it; with 0 the system
    picks free ports. Raises `KeyError` for an unknown name, `OSError` for a port in use.
    """
    names = [GENERATED] if pages is not None else (site_names() if sites is None else sites)
    requests: list[Request] = []
    with ExitStack() as stack:
        servers = []
        for index, name in enumerate(names):
            port = port_base + index if port_base else 0
            server = stack.enter_context(_Server((host, port), requests))
            if pages is None:
                server.site = read_site(name, server.url)
            else:
                server.site = generate_site(pages)
            servers.append(server)
        for server in servers:
            Thread(target=server.serve_forever, args=(SHUTDOWN_POLL,), daemon=True).start()
            stack.callback(server.shutdown)
        yield Running(
            {server.site.name: server.site for server in servers},
            {server.site.name: server.url for server in servers},
            requests,
            stack.close,
        )


class _Server(ThreadingHTTPServer):
    """One site on one port. It is bound before the site is read, which needs the port."""

    request_queue_size = 128
    site: Site

    def __init__(self, address: tuple[str, int], requests: list[Request]) -> None:
        super().__init__(address, _Handler)
        self.url = f"http://{address[0]}:{self.server_address[1]}"
        self.requests = requests

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that goes away in the middle (a crawler that is killed) is nothing to report."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # headers and body leave together: two packets would wait for each other
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def _answer(self, *, with_body: bool) -> None:
        response = self.server.site.respond(self.path)
        status = self._status(response)
        self._record(status)
        self.send_response(status)
        if response.location is not None:
            self.send_header("Location", response.location)
        if response.status == HTTPStatus.OK:
            self.send_header("ETag", response.etag)
            self.send_header("Last-Modified", format_datetime(response.modified_at, usegmt=True))
        if status != HTTPStatus.NOT_MODIFIED:
            self.send_header("Content-Type", response.content_type)
            self.send_header("Content-Length", str(len(response.body)))
        self.end_headers()
        if with_body and status != HTTPStatus.NOT_MODIFIED:
            self.wfile.write(response.body)

    def _status(self, response: Response) -> int:
        """The status by RFC 9110, section 13.2.2: If-None-Match goes before If-Modified-Since."""
        if response.status != HTTPStatus.OK:
            return response.status
        if (tags := self.headers.get("If-None-Match")) is not None:
            known = {tag.strip().removeprefix("W/") for tag in tags.split(",")}
            return HTTPStatus.NOT_MODIFIED if known & {"*", response.etag} else HTTPStatus.OK
        if (since := self.headers.get("If-Modified-Since")) is not None:
            try:
                then = parsedate_to_datetime(since).astimezone(UTC)
            except ValueError:
                return HTTPStatus.OK
            return HTTPStatus.NOT_MODIFIED if response.modified_at <= then else HTTPStatus.OK
        return HTTPStatus.OK

    def _record(self, status: int) -> None:
        conditional = "If-None-Match" in self.headers or "If-Modified-Since" in self.headers
        self.server.requests.append(
            Request(self.server.site.name, self.command, self.path, int(status), conditional)
        )

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the request log is a value, not a stream."""


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description="Serve the example sites.")
    parser.add_argument("sites", nargs="*", help="names of sites; all when none is given")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port-base", type=int, default=8800, help="port of the first site")
    parser.add_argument("--pages", type=int, help="one generated site of so many pages instead")
    options = parser.parse_args()
    with serve(
        options.sites or None, options.host, pages=options.pages, port_base=options.port_base
    ) as running:
        for name, url in running.urls.items():
            print(f"{name:<12} {url}/", flush=True)
        with suppress(KeyboardInterrupt):
            Event().wait()


if __name__ == "__main__":
    main()
