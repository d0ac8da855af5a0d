"""A policy change against crawling and indexing again, in one run: seconds, requests, memory.

    .venv/bin/python -m benchmarks.rechunk [--pages 1000] [--share 0.05] [--json FILE]

The site is generated from the example sites' blocks. It is ingested; then a policy whose maximum
touches about `--share` of the distinct chunks (found on a sample of the pages, and counted on all)
is applied to what is stored. `--pages 20000` takes about an hour where the embedder makes 5 to 6
pages a second: the ingest is what takes it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import psutil

from benchmarks.ingest import Memory, watching, whole
from chunker.policy import Policy
from pipeline import records
from pipeline.page import chunk
from pipeline.parts import Parts
from pipeline.settings import load

SOURCE = "bench"
SAMPLE = 100
WRAC = str(Path(sys.executable).with_name("wrac"))


def policy_touching(home: Path, share: float) -> tuple[Policy, float]:
    """The policy whose maximum comes nearest to touching that share of distinct chunks."""
    parts = Parts.of(load({"home": home})[0])
    source = parts.ledger.sources.get(SOURCE)
    pages = list(islice(parts.ledger.pages.indexed(SOURCE), SAMPLE))
    documents = []
    for url, _, _ in pages:
        stored = parts.store.record(source.customer, SOURCE, source.build, url)
        assert stored is not None
        documents.append(records.from_json(stored).document)

    def texts(policy: Policy) -> set[str]:
        count = parts.embedder.count
        return {one.embedded for page in documents for one in chunk(page, policy, count).chunks}

    old = texts(source.pins.policy)
    found = []
    for most in range(source.pins.policy.max_tokens - 4, source.pins.policy.target_tokens, -8):
        policy = replace(source.pins.policy, max_tokens=most)
        new = texts(policy)
        touched = len(new - old) / len(new)
        found.append((abs(touched - share), most, policy, touched))
        if touched > 2 * share:
            break
    _, _, policy, touched = min(found, key=lambda one: one[:2])
    return policy, touched


def rechunked(home: Path, policy: Policy) -> dict[str, Any]:
    """`wrac rechunk`; what it says of itself, and its memory."""
    file = home.parent / "policy.toml"
    file.write_text(f"max_tokens = {policy.max_tokens}\n", encoding="utf-8")
    memory = Memory()
    command = [WRAC, "--home", str(home), "rechunk", "--source", SOURCE, "--policy", str(file)]
    started = time.monotonic()
    process = subprocess.Popen([*command, "--json"], stdout=subprocess.PIPE)
    with watching(psutil.Process(process.pid), memory):
        out, _ = process.communicate()
    answer = json.loads(out)
    if process.returncode:
        raise SystemExit(f"rechunk failed: {answer}")
    chunks = answer["chunks"]
    return {
        "max_tokens": policy.max_tokens,
        "pages": answer["pages"]["indexed"],
        "chunks": chunks,
        "embeddings": answer["embeddings"],
        "requests": answer["usage"]["requests"],
        "seconds": round(time.monotonic() - started, 1),
        "of which working": answer["seconds"],
        "peak_mib": {kind: round(mib) for kind, mib in sorted(memory.peak.items())},
    }


def measure(pages: int, share: float) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="wrac-bench-") as folder:
        home = Path(folder) / "home"
        ingested = whole(pages, home)
        policy, expected = policy_touching(home, share)
        changed = rechunked(home, policy)
    total = changed["chunks"]["added"] + changed["chunks"]["kept"]
    return {
        "ingest": ingested,
        "rechunk": changed,
        "share of distinct chunks touched, sample": round(expected, 3),
        "share of chunks touched": round(changed["chunks"]["added"] / total, 3),
        "times as fast": round(ingested["seconds"] / changed["seconds"], 1),
    }


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--pages", type=int, nargs="+", default=[1000])
    options.add_argument("--share", type=float, default=0.05)
    options.add_argument("--json", type=Path)
    given = options.parse_args()
    rows = []
    for pages in given.pages:
        rows.append(measure(pages, given.share))
        print(json.dumps(rows[-1], indent=2), flush=True)
    if given.json:
        given.json.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
