"""Pages fetched a second: the crawl with its ledger and page store, against a bare Scrapy spider.

    .venv/bin/python -m benchmarks.crawl [--pages 2000] [--rounds 3] [--json FILE]

One server process on this machine serves a generated site from memory. The bare spider follows
every link and stores nothing; it has the same number of requests at once, and Scrapy's defaults.
Each crawler runs in a process of its own, in turns; the best of the rounds counts, for each alike.
Imports are not counted. CPU time is that of the crawler's process; it says more on a busy machine.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar

from examples.generated import GeneratedPages

CONCURRENCY = 16
KINDS = {
    "bare": "bare spider",
    "memory": "crawl, frontier in memory",
    "ledger": "crawl, with ledger",
}
AGENT = "wrac-benchmark/0.1 (+mailto:nobody@example.com)"


def serve(pages: int) -> None:
    """Serves until killed; prints its port. As little work a request as there can be."""
    site = GeneratedPages(pages)
    answers = {
        path.encode(): (
            b"HTTP/1.1 200 OK\r\nContent-Type: "
            + page.content_type.encode()
            + f"\r\nETag: {page.etag}\r\nContent-Length: {len(page.body)}\r\n\r\n".encode()
            + page.body
        )
        for path, page in site.items()
    }
    missing = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"

    class Answers(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            self.transport = transport

        def data_received(self, data: bytes) -> None:
            for request in data.split(b"\r\n\r\n")[:-1]:
                path = request.split(b" ", 2)[1]
                self.transport.write(answers.get(path, missing))  # type: ignore[attr-defined]

    async def run() -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(Answers, "127.0.0.1", 0)
        print(server.sockets[0].getsockname()[1], flush=True)
        await server.serve_forever()

    asyncio.run(run())


def bare(url: str) -> int:
    """Pages that a spider fetches which follows links and does nothing else."""
    from scrapy import Spider
    from scrapy.crawler import AsyncCrawlerProcess
    from scrapy.linkextractors import LinkExtractor

    class Bare(Spider):
        name = "bare"
        start_urls = (url,)
        links = LinkExtractor(allow=re.escape(url))
        pages: ClassVar[set[str]] = set()

        def parse(self, response):  # type: ignore[no-untyped-def]
            self.pages.add(response.url)
            for link in self.links.extract_links(response):
                yield response.follow(link)

    process = AsyncCrawlerProcess(
        {
            "CONCURRENT_REQUESTS": 2 * CONCURRENCY,
            "CONCURRENT_REQUESTS_PER_DOMAIN": CONCURRENCY,
            "LOG_LEVEL": "WARNING",
            "LOG_INSTALL_ROOT_HANDLER": False,
            "TELNETCONSOLE_ENABLED": False,
        }
    )
    process.crawl(Bare)
    process.start(install_signal_handlers=False)
    return len(Bare.pages)


def whole(url: str, home: Path) -> int:
    """Pages that the product's crawl fetches into a ledger and a page store."""
    from chunker.policy import Policy
    from crawler.crawl import run
    from crawler.model import Politeness, Scope
    from pipeline.frontier import LedgerFrontier
    from pipeline.ledger import Pins, open_ledger
    from pipeline.pagestore import PageStore

    scope = Scope(seeds=(url,), allow_hosts=("127.0.0.1",))
    ledger = open_ledger(f"sqlite:///{home / 'ledger.db'}")
    pins = Pins(Policy(), "benchmark", "none", 0, "none")
    ledger.sources.declare("site", "customer", scope, pins, datetime.now(UTC))
    ledger.sources.begin_pass("site")
    source = ledger.sources.get("site")
    frontier = LedgerFrontier(ledger, PageStore(str(home / "pages")), source)
    return run("site", scope, _politeness(Politeness), frontier).fetched


def stored_nowhere(url: str) -> int:
    """Pages that the crawl fetches when its frontier is in memory: what the ledger costs."""
    from crawler.crawl import run
    from crawler.memory import MemoryFrontier
    from crawler.model import Politeness, Scope

    scope = Scope(seeds=(url,), allow_hosts=("127.0.0.1",))
    return run("site", scope, _politeness(Politeness), MemoryFrontier()).fetched


def _politeness(kind):  # type: ignore[no-untyped-def]
    return kind(user_agent=AGENT, concurrency_per_host=CONCURRENCY)


def one(kind: str, url: str) -> None:
    """One crawl in this process; prints pages and seconds, imports left out."""
    import scrapy.linkextractors  # noqa: F401

    import crawler.crawl  # noqa: F401
    import pipeline.frontier
    import pipeline.ledger
    import pipeline.pagestore  # noqa: F401

    with tempfile.TemporaryDirectory() as home:
        started, used = time.perf_counter(), time.process_time()
        if kind == "bare":
            pages = bare(url)
        elif kind == "memory":
            pages = stored_nowhere(url)
        else:
            pages = whole(url, Path(home))
        seconds, cpu = time.perf_counter() - started, time.process_time() - used
        print(json.dumps({"pages": pages, "seconds": seconds, "cpu": cpu}))


def measure(pages: int, rounds: int) -> dict[str, dict[str, float]]:
    """For each kind the best pages a second, its share of the bare spider's, and CPU ms a page."""
    command = [sys.executable, "-m", "benchmarks.crawl"]
    server = subprocess.Popen([*command, "--serve", str(pages)], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    url = f"http://127.0.0.1:{server.stdout.readline().strip()}/"
    runs: dict[str, list[dict[str, float]]] = {kind: [] for kind in KINDS}
    try:
        for _ in range(rounds):
            for kind in KINDS:
                out = subprocess.run(
                    [*command, "--one", kind, url], check=True, capture_output=True, text=True
                ).stdout
                runs[kind].append(json.loads(out.splitlines()[-1]))
                assert runs[kind][-1]["pages"] == pages, runs[kind][-1]
    finally:
        server.kill()
        server.wait()
    fastest = {kind: pages / min(run["seconds"] for run in runs[kind]) for kind in KINDS}
    return {
        kind: {
            "pages_per_second": fastest[kind],
            "share_of_bare": fastest[kind] / fastest["bare"],
            "cpu_ms_per_page": 1000 * min(run["cpu"] for run in runs[kind]) / pages,
        }
        for kind in KINDS
    }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--serve", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.serve:
        serve(given.serve)
    elif given.one:
        one(*given.one)
    else:
        result = measure(given.pages, given.rounds)
        for kind, name in KINDS.items():
            print(
                f"{name:<26}{result[kind]['pages_per_second']:6.0f} pages/s"
                f"{result[kind]['share_of_bare']:6.2f} of bare"
                f"{result[kind]['cpu_ms_per_page']:6.2f} ms CPU a page"
            )
        if given.json:
            given.json.write_text(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
