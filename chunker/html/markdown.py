"""The region of an HTML page as Markdown: nothing visible lost, nothing invented, in order.

The tree is walked once, without recursion, so that time is linear and depth is no danger.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode

from chunker.html import markdown_blocks as compose
from chunker.html.markdown_blocks import Block, Frame
from chunker.html.markdown_inline import Addresses, one_line
from chunker.html.markdown_special import code_of, image, language_of, maths, skipped
from chunker.html.table import Cell, Row

_BLOCKS = frozenset(
    "address article aside body center dd details dialog dir div dl dt fieldset "  # noqa: SIM905
    "figcaption figure "
    "footer form header hgroup legend li main menu nav ol p section summary ul search tbody "
    "html".split()
)
_MARKS = {
    "b": "**",
    "strong": "**",
    "i": "*",
    "em": "*",
    "cite": "*",
    "var": "*",
    "dfn": "*",
    "del": "~~",
    "s": "~~",
    "strike": "~~",
    "code": "`",
    "kbd": "`",
    "samp": "`",
    "tt": "`",
    "sup": "^",
    "q": '"',
    "rt": "(",
}
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_FRAMES = {
    "ul": "list",
    "ol": "list",
    "menu": "list",
    "dir": "list",
    "dl": "list",
    "li": "item",
    "dt": "term",
    "dd": "definition",
    "blockquote": "quote",
    "table": "table",
    "tr": "row",
    "td": "cell",
    "th": "cell",
    "caption": "caption",
    "summary": "summary",
    **dict.fromkeys(_HEADINGS, "heading"),
}
_SPANS = frozenset({"span", "small", "time"})
#: Elements that may be drawn apart from the element before them though nothing parts the two.
_APART = _SPANS | {"a", "button", "label"}
#: Containers nested deeper than this are walked and not marked: it bounds the indent.
_DEEPEST = 24
#: Steps of a CSS path that are written.
_STEPS = 8


@dataclass(frozen=True, slots=True)
class Rendered:
    """Markdown of a page, and where in the tree its blocks came from."""

    markdown: str
    blocks: tuple[tuple[int, str], ...]
    """Start offset and CSS path of each block, in order."""


def render(tree: LexborHTMLParser, dropped: Mapping[int, str], url: str) -> Rendered:
    """The Markdown of what is not dropped.

    `dropped` has the `mem_id` of nodes that are left out with all that is under them; `url` is
    the page's address, which relative targets are resolved against.
    """
    body = tree.body
    if body is None:
        return Rendered("", ())
    base = tree.css_first("base[href]")
    walk = _Walk(dropped, Addresses(url, base.attributes.get("href") if base else None))
    walk.run(body)
    return _written(walk.frames[0].blocks)


def _written(blocks: list[Block]) -> Rendered:
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


class _Walk:
    """State of one walk: open elements with their places, open frames with their text."""

    def __init__(self, dropped: Mapping[int, str], addresses: Addresses) -> None:
        self.dropped = dropped
        self.addresses = addresses
        self.frames = [Frame("flow")]
        self.trail: list[tuple[LexborNode, int]] = []

    def run(self, root: LexborNode) -> None:
        """Walk everything under `root`."""
        stack: list[tuple[LexborNode, str, int]] = []
        node, place = root.first_child, 0
        while True:
            while node is not None:
                if node.is_text_node:
                    if node.mem_id not in self.dropped:
                        self.frames[-1].running.add(node.text_content or "")
                elif node.is_element_node:
                    place += 1
                    if node.mem_id not in self.dropped:
                        self.trail.append((node, place))
                        leave = self.enter(node)
                        if leave is None:
                            self.trail.pop()
                        else:
                            stack.append((node, leave, place))
                            node, place = node.first_child, 0
                            continue
                node = node.next
            if not stack:
                break
            done, leave, place = stack.pop()
            self.leave(leave)
            self.trail.pop()
            node = done.next
        self.flush()

    def enter(self, node: LexborNode) -> str | None:
        """Begin an element. What `leave` shall do at its end; None: its inside is done with."""
        tag = node.tag or ""
        frame = _FRAMES.get(tag)
        if frame is not None:
            return self.enter_frame(tag, frame, node)
        if tag in _BLOCKS:
            return self.enter_block(tag, node)
        if tag in _APART:
            self.part(tag, node)
        if tag == "span" or tag == "font":
            return self.enter_span(node)
        if tag in _MARKS:
            self.frames[-1].running.open(_MARKS[tag])
            return "mark"
        if tag == "a":
            return self.enter_link(node)
        return self.enter_other(tag, node)

    def enter_block(self, tag: str, node: LexborNode) -> str:
        attributes = node.attributes
        role = attributes.get("role")
        if role == "heading":
            return self.enter_frame("h2", "heading", node)
        names = (attributes.get("class") or "").split()
        if "admonition" in names or "callout" in names or role == "note":
            return self.enter_frame(tag, "quote", node)
        if "admonition-title" in names or "callout-title" in names:
            return self.enter_frame(tag, "summary", node)
        self.flush()
        return "block"

    def part(self, tag: str, node: LexborNode) -> None:
        """Keep the words of two elements apart that touch in the source and not on the screen.

        Controls and links that touch are drawn apart; so are, as a rule, two spans that both have
        attributes (badges, facts of a card) other than the style that editors split words by,
        unless they hold single letters (animated titles).
        """
        parts = self.frames[-1].running.parts
        last = parts[-1] if parts else ""
        before = node.prev
        if not last[-1:].isalnum() or before is None or not before.is_element_node:
            return
        controls = tag not in _SPANS or before.tag not in _SPANS
        letters = len(last) == 1 and last.isalpha()
        if controls or (not letters and _drawn(node) and _drawn(before)):
            parts.append(" ")

    def enter_span(self, node: LexborNode) -> str | None:
        names = node.attributes.get("class") or ""
        if "katex-html" in names:
            return None
        return "nothing"

    def enter_link(self, node: LexborNode) -> str | None:
        attributes = node.attributes
        if "headerlink" in (attributes.get("class") or ""):
            return None
        self.frames[-1].running.open("link", self.addresses.absolute(attributes.get("href")))
        return "mark"

    def enter_other(self, tag: str, node: LexborNode) -> str | None:
        running = self.frames[-1].running
        if tag == "br":
            running.parts.append("\n")
        elif tag == "img":
            running.parts.append(image(node, self.addresses))
        elif tag == "hr":
            self.flush()
            self.put(Block("rule", "---", self.locator()))
        elif tag in {"pre", "listing", "xmp", "plaintext"}:
            self.flush()
            code = code_of(node, self.dropped)
            if code.strip():
                text = compose.fence(code, language_of(node))
                self.put(Block("code", text, self.locator()))
        elif tag == "math":
            running.parts.append(maths(node))
        elif skipped(tag):
            pass
        elif "-" in tag or tag in {"thead", "tfoot"}:
            self.flush()
            if tag == "thead":
                self.table().head = True
            return tag if tag == "thead" else "block"
        else:
            return "nothing"
        return None

    def enter_frame(self, tag: str, kind: str, node: LexborNode) -> str:
        self.flush()
        top = self.frames[-1]
        if len(self.frames) > _DEEPEST or (kind == "heading" and top.kind == "heading"):
            return "block"
        frame = Frame(kind)
        if kind == "heading":
            frame.level = _HEADINGS.get(tag) or 2
            level = node.attributes.get("aria-level") or ""
            if level.isdecimal() and len(level) < 3:
                frame.level = min(max(int(level), 1), 6)
        elif kind == "list":
            start = (node.attributes.get("start") or "1") if tag == "ol" else "-1"
            frame.level = int(start) if start.lstrip("-").isdecimal() and len(start) < 9 else 1
            if tag == "ol" and frame.level < 0:
                frame.level = 1
        elif kind == "cell":
            frame.cell = _cell(tag, node)
        self.frames.append(frame)
        return kind

    def leave(self, what: str) -> None:
        """End an element, as `enter` said."""
        if what == "mark":
            self.frames[-1].running.close()
        elif what == "block":
            self.flush()
        elif what == "thead":
            self.flush()
            self.table().head = False
        elif what != "nothing":
            self.flush()
            frame = self.frames.pop()
            self.flush()
            self.close(frame)

    def close(self, frame: Frame) -> None:
        """Put a finished container into the one it stands in."""
        kind, blocks = frame.kind, frame.blocks
        if kind == "heading":
            self.put(*_heading(frame, self.locator()))
        elif kind == "summary":
            plain = len(blocks) == 1 and blocks[0].kind == "text"
            self.put(*([_bold(blocks[0])] if plain else blocks))
        elif kind == "list":
            siblings = self.frames[-1].blocks
            before = siblings[-1] if siblings else None
            self.put(*compose.compose_list(frame, before, self.locator()))
        elif kind in {"item", "term", "definition"}:
            self.close_item(kind, blocks)
        elif kind == "quote":
            text = compose.join(blocks)
            if text:
                self.put(Block("quote", compose.quote(text), self.locator()))
        elif kind == "table":
            self.put(*compose.compose_table(frame, self.locator()))
        else:
            self.close_table_part(frame)

    def close_item(self, kind: str, blocks: list[Block]) -> None:
        parent = self.frames[-1]
        if parent.kind != "list":
            if parent.kind == "flow" or kind != "item":
                self.put(*blocks)
            else:
                single = Frame("list", level=-1, items=[blocks])
                self.put(*compose.compose_list(single, None, self.locator()))
        elif kind == "definition" and parent.items:
            parent.items[-1].extend(blocks)
        elif kind == "term":
            plain = [_bold(block) if block.kind == "text" else block for block in blocks]
            parent.items.append(plain)
        else:
            parent.items.append(list(blocks))

    def close_table_part(self, frame: Frame) -> None:
        table = self.table()
        if frame.kind == "caption":
            table.captions.extend(frame.blocks)
        elif frame.kind == "row":
            if table is not frame:
                table.rows.extend(frame.rows)
        elif frame.cell is not None:
            text = compose.cell_text(frame.blocks)
            kinds = {block.kind for block in frame.blocks}
            table.layout |= "heading" in kinds
            table.nested |= "table" in kinds
            table.loose.extend(frame.blocks)
            if not table.rows or (self.frames[-1].kind == "row" and not self.frames[-1].layout):
                table.rows.append(Row(head=table.head))
            if self.frames[-1].kind == "row":
                self.frames[-1].layout = True
            cell = frame.cell
            if cell.row_header and text and not text.startswith("**"):
                text = f"**{text}**"
            table.rows[-1].cells.append(
                Cell(text, cell.header, cell.columns, cell.rows, cell.row_header)
            )

    def table(self) -> Frame:
        """The innermost open table, or the innermost frame where there is none."""
        for frame in reversed(self.frames):
            if frame.kind == "table":
                return frame
        return self.frames[-1]

    def put(self, *blocks: Block) -> None:
        """Add finished blocks to the open container."""
        frame = self.frames[-1]
        if frame.kind == "list":
            for block in blocks:
                if block.kind == "list" and frame.items:
                    frame.items[-1].append(block)
                else:
                    frame.items.append([block])
        elif frame.kind in {"table", "row"}:
            self.table().captions.extend(blocks)
        else:
            frame.blocks.extend(blocks)

    def flush(self) -> None:
        """The running text of the open container is a paragraph."""
        running = self.frames[-1].running
        if not running.parts:
            return
        text = running.take()
        if text:
            locator = self.locator()
            self.put(*(Block("text", one, locator) for one in text.split("\n\n")))

    def locator(self) -> str:
        """A CSS path to the open element: from the nearest id, or its last steps."""
        steps: list[str] = []
        for node, place in self.trail[: -_STEPS - 1 : -1]:
            name = node.id
            if name and name.replace("-", "").replace("_", "").isalnum():
                steps.append(f"#{name}" if not name[0].isdecimal() else f'[id="{name}"]')
                break
            steps.append(f"{node.tag}:nth-child({place})")
        return " > ".join(reversed(steps))


def _drawn(node: LexborNode) -> bool:
    return any(name not in {"style", "lang", "dir"} for name in node.attributes)


def _heading(frame: Frame, locator: str) -> list[Block]:
    blocks = [block for block in frame.blocks if block.kind != "rule"]
    if not blocks:
        return []
    if any(block.kind != "text" for block in blocks) or sum(len(b.text) for b in blocks) > 1000:
        return blocks
    text = one_line(" ".join(block.text for block in blocks))
    if text.endswith("#"):
        text = text[:-1] + "\\#"
    return [Block("heading", f"{'#' * frame.level} {text}", locator)]


def _bold(block: Block) -> Block:
    text = one_line(block.text)
    return block if "**" in text else Block("text", f"**{text}**", block.locator)


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
