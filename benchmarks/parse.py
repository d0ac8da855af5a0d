"""Speed of `chunker.parse` on one core, beside other extractors, by size of page.

    python -m benchmarks.parse FOLDER [--pages N]

FOLDER is a benchmark folder as `wrac eval extraction` takes it. Prints pages a second, median
and mean milliseconds of process time by size of the HTML, where the product's own time goes, and
the peak memory of a process that parses every page.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from pathlib import Path
from statistics import fmean, median
from typing import Any

from rich.console import Console
from rich.table import Table
from selectolax.lexbor import LexborHTMLParser

import chunker
from chunker.html import markdown
from chunker.html.decode import decode
from chunker.html.depth import bounded
from chunker.html.region import choose, hidden_blocks
from chunker.html.region_blocks import blocks_of
from chunker.html.region_features import features
from chunker.html.region_page import page_of
from chunker.html.region_scores import scores
from chunker.units import units
from pipeline.evaluation.extraction import Page, peers, read

#: Upper ends of the size classes, in bytes of HTML.
SIZES = {"to 50 kB": 50_000, "to 200 kB": 200_000, "to 600 kB": 600_000, "more": 1 << 40}


def spent(work: Callable[[], Any]) -> tuple[float, Any]:
    """Process time in milliseconds, and what the work returned."""
    begin = time.process_time()
    result = work()
    return (time.process_time() - begin) * 1000, result


def size_of(page: Page) -> str:
    return next(name for name, limit in SIZES.items() if len(page.body) <= limit)


def beside_peers(pages: list[Page]) -> Table:
    """Milliseconds a page, ours and theirs, in one run."""
    others, missing = peers()
    extractors: dict[str, Callable[[bytes, str], Any]] = {"wrac": chunker.parse, **others}
    table = Table("size", "pages", *extractors, title="ms a page, median / mean; pages a second")
    times: dict[str, dict[str, list[float]]] = {name: {} for name in extractors}
    for extract in extractors.values():
        extract(pages[0].body, pages[0].url)
    for page in pages:
        for name, extract in extractors.items():
            took, _ = spent(lambda: extract(page.body, page.url))  # noqa: B023
            times[name].setdefault(size_of(page), []).append(took)
            times[name].setdefault("all", []).append(took)
    for size in [*SIZES, "all"]:
        rows = [times[name].get(size, []) for name in extractors]
        if rows[0]:
            cells = [f"{median(r):.1f} / {fmean(r):.1f}; {1000 / fmean(r):.0f}" for r in rows]
            table.add_row(size, str(len(rows[0])), *cells)
    for name in missing:
        table.add_row(f"{name}: not installed")
    return table


def where(pages: list[Page]) -> Table:
    """Where a page's time goes, stage by stage."""
    stages: dict[str, list[float]] = {}
    for page in pages:
        for name, took in stages_of(page).items():
            stages.setdefault(name, []).append(took)
    table = Table("stage", "median ms", "mean ms", title="where the time goes")
    for name, row in stages.items():
        table.add_row(name, f"{median(row):.2f}", f"{fmean(row):.2f}")
    return table


def stages_of(page: Page) -> dict[str, float]:
    """Milliseconds of each stage of one page's parse."""
    out = {}
    out["decode"], text = spent(lambda: bounded(decode(page.body, None).text)[0])
    out["tree"], tree = spent(lambda: LexborHTMLParser(text))
    out["region"], region = spent(lambda: choose(tree, page.url))
    out["- blocks"], blocks = spent(lambda: blocks_of(tree))
    if blocks.text:
        out["- features"], found = spent(lambda: features(blocks, page_of(tree, page.url)))
        out["- scores"], _ = spent(lambda: scores(found, hidden_blocks(blocks)))
    out["markdown"], rendered = spent(lambda: markdown.render(tree, region.dropped, page.url))
    out["units"], _ = spent(lambda: units(rendered.markdown))
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pages", type=int, default=0, help="only the first N pages")
    given = parser.parse_args()
    pages = list(read(given.folder))[: given.pages or None]
    base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for page in pages:
        chunker.parse(page.body, page.url)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    console = Console(width=120)
    console.print(where(pages))
    console.print(beside_peers(pages))
    console.print(f"memory: {base / 1024:.0f} MB with the pages read, {peak / 1024:.0f} MB at most")


if __name__ == "__main__":
    main()
