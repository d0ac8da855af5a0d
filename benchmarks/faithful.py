"""Words of the chosen region that come out in the units: nothing visible may be lost.

    python -m benchmarks.faithful FOLDER

FOLDER is a benchmark folder as `wrac eval extraction` takes it. A page's visible words are those
of the text blocks that the region keeps. A block is kept whole where its letters stand in a row in
the units (words that touch in the source may stand apart there); of another one, the words that the
units have are kept.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from statistics import fmean

from selectolax.lexbor import LexborHTMLParser

import chunker
from chunker.html.decode import decode
from chunker.html.depth import bounded
from chunker.html.region import choose
from chunker.html.region_blocks import blocks_of
from chunker.html.region_text import words
from chunker.plain import plain
from pipeline.evaluation.extraction import Page, read

#: Share of a page's words that is to be kept.
GOAL = 0.995


def kept(page: Page) -> tuple[int, int]:
    """Visible words of the page's region, and how many of them its units hold."""
    tree = LexborHTMLParser(bounded(decode(page.body).text)[0])
    dropped = choose(tree, page.url).dropped
    blocks = blocks_of(tree)
    out: set[int] = set()
    for node in tree.root.traverse(include_text=True) if tree.root else ():
        if node.mem_id in dropped:
            out.update(below.mem_id for below in node.traverse(include_text=True))
    document = chunker.parse(page.body, page.url)
    held = [
        word
        for unit in document.units
        for word in words(plain(document.markdown[unit.start : unit.end]))
    ]
    letters, known = "".join(held), set(held)
    seen = found = 0
    for text, leaves in zip(blocks.text, blocks.leaves, strict=True):
        if out.isdisjoint(leaves):
            own = words(text)
            seen += len(own)
            found += len(own) if "".join(own) in letters else sum(word in known for word in own)
    return seen, found


def main() -> None:
    """Entry of the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    counts = [kept(page) for page in read(parser.parse_args().folder)]
    shares = [held / seen for seen, held in counts if seen]
    total = sum(held for _, held in counts) / max(1, sum(seen for seen, _ in counts))
    low = sum(share < GOAL for share in shares)
    print(f"{total:.4f} of all words, {fmean(shares):.4f} as a mean over pages, ", end="")
    print(f"{low} of {len(shares)} pages below {GOAL}")


if __name__ == "__main__":
    main()
