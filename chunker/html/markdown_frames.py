"""Containers that are open while the tree is walked, and what becomes of them at their end."""

from __future__ import annotations

from collections.abc import Callable

from selectolax.lexbor import LexborNode

from chunker.html import markdown_blocks as compose
from chunker.html.markdown_blocks import Block, Frame
from chunker.html.markdown_inline import Running, one_line
from chunker.html.table import Cell, Row

#: Containers nested deeper than this are walked and not marked: it bounds the indent.
_DEEPEST = 24
#: Containers whose text does not stand at the beginning of a line.
_WITHIN_LINES = frozenset({"heading", "title", "term", "cell"})
#: A heading with more text than this is a container that somebody marked as a heading.
_LONGEST_HEADING = 1000


class Frames:
    """The open containers, innermost last. Text and blocks go to the innermost."""

    def __init__(self, locator: Callable[[], str]) -> None:
        self.locator = locator
        self.stack = [Frame("flow")]

    @property
    def running(self) -> Running:
        """The running text of the innermost container."""
        return self.stack[-1].running

    @property
    def blocks(self) -> list[Block]:
        """What the outermost container holds."""
        return self.stack[0].blocks

    def open(self, kind: str, tag: str, node: LexborNode) -> bool:
        """Begin a container; False where it only parts its text from what is around it."""
        self.flush()
        top = self.stack[-1]
        if len(self.stack) > _DEEPEST or (kind == "heading" and top.kind == "heading"):
            return False
        if kind == "cell" and top.kind != "table":
            return False
        frame = Frame(kind)
        if kind == "heading":
            frame.level = _level(tag, node)
        elif kind == "list":
            frame.level = _first_number(node) if tag == "ol" else -1
        elif kind == "cell":
            frame.cell = _cell(tag, node)
        self.stack.append(frame)
        return True

    def row(self) -> None:
        """A row of the innermost table begins."""
        self.flush()
        table = self.stack[-1]
        table.rows.append(Row(head=table.head))

    def head(self, inside: bool) -> None:
        """The head of the innermost table begins or ends."""
        self.flush()
        self.stack[-1].head = inside

    def has_header(self) -> bool:
        """The innermost open container is a table that begins with a header."""
        rows = self.stack[-1].rows
        return bool(rows) and any(cell.header for cell in rows[0].cells)

    def empty_cell(self, node: LexborNode) -> None:
        """A cell whose text is left out keeps its place in the row."""
        if self.stack[-1].kind == "table":
            self.flush()
            self._close_cell(_cell("td", node), [])

    def close(self) -> None:
        """End the innermost container: what it made goes into the one that it stands in."""
        self.flush()
        frame = self.stack.pop()
        kind, blocks = frame.kind, frame.blocks
        if kind == "heading":
            self.put(*_heading(frame, self.locator()))
        elif kind == "title":
            plain = len(blocks) == 1 and blocks[0].kind == "text"
            self.put(*([_bold(blocks[0])] if plain else blocks))
        elif kind == "list":
            siblings = self.stack[-1].blocks
            before = siblings[-1] if siblings else None
            self.put(*compose.compose_list(frame, before, self.locator()))
        elif kind in {"item", "term", "definition"}:
            self._close_item(kind, blocks)
        elif kind == "quote":
            text = compose.join(blocks)
            if text:
                self.put(Block("quote", compose.quote(text), self.locator()))
        elif kind == "table":
            self.put(*compose.compose_table(frame, self.locator()))
        elif kind == "caption":
            self.stack[-1].captions.extend(blocks)
        elif frame.cell is not None:
            self._close_cell(frame.cell, blocks)

    def put(self, *blocks: Block) -> None:
        """Add finished blocks to the innermost container."""
        frame = self.stack[-1]
        if frame.kind == "list":
            for block in blocks:
                if block.kind == "list" and frame.items:
                    frame.items[-1].append(block)
                else:
                    frame.items.append([block])
        elif frame.kind == "table":
            frame.captions.extend(blocks)
        else:
            frame.blocks.extend(blocks)

    def flush(self) -> None:
        """The running text of the innermost container is a paragraph."""
        frame = self.stack[-1]
        if not frame.running.parts:
            return
        text = frame.running.take(whole=frame.kind not in _WITHIN_LINES)
        if text:
            locator = self.locator()
            self.put(*(Block("text", one, locator) for one in text.split("\n\n")))

    def _close_item(self, kind: str, blocks: list[Block]) -> None:
        parent = self.stack[-1]
        if parent.kind != "list":
            lone = Frame("list", level=-1, items=[blocks])
            self.put(*compose.compose_list(lone, None, self.locator()))
        elif kind == "definition" and parent.items:
            parent.items[-1].extend(blocks)
        elif kind == "term":
            parent.items.append([_bold(one) if one.kind == "text" else one for one in blocks])
        else:
            parent.items.append(blocks)

    def _close_cell(self, cell: Cell, blocks: list[Block]) -> None:
        table = self.stack[-1]
        table.layout |= any(block.kind == "heading" for block in blocks)
        table.nested |= any(block.kind == "table" for block in blocks)
        table.loose.extend(blocks)
        text = compose.cell_text(blocks)
        if cell.row_header and text and "**" not in text:
            text = f"**{text}**"
        if not table.rows:
            table.rows.append(Row(head=table.head))
        table.rows[-1].cells.append(
            Cell(text, cell.header, cell.columns, cell.rows, cell.row_header)
        )


def _heading(frame: Frame, locator: str) -> list[Block]:
    blocks = [block for block in frame.blocks if block.kind != "rule"]
    if not blocks:
        return []
    if (
        any(block.kind != "text" for block in blocks)
        or sum(len(b.text) for b in blocks) > _LONGEST_HEADING
    ):
        return blocks
    text = one_line(" ".join(block.text for block in blocks))
    if text.endswith("#"):
        text = text[:-1] + "\\#"
    return [Block("heading", f"{'#' * frame.level} {text}", locator)]


def _bold(block: Block) -> Block:
    text = one_line(block.text)
    return block if "**" in text else Block("text", f"**{text}**", block.locator)


def _level(tag: str, node: LexborNode) -> int:
    level = node.attributes.get("aria-level") or tag[1:]
    return int(level) if level in {"1", "2", "3", "4", "5", "6"} else 2


def _first_number(node: LexborNode) -> int:
    start = node.attributes.get("start") or "1"
    return int(start) if start.isdecimal() and len(start) < 9 else 1


def _cell(tag: str, node: LexborNode) -> Cell:
    attributes = node.attributes
    scope = (attributes.get("scope") or "").lower()
    row_header = tag == "th" and scope in {"row", "rowgroup"}
    return Cell(
        "",
        tag == "th",
        _number(attributes.get("colspan")),
        _number(attributes.get("rowspan")),
        row_header,
    )


def _number(value: str | None) -> int:
    value = (value or "").strip()
    return int(value) if value.isdecimal() and len(value) < 6 else 1
