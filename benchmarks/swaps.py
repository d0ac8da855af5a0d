"""Readers during swaps, with the index process killed between their steps: nobody misses a page.

    .venv/bin/python -m benchmarks.swaps [--swaps 10000] [--kills 200] [--json FILE]

Pages are replaced one after the other, each time by a revision with other chunks and another
number of them, while readers search for every page. A reader must find the page, whole, and in one
revision. The index process is killed (`kill -9`) between the steps of swaps, at each of them in
turn. Exit code 1 where a reader saw anything else.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from benchmarks.swaps_process import ORDER, STEPS
from indexer.edge import client
from indexer.edge.client import EdgeIndex
from indexer.errors import TransientError
from indexer.model import Point, Slot, SparseVector
from indexer.points import digest

PAGES = 32
DIMENSIONS = 64
READERS = 2
SLOT = Slot("acme", "docs", "test@1", DIMENSIONS)
THEN = datetime(2026, 1, 1, tzinfo=UTC)


def chunks(page: int, revision: int) -> int:
    """How many chunks a page has in a revision: from 2 to 7."""
    return 2 + (page + revision * 5) % 6


def points(page: int, revision: int) -> list[Point]:
    """A page's points: near its own direction and no other's."""
    vector = direction(page)
    made = []
    for place in range(chunks(page, revision)):
        text = f"page {page} revision {revision} chunk {place}"
        made.append(
            Point(
                id=_uuid(text),
                dense=vector,
                sparse=SparseVector((page,), (1.0,)),
                url=url(page),
                title="",
                text=text,
                heading_path=(),
                unit_ids=(),
                position=place,
                tokens=5,
                fetched_at=THEN,
            )
        )
    return made


def direction(page: int) -> np.ndarray:
    vector = np.zeros(DIMENSIONS, np.float32)
    vector[page] = 1.0
    return vector


def url(page: int) -> str:
    return f"https://acme.example/{page}"


def _uuid(text: str) -> str:
    found = digest(text)
    return f"{found[:8]}-{found[8:12]}-5{found[13:16]}-8{found[17:20]}-{found[20:32]}"


@dataclass
class Seen:
    """What the readers saw."""

    reads: int = 0
    away: int = 0
    """Reads that the index process did not answer, and that were repeated."""
    wrong: Counter[str] = field(default_factory=Counter)


def read(home: Path, seen: Seen, ended: threading.Event, seed: int) -> None:
    """Search for pages until told to end."""
    index, moments = EdgeIndex(home), random.Random(seed)
    while not ended.is_set():
        page = moments.randrange(PAGES)
        try:
            hits = index.search([SLOT], direction(page), SparseVector((page,), (1.0,)), 50)
        except TransientError:
            seen.away += 1
            continue
        found = [hit.text.split() for hit in hits if hit.url == url(page)]
        revisions = {int(words[3]) for words in found}
        seen.reads += 1
        if not found:
            seen.wrong["missing"] += 1
        elif len(revisions) > 1:
            seen.wrong["two revisions"] += 1
        elif len(found) != chunks(page, revisions.pop()):
            seen.wrong["part of a page"] += 1
    index.close()


def run(home: Path, swaps: int, kills: int, seed: int) -> dict[str, object]:
    index, seen, killed = EdgeIndex(home), Seen(), Counter[str]()
    for page in range(PAGES):
        index.replace_page(SLOT, url(page), points(page, 0))
    ended = threading.Event()
    readers = [
        threading.Thread(target=read, args=(home, seen, ended, seed + n)) for n in range(READERS)
    ]
    for reader in readers:
        reader.start()
    every, step = max(swaps // kills, 1) if kills else swaps + 1, 0
    started = time.monotonic()
    for number in range(1, swaps + 1):
        page, revision = number % PAGES, 1 + number // PAGES
        kill = number % every == 0
        if kill:
            step = (number // every) % len(STEPS)
            (home / ORDER).write_text(str(step))
        while True:
            try:
                index.replace_page(SLOT, url(page), points(page, revision))
                break
            except TransientError:
                seen.away += 1  # the loop's way: what failed is done again
        if kill and not (home / ORDER).exists():
            killed[STEPS[step]] += 1
    seconds = time.monotonic() - started
    ended.set()
    for reader in readers:
        reader.join()
    last = {page: max(n for n in range(1, swaps + 1) if n % PAGES == page) for page in range(PAGES)}
    expected = sum(chunks(page, 1 + number // PAGES) for page, number in last.items())
    left = index.count(SLOT)
    index.stop()
    return {
        "swaps": swaps,
        "kills": dict(killed),
        "reads": seen.reads,
        "reads repeated": seen.away,
        "wrong": dict(seen.wrong),
        "points": left,
        "points expected": expected,
        "seconds": round(seconds, 1),
        "seed": seed,
    }


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--swaps", type=int, default=10_000)
    options.add_argument("--kills", type=int, default=200)
    options.add_argument("--seed", type=int, default=random.randrange(10**6))
    options.add_argument("--json", type=Path)
    given = options.parse_args()
    client.PROGRAM = (sys.executable, "-m", "benchmarks.swaps_process")
    with tempfile.TemporaryDirectory(prefix="wrac-swaps-") as folder:
        home = Path(folder) / "home"
        home.mkdir()
        result = run(home, given.swaps, given.kills, given.seed)
    text = json.dumps(result, indent=2)
    print(text)
    if given.json:
        given.json.write_text(text + "\n", encoding="utf-8")
    raise SystemExit(bool(result["wrong"]) or result["points"] != result["points expected"])


if __name__ == "__main__":
    main()
