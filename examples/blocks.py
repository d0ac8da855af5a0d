"""Blocks of the example pages (a heading and what follows it), and articles made from them."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

BLOCKS_PER_ARTICLE = (3, 6)
LONGEST_BLOCK = 5000
"""Characters; the long read's stretch without headings would outweigh the rest of its article."""

KINDS = ("Alder", "Birch", "Cedar", "Drift", "Ember", "Fallow", "Garnet", "Hollow", "Iris", "Larch")
THINGS = ("Pump", "Ledger", "Harbour", "Lantern", "Trailer", "Archive", "Signal", "Bridge", "Mill")

TAG = re.compile(r"(<[^>]+>)")
NAME = re.compile(r"\b(?:Harrier|Moorland|Courier|Dunlin|Larder|Port Auben)\b")
NUMBER = re.compile(r"(?<![\w.&#])\d+(?![\w;])")
HREF = re.compile(r'(?<=href=")[^"]*')
PARAGRAPHS = frozenset({"</p>", "</li>", "</dd>"})
HEADINGS = frozenset({"</h2>", "</h3>", "</summary>"})
SENTENCES = (
    " The record for {name} lists this as point {number}.",
    " For {name} the interval is {number} days.",
    " {name} was checked against this on day {number}.",
    " See note {number} on {name}.",
    " The team that looks after {name} counted {number} cases last year.",
    " In the case of {name}, allow {number} minutes.",
)


def blocks_of(body: str) -> list[str]:
    """The parts of a page body from one `<h2` at the start of a line to the next one."""
    blocks = re.split(r"^(?=<h2)", body, flags=re.MULTILINE)[1:]
    return [block.strip() for block in blocks if len(block) <= LONGEST_BLOCK]


def article_name(index: int) -> str:
    """The name of article `index`: no two articles share one."""
    kind = KINDS[index % len(KINDS)]
    thing = THINGS[index // len(KINDS) % len(THINGS)]
    return f"{kind} {thing} {index}"


def article_body(index: int, blocks: Sequence[str]) -> str:
    """The body of article `index`: a few of the blocks, each varied so that no other page has it.

    Links lead to articles with a lower number, which exist in a site of any size.
    """
    rng = random.Random(f"article {index}")
    name = article_name(index)
    chosen = rng.sample(blocks, rng.randint(*BLOCKS_PER_ARTICLE))
    return "\n".join([f"<h1>{name}</h1>", *(_vary(block, name, index, rng) for block in chosen)])


def _vary(block: str, name: str, index: int, rng: random.Random) -> str:
    """The block with other numbers and links; what names nothing gets a sentence of its own."""
    varied: list[str] = []
    own = False
    for piece in TAG.split(block):
        if piece in HEADINGS:
            varied.append(f" ({name})")
        elif piece in PARAGRAPHS and not own:
            varied.append(rng.choice(SENTENCES).format(name=name, number=rng.randint(2, 9999)))
        elif piece == "</pre>":
            varied.insert(-1, f"\n# {name}")  # before the end of its <code>
        if piece in HEADINGS or piece in PARAGRAPHS:
            own = False
        if TAG.match(piece):
            varied.append(HREF.sub(f"/page/{rng.randint(1, index)}", piece))
        else:
            numbered = NUMBER.sub(lambda found: _like(found.group(), rng), piece)
            varied.append(NAME.sub(name, numbered))
            own = own or NAME.search(piece) is not None
    return "".join(varied)


def _like(number: str, rng: random.Random) -> str:
    """Another number of as many digits."""
    return str(rng.randint(10 ** (len(number) - 1), 10 ** len(number) - 1))
