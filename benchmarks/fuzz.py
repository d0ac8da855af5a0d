"""Mutated real pages through `chunker.parse`: no crash, no hang, every invariant holds.

    python -m benchmarks.fuzz FOLDER [--inputs N] [--seed N]

FOLDER is a benchmark folder as `wrac eval extraction` takes it. The first input that fails is
written to `fuzz-failure.bin`, and the process ends with 1.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import time
from pathlib import Path

import chunker
from chunker.errors import TerminalError
from chunker.model import Document
from pipeline.evaluation.extraction import read

#: Bytes of a page that a mutation starts from, and seconds of work that one input may take.
_LARGEST = 6000
_DEADLINE = 10.0
_PIECES = [
    b"<table>", b"<td rowspan=3>", b"<th scope=row>", b"<caption>", b"</div>", b"</p>", b"<ul>",
    b"<li>", b"<dl>", b"<dt>", b"<pre>", b"<code>", b"```", b"<h2>", b"<blockquote>", b"<b>",
    b'<a href="x">', b"</a>", b"<!--", b"-->", b"<script>", b"<template>", b"<select>", b"<math>",
    b"<svg>", b"<sup>", b"<br><br>", b"<img alt=x>", b"<details>", b"<summary>", b"<title>",
    b"<plaintext>", b"<frameset>", b'<base href="//[">', b"&#0;", b"&#xd800;", b"\x00", b"\xff",
    b"\r\n", b"|", b"# ", b"- ", b"1. ",
]  # fmt: skip


def mutated(body: bytes, source: random.Random) -> bytes:
    """A piece of a page with some bytes put in, some taken out."""
    start = source.randrange(len(body))
    piece = bytearray(body[start : start + source.randrange(10, _LARGEST)])
    for _ in range(source.randrange(1, 25)):
        at = source.randrange(len(piece) + 1)
        choice = source.random()
        if choice < 0.6:
            piece[at:at] = source.choice(_PIECES) * source.choice([1, 1, 1, 2, 30])
        elif choice < 0.8:
            del piece[at : at + source.randrange(1, 60)]
        else:
            piece[at:at] = source.randbytes(source.randrange(1, 5))
    return bytes(piece)


def check(document: Document) -> None:
    """Raise `AssertionError` where a document breaks what always holds."""
    done = 0
    for position, unit in enumerate(document.units, 1):
        assert unit.id == f"{unit.kind}_{position}", unit
        assert done <= unit.start < unit.end <= len(document.markdown), unit
        between = document.markdown[done : unit.start]
        assert not re.sub(r"[-*_\s>]", "", between), between
        assert unit.line == document.markdown.count("\n", 0, unit.start), unit
        done = unit.end
    assert len({unit.anchor for unit in document.units}) == len(document.units)
    document.markdown.encode()


def main() -> None:
    """Entry of the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--inputs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    source = random.Random(options.seed)
    bodies = [page.body for page in read(options.folder) if page.body]
    slowest = 0.0
    begin = time.monotonic()
    for number in range(options.inputs):
        body = mutated(source.choice(bodies), source)
        started = time.process_time()
        try:
            document = chunker.parse(body, "https://example.com/a/b.html", "text/html")
            check(document)
        except TerminalError:
            pass
        except Exception:
            Path("fuzz-failure.bin").write_bytes(body)
            print(f"input {number} fails; it is in fuzz-failure.bin", file=sys.stderr)
            raise
        slowest = max(slowest, time.process_time() - started)
        if slowest > _DEADLINE:
            Path("fuzz-failure.bin").write_bytes(body)
            sys.exit(f"input {number} took {slowest:.1f} s; it is in fuzz-failure.bin")
    spent = time.monotonic() - begin
    print(f"{options.inputs} inputs in {spent:.0f} s, slowest {slowest:.2f} s")


if __name__ == "__main__":
    main()
