"""How fast the embedded index takes, replaces and finds pages: `python benchmarks/index.py`.

Writes pages of ten points each (384 dimensions, texts of about a hundred words) through the index
process, as `wrac ingest` does, and prints one row a size. Vectors and words are random, so the
quality of hits means nothing here; `--json` prints the rows as JSON.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import numpy as np
import psutil
from rich.console import Console
from rich.table import Table

from chunker.model import Chunk
from indexer.edge.client import EdgeIndex
from indexer.edge.places import slot_folder
from indexer.model import Point, Slot, SparseVector
from indexer.points import points
from indexer.sparse import encode_document, encode_query

DIMENSIONS = 384
PER_PAGE = 10
WORDS = [f"word{number}" for number in range(20_000)]
SLOT = Slot("bench", "site", "random", DIMENSIONS)
FETCHED = datetime(2026, 1, 1, tzinfo=UTC)
QUERIES = 200
CHANGED = 200  # pages of which one chunk becomes another one
LANG = "en"


def pages(size: int, seed: int) -> Iterator[tuple[str, list[Point]]]:
    """Pages of random points, `size` points in all."""
    chance, numbers = random.Random(seed), np.random.default_rng(seed)
    for number in range(size // PER_PAGE):
        texts = [" ".join(words(chance, 100)) for _ in range(PER_PAGE)]
        chunks = [
            Chunk(str(i), text, ("Guide", "Part"), (f"text_{i}",), 160, i, (), text)
            for i, text in enumerate(texts)
        ]
        dense = numbers.standard_normal((PER_PAGE, DIMENSIONS)).astype(np.float32)
        dense /= np.linalg.norm(dense, axis=1, keepdims=True)
        sparse: list[SparseVector] = [encode_document(text, LANG) for text in texts]
        url = f"https://bench.example/{number}"
        yield url, points(SLOT, url, "Title", LANG, FETCHED, chunks, dense, sparse)


def words(chance: random.Random, count: int) -> list[str]:
    """Words with a long tail: the square makes the first ones common."""
    return [WORDS[int(chance.random() ** 2 * len(WORDS))] for _ in range(count)]


def measure(size: int, compact: bool) -> dict[str, float]:
    """One size, in a home of its own."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        index = EdgeIndex(home)
        row: dict[str, float] = {"points": size}
        started = time.perf_counter()
        index.process()
        row["start_s"] = time.perf_counter() - started
        made = list(pages(size, seed=1))
        row["points_per_s"] = size / _timed(lambda: _write(index, made))
        row["unchanged_pages_per_s"] = len(made) / _timed(lambda: _write(index, made))
        others = pages(CHANGED * PER_PAGE, seed=2)
        changed = [
            (url, one[1:] + other[:1]) for (url, one), (_, other) in zip(made, others, strict=False)
        ]
        row["changed_pages_per_s"] = len(changed) / _timed(lambda: _write(index, changed))
        row |= _searches(index, "")
        row["memory_mb"] = psutil.Process(index.process()).memory_info().rss / 2**20
        row["stop_s"] = _timed(index.stop)
        row["disk_mb"] = _disk(home)
        row["open_s"] = _timed(lambda: index.count(SLOT))
        if compact:
            index.stop()
            shard = slot_folder(home / "index", SLOT)
            command = [sys.executable, "-m", "indexer.edge.compact", str(shard)]
            row["compact_s"] = _timed(lambda: subprocess.run(command, check=True))
            row |= _searches(index, "_compacted")
        index.stop()
    return row


def _write(index: EdgeIndex, made: list[tuple[str, list[Point]]]) -> None:
    for url, one in made:
        index.replace_page(SLOT, url, one)


def _searches(index: EdgeIndex, suffix: str) -> dict[str, float]:
    chance, numbers = random.Random(3), np.random.default_rng(3)
    took: list[float] = []
    for _ in range(QUERIES):
        dense = numbers.standard_normal(DIMENSIONS).astype(np.float32)
        sparse = encode_query(" ".join(words(chance, 6)), [LANG])
        took.append(_timed(partial(index.search, [SLOT], dense, sparse, 10)) * 1000)
    return {
        f"search_p50_ms{suffix}": statistics.median(took),
        f"search_p95_ms{suffix}": statistics.quantiles(took, n=20)[-1],
    }


def _timed(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def _disk(home: Path) -> float:
    return sum(path.stat().st_blocks * 512 for path in home.rglob("*")) / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("sizes", nargs="*", type=int, default=[1_000, 10_000], help="points")
    parser.add_argument("--compact", action="store_true", help="compact and search again")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = [measure(size, options.compact) for size in options.sizes]
    if options.json:
        print(json.dumps(found))
        return
    table = Table("", *(f"{size:,} points" for size in options.sizes))
    for name in list(found[0])[1:]:
        table.add_row(name, *(f"{row[name]:,.2f}" for row in found))
    Console().print(table)


if __name__ == "__main__":
    main()
