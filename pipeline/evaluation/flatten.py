"""Documents with their structure taken away, the same for the same seed.

`flattened`: one kind a document, drawn by its name. The headings become (a) bold paragraphs,
(b) plain short paragraphs, (c) headings of one level, (d) headings of random levels, or (e) half
of them go and the others become bold. `flattened-h`: what text without typography looks like:
headings are plain paragraphs in sentence case, list items and table rows are bare paragraphs, no
emphasis. Both as Markdown and as HTML, where headings are `<p><b>`, `<p>`, `<div class>` or a
wrong `<hN>`.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from markdown_it import MarkdownIt

from pipeline.evaluation.flatten_lines import HEADING, bare, blocks, plain

SEED = 1
KINDS = "abcde"

#: Writes a heading that is none any more: level 0 is a paragraph.
_Write = Callable[[int, str, bool], str]


def flattened(name: str, markdown: str, html: bool = False, seed: int = SEED) -> str:
    """A document in the kind that the seed and its name draw."""
    rng = random.Random(f"{seed}/{name}")
    kind = rng.choice(KINDS)
    write = _html(rng) if html else _markdown
    parts = blocks(markdown)
    headings = [at for at, part in enumerate(parts) if HEADING.match(part)]
    gone = set(rng.sample(headings, len(headings) // 2)) if kind == "e" else set()
    for at in headings:
        text = HEADING.sub("", parts[at]).rstrip(" #")
        level = {"c": 2, "d": rng.randint(1, 6)}.get(kind, 0)
        parts[at] = "" if at in gone else write(level, text, kind in "ae")
    return _joined(parts, html)


def flattened_h(name: str, markdown: str, html: bool = False, seed: int = SEED) -> str:
    """A document without typography."""
    write = _html(random.Random(f"{seed}/{name}")) if html else _markdown
    parts: list[str] = []
    for part in blocks(markdown):
        if HEADING.match(part):
            parts.append(write(0, sentence_case(plain(HEADING.sub("", part).rstrip(" #"))), False))
        else:
            parts.extend(bare(part))
    return _joined(parts, html)


def sentence_case(text: str) -> str:
    """`How to Reset the ECU` as `How to reset the ECU`: capitalised words but the first."""
    first, *others = text.split(" ")
    return " ".join([first, *(w.lower() if w.istitle() else w for w in others)])


def _markdown(level: int, text: str, bold: bool) -> str:
    if level:
        return "#" * level + " " + text
    return f"**{plain(text)}**" if bold else text


def _html(rng: random.Random) -> _Write:
    def write(level: int, text: str, bold: bool) -> str:
        inner = MarkdownIt().renderInline(text)
        if level:
            return f"<h{level}>{inner}</h{level}>"
        if bold:
            return f"<p><b>{MarkdownIt().renderInline(plain(text))}</b></p>"
        if rng.random() < 0.5:
            return f"<p>{inner}</p>"
        return f'<div class="c{rng.randint(1, 99)}">{inner}</div>'

    return write


def _joined(parts: list[str], html: bool) -> str:
    text = "\n\n".join(part for part in parts if part.strip()) + "\n"
    if not html:
        return text
    body = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
    return f"<!doctype html>\n<html>\n<body>\n{body}</body>\n</html>\n"
