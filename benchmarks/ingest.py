"""The main job by size: pages a second end to end and of each stage alone, and peak memory.

    .venv/bin/python -m benchmarks.ingest [--pages 50 500 5000] [--json FILE]

The site is generated from the example sites' own blocks and served on this machine by the
benchmark's own process. What is compared is in the same run: the time a page takes at the largest
size against the middle one, and the stages alone against the whole.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

import psutil

from examples.server import serve

SAMPLE_SECONDS = 0.25
#: Pages of a stage alone.
ALONE = 100


@dataclass
class Memory:
    """Peak resident memory by kind of process, in MiB."""

    peak: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    def sample(self, root: psutil.Process) -> None:
        now: dict[str, float] = defaultdict(float)
        for process in [root, *root.children(recursive=True)]:
            try:
                name = _kind(process, root)
                now[name] += process.memory_info().rss / 2**20
            except psutil.NoSuchProcess:
                continue
        for name, mib in now.items():
            self.peak[name] = max(self.peak[name], mib)


def _kind(process: psutil.Process, root: psutil.Process) -> str:
    if process.pid == root.pid:
        return "driver"
    line = " ".join(process.cmdline())
    for word, kind in (
        ("ray::ParseActor", "parse"),
        ("ray::IndexActor", "embed"),
        ("ray::crawl", "crawl"),
        ("indexer.edge", "index process"),
    ):
        if word in line:
            return kind
    return "ray"


@contextmanager
def watching(root: psutil.Process, memory: Memory) -> Iterator[None]:
    """Samples a process and its children until the context ends."""
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(SAMPLE_SECONDS):
            try:
                memory.sample(root)
            except psutil.NoSuchProcess:
                return

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def whole(pages: int, home: Path) -> dict[str, Any]:
    """`wrac ingest` of a generated site; what it says of itself, and its memory."""
    memory = Memory()
    with serve(pages=pages) as running:
        [url] = running.urls.values()
        command = [
            *(str(Path(sys.executable).with_name("wrac")), "--home", str(home), "ingest"),
            *(f"{url}/", "--source", "bench", "--allow-host", "127.0.0.1", "--json"),
        ]
        started = time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
        with watching(psutil.Process(process.pid), memory):
            out, _ = process.communicate()
        seconds = time.monotonic() - started
    answer = json.loads(out)
    if process.returncode:
        raise SystemExit(f"ingest failed: {answer}")
    chunks = answer["chunks"]["added"]
    return {
        "pages": answer["pages"]["indexed"],
        "chunks": chunks,
        "seconds": round(seconds, 1),
        "of which starting": round(seconds - answer["seconds"], 1),
        "pages_per_second": round(pages / answer["seconds"], 2),
        "ms_per_page": round(1000 * answer["seconds"] / pages, 1),
        "peak_mib": {kind: round(mib) for kind, mib in sorted(memory.peak.items())},
    }


def alone(home: Path) -> dict[str, float]:
    """Pages a second of each stage by itself, in this process, on pages that were ingested."""
    from chunker import parse
    from pipeline.page import chunk
    from pipeline.parts import Parts
    from pipeline.settings import load

    parts = Parts.of(load({"home": home})[0])
    source = parts.ledger.sources.get("bench")
    rows = list(islice(parts.ledger.pages.indexed("bench"), ALONE))
    bodies = [(url, parts.store.body(source.customer, digest)) for url, digest, _ in rows]
    rates: dict[str, float] = {}

    def measured(stage: str, work: Any) -> Any:
        started = time.perf_counter()
        result = work()
        rates[stage] = round(len(bodies) / (time.perf_counter() - started), 1)
        return result

    documents = measured("parse", lambda: [parse(body, url, "text/html") for url, body in bodies])
    count = parts.embedder.count
    made = measured(
        "plan, chunk, verify", lambda: [chunk(d, source.pins.policy, count) for d in documents]
    )
    texts = [c.embedded for one in made for c in one.chunks]
    parts.embedder.embed(texts[:1])
    measured("embed", lambda: parts.embedder.embed(texts))
    return rates


def crawl_alone(pages: int) -> float:
    """Pages a second of the crawl into ledger and page store, by itself, in a fresh process."""
    with serve(pages=pages) as running, tempfile.TemporaryDirectory() as home:
        [url] = running.urls.values()
        with multiprocessing.get_context("spawn").Pool(1) as fresh:
            rate: float = fresh.apply(_crawl, (f"{url}/", home))
    return round(rate, 1)


def _crawl(url: str, home: str) -> float:
    from chunker.policy import Policy
    from crawler.crawl import run
    from crawler.model import Scope
    from pipeline.crawling import OpenFrontier, politeness
    from pipeline.ledger import Pins
    from pipeline.parts import Parts
    from pipeline.settings import load

    parts = Parts.of(load({"home": home})[0], make=True)
    scope = Scope(seeds=(url,), allow_hosts=("127.0.0.1",))
    pins = Pins(Policy(), "1", "none", 1, "none")
    parts.ledger.sources.declare("bench", "bench", scope, pins, datetime.now(UTC))
    parts.ledger.sources.begin_pass("bench")
    source = parts.ledger.sources.get("bench")
    frontier = OpenFrontier(parts, source, "")()
    started = time.perf_counter()
    tally = run("bench", scope, politeness(parts.settings), frontier)
    return tally.fetched / (time.perf_counter() - started)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--pages", type=int, nargs="+", default=[50, 500, 5000])
    options.add_argument("--json", type=Path)
    arguments = options.parse_args()
    rows = []
    rates: dict[str, float] = {}
    for pages in arguments.pages:
        with tempfile.TemporaryDirectory(prefix="wrac-bench-") as folder:
            home = Path(folder) / "home"
            rows.append(whole(pages, home))
            print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
            rates = alone(home)
    rates["crawl"] = crawl_alone(min(arguments.pages[-1], 500))
    result = {"whole": rows, "alone_pages_per_second": rates}
    if len(rows) > 1:
        result["ms_per_page_last_over_one_before"] = round(
            rows[-1]["ms_per_page"] / rows[-2]["ms_per_page"], 2
        )
    text = json.dumps(result, indent=2)
    print(text)
    if arguments.json:
        arguments.json.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
