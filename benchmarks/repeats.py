"""Which documents of a folder the product takes for one page: `python -m benchmarks.repeats DIR`.

Every file of DIR is compared with every other by what decides on near duplicates, candidates or
not. On a folder of documents that differ, any pair is a mistake.
"""

from __future__ import annotations

import sys
from itertools import combinations
from pathlib import Path

import chunker
from chunker import similar

ENDINGS = (".html", ".md")


def main(folder: Path) -> None:
    """Prints the pairs of one ending that are the same, and how many pairs there were."""
    for ending in ENDINGS:
        paths = sorted(folder.rglob(f"*{ending}"))
        documents = [chunker.parse(path.read_bytes(), path.as_uri()) for path in paths]
        pairs = list(combinations(range(len(paths)), 2))
        same = [(a, b) for a, b in pairs if similar.same(documents[a], documents[b])]
        for a, b in same:
            print(f"{paths[a]}\n  says the same as {paths[b]}")
        print(f"{ending}: {len(paths)} documents, {len(same)} of {len(pairs)} pairs are the same")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
