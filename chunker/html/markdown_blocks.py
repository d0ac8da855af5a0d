"""Blocks of Markdown, and how containers (lists, quotes, cells) are put together from them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from chunker.html.markdown_inline import Running, longest_run
from chunker.html.table import Cell, Row, to_markdown

#: A list item, cell or heading with more text than this is laid out, not listed.
_LONG = 4000


@dataclass(frozen=True, slots=True)
class Block:
    """A finished block and where in the page it came from."""

    kind: str
    """text, heading, list, table, code, quote, rule."""
    text: str
    locator: str = ""


@dataclass(slots=True)
class Frame:
    """A container that is open while its children are walked."""

    kind: str
    """flow, heading, title, list, item, term, definition, quote, table, cell or caption."""
    blocks: list[Block] = field(default_factory=list)
    running: Running = field(default_factory=Running)
    level: int = 0
    """Of a heading; of a list: the number of its first item, -1 where it has none."""
    items: list[list[Block]] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    captions: list[Block] = field(default_factory=list)
    cell: Cell | None = None
    """Spans of an open cell."""
    loose: list[Block] = field(default_factory=list)
    """What the cells of a table hold, as blocks: used when the table is only layout."""
    layout: bool = False
    """A cell holds a heading."""
    nested: bool = False
    """A cell holds a table."""
    head: bool = False
    """The head of the table is open."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """Markdown, and where its blocks came from."""

    markdown: str
    blocks: tuple[tuple[int, str], ...]
    """Start offset and locator of each block, in order."""


def write(blocks: Iterable[Block]) -> Rendered:
    """Blocks as a whole text, with a blank line between; rulers that follow each other are one."""
    parts: list[str] = []
    starts: list[tuple[int, str]] = []
    at = 0
    for block in blocks:
        if block.kind == "rule" and (not parts or parts[-1] == "---\n\n"):
            continue
        starts.append((at, block.locator))
        parts.append(block.text + "\n\n")
        at += len(parts[-1])
    markdown = "".join(parts).rstrip()
    return Rendered(markdown + "\n" if markdown else "", tuple(starts))


def join(blocks: list[Block]) -> str:
    """Blocks of a container as text: a list stands tight under its lead-in, others apart."""
    text = ""
    for index, block in enumerate(blocks):
        if index:
            tight = block.kind == "list" and blocks[index - 1].kind == "text"
            text += "\n" if tight else "\n\n"
        text += block.text
    return text


def compose_list(frame: Frame, before: Block | None, locator: str) -> list[Block]:
    """A closed list as one block, or as the blocks of its items where it is only layout."""
    items = [item for item in frame.items if any(block.text for block in item)]
    if not items:
        return []
    if any(_is_layout(item) for item in items):
        return [block for item in items for block in item]
    follows = before is not None and before.kind == "list"
    number = frame.level
    written = []
    for item in items:
        if number >= 0:
            sign = ")" if follows and before and re.match(r"\d+\.", before.text) else "."
            marker = f"{number}{sign} "
            number += 1
        else:
            marker = "* " if follows and before and before.text.startswith("- ") else "- "
        written.append(marker + indent(join(item), len(marker)))
    return [Block("list", "\n".join(written), locator)]


def _is_layout(item: list[Block]) -> bool:
    if any(block.kind == "heading" for block in item):
        return True
    return len(item) > 3 and sum(len(block.text) for block in item) > _LONG


def indent(text: str, width: int) -> str:
    """Continuation lines of a list item, under the item's text."""
    if "\n" not in text:
        return text
    pad = " " * width
    first, *rest = text.split("\n")
    return "\n".join([first, *(pad + line if line else "" for line in rest)])


def quote(text: str) -> str:
    """A block quote."""
    return "\n".join(f"> {line}" if line else ">" for line in text.split("\n"))


def fence(code: str, language: str) -> str:
    """A fenced code block, verbatim."""
    sign = "`" * max(3, 1 + longest_run(code, "`"))
    return f"{sign}{language}\n{code}\n{sign}"


def cell_text(blocks: list[Block]) -> str:
    """Blocks of a table cell on one line."""
    lines = []
    for block in blocks:
        for line in block.text.split("\n"):
            line = line.strip()
            if line and not (block.kind == "code" and line.startswith("```")):
                lines.append(line)
    return re.sub(r"(?<!\\)\|", r"\\|", "<br>".join(lines))


def compose_table(frame: Frame, locator: str) -> list[Block]:
    """A closed table: a grid with its captions before it, or its cells' blocks where it is layout.

    Layout is a table with headings or tables in its cells, or with one row or column and no
    header.
    """
    rows = [row for row in frame.rows if row.cells]
    marked = any(cell.header for row in rows for cell in row.cells) or bool(frame.captions)
    narrow = len(rows) < 2 or max(len(row.cells) for row in rows) < 2
    if frame.layout or (frame.nested and not marked) or (narrow and not marked):
        return frame.captions + frame.loose
    text = to_markdown(rows)
    return frame.captions + ([Block("table", text, locator)] if text else [])
