"""A policy change against crawling and indexing again, in one run: seconds, requests, memory.

    .venv/bin/python -m benchmarks.rechunk [--pages 1000] [--share 0.05] [--json FILE]

The site is generated from the example sites' blocks. It is ingested; then a policy whose maximum
touches about `--share` of the distinct chunks (found on a sample of the pages, and counted on all)
is applied to what is stored. Before it the stages alone do the same to the sample, without Ray, the
crawl and the ledger, into a build of their own. `--pages 20000` takes about an hour where the
embedder makes 5 to 6 pages a second: the ingest is what takes it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

import psutil

from benchmarks.ingest import Memory, watching, whole
from chunker.policy import Policy
from pipeline import records
from pipeline.caches import open_cache
from pipeline.caches.embeddings import EmbeddingCache
from pipeline.index_stage import IndexStage, slot_of
from pipeline.ledger import Job, Source
from pipeline.page import chunk
from pipeline.pages import Report
from pipeline.parse_stage import ParseStage
from pipeline.parts import Parts
from pipeline.reconcile import BATCH
from pipeline.settings import load

SOURCE = "bench"
SAMPLE = 100
#: Number of the build that the stages alone write to.
ALONE = 99
WRAC = str(Path(sys.executable).with_name("wrac"))


def policy_touching(parts: Parts, source: Source, share: float) -> tuple[Policy, float]:
    """The policy whose maximum comes nearest to touching that share of distinct chunks."""
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
    for most in range(source.pins.policy.max_tokens - 4, source.pins.policy.target_tokens, -4):
        policy = replace(source.pins.policy, max_tokens=most)
        new = texts(policy)
        touched = len(new - old) / len(new)
        found.append((abs(touched - share), most, policy, touched))
        if touched > share:
            break
    _, _, policy, touched = min(found, key=lambda one: one[:2])
    return policy, touched


def distinct(parts: Parts, source: Source) -> set[bytes]:
    """Every chunk that is in the index, equal ones once."""
    return {
        hashlib.sha256("\0".join((*one.heading_path, one.text)).encode()).digest()
        for one in parts.index.points(slot_of(source))
    }


def alone(parts: Parts, source: Source, policy: Policy) -> dict[str, Any]:
    """The sample through the stages in this process: indexed first, then with the other policy."""
    source = replace(source, build=ALONE)
    now = datetime.now(UTC)
    jobs = [
        Job(
            source=SOURCE,
            url=url,
            wanted=f"{digest}:{source.verdicts}:old",
            body_hash=digest,
            content_type="text/html",
            title=None,
            fetched_at=now,
            document_hash=None,
            chunks=0,
            attempts=0,
            indexed_at=None,
            verdicts=source.verdicts,
        )
        for url, digest, _ in islice(parts.ledger.pages.indexed(SOURCE), SAMPLE)
    ]
    again = [
        replace(
            one,
            wanted=f"{(one.wanted or '').rpartition(':')[0]}:new",
            indexed_at=now,
            is_settled=True,
        )
        for one in jobs
    ]
    changed = replace(source, pins=replace(source.pins, policy=policy))
    parts.embedder.embed(["The model is loaded before anything is timed."])
    with tempfile.TemporaryDirectory() as folder:
        cache = EmbeddingCache(open_cache(f"sqlite:///{folder}/caches.sqlite", "embeddings"))
        first = _staged(parts, source, cache, jobs)
        second = _staged(parts, changed, cache, again)
    parts.index.drop(slot_of(source))
    parts.store.delete_records(source.customer, SOURCE, ALONE)
    ratio = round(first["seconds"] / second["seconds"], 1)
    return {"first": first, "policy change": second, "times as fast": ratio}


def _staged(
    parts: Parts, source: Source, cache: EmbeddingCache, jobs: Sequence[Job]
) -> dict[str, Any]:
    parse = ParseStage(source, parts.store, parts.embedder.count)
    index = IndexStage(source, parts.store, parts.embedder, cache, parts.index)
    report = Report()
    parsing = 0.0
    started = time.perf_counter()
    for at in range(0, len(jobs), BATCH):
        began = time.perf_counter()
        pages = parse.run(jobs[at : at + BATCH])
        parsing += time.perf_counter() - began
        for result in index.run(pages):
            report.add(result)
    return {
        "pages": len(jobs),
        "seconds": round(time.perf_counter() - started, 2),
        "of which parse stage": round(parsing, 2),
        "failed": report.failed,
        "chunks": {"added": report.chunks_added, "kept": report.chunks_kept},
        "embedded": report.embeddings_made,
    }


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
        ingest_load = os.getloadavg()[0]
        ingested = whole(pages, home)
        parts = Parts.of(load({"home": home})[0])
        source = parts.ledger.sources.get(SOURCE)
        policy, expected = policy_touching(parts, source, share)
        stages = alone(parts, source, policy)
        before = distinct(parts, source)
        load_before = os.getloadavg()[0]
        changed = rechunked(home, policy)
        after = distinct(parts, source)
    total = changed["chunks"]["added"] + changed["chunks"]["kept"]
    return {
        "ingest": ingested,
        "stages alone": stages,
        "rechunk": changed,
        "load before each": [round(ingest_load, 1), round(load_before, 1)],
        "share of distinct chunks touched, sample": round(expected, 3),
        "share of distinct chunks touched": round(len(after - before) / len(after), 3),
        "share of chunks touched": round(changed["chunks"]["added"] / total, 3),
        "times as fast": round(ingested["seconds"] / changed["seconds"], 1),
        "times as fast, without start": round(
            (ingested["seconds"] - ingested["of which starting"]) / changed["of which working"], 1
        ),
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
