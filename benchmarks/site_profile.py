"""What a site's profile adds to the choice of the region.

    python -m benchmarks.site_profile [RAG_FOLDER]

Pages whose content is known beforehand, in the frame of a site: the example sites, and the HTML
documents of a `rag-multi-corpus` folder, which this script wraps in two frames: one with the tags
and names that frames have, one of bare `div`s. Prints the word F1 of what is kept against the
page without its frame, without and with the profile's verdicts.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from rich.console import Console
from rich.table import Table
from selectolax.lexbor import LexborHTMLParser

from chunker import profile
from chunker.html import markdown
from chunker.html.region import choose
from chunker.html.region_blocks import blocks_of
from chunker.plain import plain
from examples.site import read_site, site_names
from pipeline.evaluation.formats import word_f1

NAMED = """<header class="site-header"><nav><ul>{menu}</ul></nav></header>
<main>{body}</main><aside class="related"><h3>Related</h3>{teasers}</aside>
<footer class="site-footer"><p>{legal}</p><ul>{menu}</ul></footer>"""
BARE = """<div class="a1"><div class="a2">{menu}</div></div><div class="b1"><p>{claim}</p>
<div class="b2">{body}</div><div class="b3"><p>{offer}</p>{teasers}</div></div>
<div class="c1"><p>{legal}</p>{menu}</div>"""
CLAIM = "We have been there for our customers since 1974, in every town of the region."
OFFER = (
    "Write to us and one of our advisers answers on the same working day. The first talk costs "
    "nothing, and you decide afterwards how you want to go on."
)
LEGAL = (
    "The information on these pages is put together with care, and we take no responsibility for "
    "it being complete or current. Prices are given with tax and without delivery. Names of "
    "products are marks of their owners."
)
MENU = ("Home", "Products", "Services", "Advice", "Press", "Jobs", "Contact", "Imprint")


@dataclass(frozen=True, slots=True)
class Framed:
    """A page as a crawl meets it, and the same content without a frame."""

    url: str
    html: str
    content: str


def example_pages(name: str) -> list[Framed]:
    """The HTML pages of an example site."""
    base = f"https://{name}.example"
    site = read_site(name, base)
    return [
        Framed(base + page.path, site.respond(page.path).body.decode(), page.body)
        for page in site.pages
    ]


def wrapped_pages(folder: Path, frame: str) -> list[Framed]:
    """The HTML documents of an organisation in one frame, with teasers of three others each."""
    chance = random.Random(7)
    bodies = {path: path.read_text() for path in sorted(folder.glob("html/*.html"))}
    menu = "".join(f'<li><a href="/{name}">{name}</a></li>' for name in MENU)
    out = []
    for path, text in bodies.items():
        tree = LexborHTMLParser(text)
        body = (tree.body and tree.body.inner_html) or ""
        others = chance.sample([other for other in bodies if other != path], 3)
        teasers = "".join(
            f'<div><h4><a href="/x">{other.stem}</a></h4><p>{first_words(bodies[other])}</p></div>'
            for other in others
        )
        page = frame.format(
            menu=menu, body=body, teasers=teasers, claim=CLAIM, offer=OFFER, legal=LEGAL
        )
        whole = f"<html><head><title>{path.stem}</title></head><body>{page}</body></html>"
        out.append(Framed(f"https://site.example/{path.stem}", whole, body))
    return out


def first_words(html: str) -> str:
    texts = [text for text in blocks_of(LexborHTMLParser(html)).text if len(text) > 80]
    return " ".join(texts[0].split()[:20]) if texts else ""


def scores(pages: list[Framed]) -> tuple[float, float, int]:
    """Mean word F1 without and with verdicts, and the number of template blocks."""
    fold = profile.Profile()
    for page in pages:
        fold = profile.fold(fold, page.url, choose(LexborHTMLParser(page.html), page.url).blocks)
    published = profile.verdicts(fold)
    without, with_verdicts = [], []
    for page in pages:
        wanted = " ".join(blocks_of(LexborHTMLParser(page.content)).text)
        without.append(word_f1(text_of(page, {}), wanted))
        with_verdicts.append(word_f1(text_of(page, published), wanted))
    return fmean(without), fmean(with_verdicts), len(published)


def text_of(page: Framed, verdicts: dict[str, bool]) -> str:
    tree = LexborHTMLParser(page.html)
    return plain(markdown.render(tree, choose(tree, page.url, verdicts).dropped, page.url).markdown)


def sites(rag: Path | None) -> Iterator[tuple[str, list[Framed]]]:
    for name in site_names():
        yield f"examples: {name}", example_pages(name)
    for folder in sorted((rag / "datasets").iterdir()) if rag else []:
        for name, frame in (("named frame", NAMED), ("bare frame", BARE)):
            yield f"{folder.name}, {name}", wrapped_pages(folder, frame)


def main() -> None:
    rag = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    table = Table("site", "pages", "F1 without", "F1 with profile", "template blocks")
    for name, pages in sites(rag):
        without, with_verdicts, blocks = scores(pages)
        table.add_row(name, str(len(pages)), f"{without:.3f}", f"{with_verdicts:.3f}", str(blocks))
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
