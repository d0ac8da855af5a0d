"""The region of an HTML page as Markdown: nothing visible lost, nothing invented, in order.

The tree is walked once, without recursion, so that time is linear and depth is no danger.
"""

from __future__ import annotations

from collections.abc import Mapping

from selectolax.lexbor import LexborHTMLParser, LexborNode

from chunker.html import markdown_blocks as compose
from chunker.html.markdown_blocks import Block, Rendered, write
from chunker.html.markdown_frames import Frames
from chunker.html.markdown_inline import Addresses
from chunker.html.markdown_special import code_of, image, is_gutter, language_of, maths, skipped

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
    "td": "cell",
    "th": "cell",
    "caption": "caption",
    "summary": "title",
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), "heading"),
}
_SPANS = frozenset({"span", "small", "time"})
#: Elements that may be drawn apart from the element before them though nothing parts the two.
_CONTROLS = frozenset({"a", "button", "label"})
_APART = _SPANS | _CONTROLS
#: Steps of a CSS path that are written.
_STEPS = 8


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
    return write(walk.frames.blocks)


class _Walk:
    """State of one walk: open elements with their places, open frames with their text."""

    def __init__(self, dropped: Mapping[int, str], addresses: Addresses) -> None:
        self.dropped = dropped
        self.addresses = addresses
        self.frames = Frames(self.locator)
        self.trail: list[tuple[LexborNode, int]] = []

    def run(self, root: LexborNode) -> None:
        """Walk everything under `root`."""
        stack: list[tuple[LexborNode, str, int]] = []
        node, place = root.first_child, 0
        while True:
            while node is not None:
                if node.is_text_node:
                    if node.mem_id not in self.dropped:
                        self.frames.running.add(node.text_content or "")
                elif node.is_element_node:
                    place += 1
                    if node.mem_id not in self.dropped or self.is_table_part(node):
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
        self.frames.flush()

    def is_table_part(self, node: LexborNode) -> bool:
        """Whether a dropped element has to stand for the sake of the table around it.

        A table with a header is kept or dropped as a whole; in another one the place of a dropped
        cell stays empty. What is hidden takes no part in a table.
        """
        if self.dropped[node.mem_id] == "hidden":
            return False
        tag = node.tag
        if tag in {"td", "tr"}:
            if self.frames.has_header():
                return True
            if tag == "td":
                self.frames.empty_cell(node)
        return tag in {"thead", "th", "caption"}

    def enter(self, node: LexborNode) -> str | None:
        """Begin an element. What `leave` shall do at its end; None: its inside is done with."""
        tag = node.tag or ""
        kind = _FRAMES.get(tag)
        if kind is not None:
            gutter = kind == "cell" and is_gutter(node)
            return None if gutter else self.enter_frame(kind, tag, node)
        if tag in _BLOCKS:
            return self.enter_block(tag, node)
        if tag in _APART or tag in {"b", "strong"}:
            self.part(tag, node)
        if tag == "span" or tag == "font":
            return self.enter_span(node)
        if tag in _MARKS:
            self.frames.running.open(_MARKS[tag])
            return "mark"
        if tag == "a":
            return self.enter_link(node)
        return self.enter_other(tag, node)

    def enter_block(self, tag: str, node: LexborNode) -> str:
        attributes = node.attributes
        role = attributes.get("role")
        if role == "heading":
            return self.enter_frame("heading", "h2", node)
        names = (attributes.get("class") or "").split()
        if "admonition" in names or "callout" in names or role == "note":
            return self.enter_frame("quote", tag, node)
        if "admonition-title" in names or "callout-title" in names:
            return self.enter_frame("title", tag, node)
        self.frames.flush()
        return "block"

    def part(self, tag: str, node: LexborNode) -> None:
        """Keep the words of two elements apart that touch in the source and not on the screen.

        Controls and links that touch are drawn apart; so are, as a rule, two spans that both have
        attributes (badges, facts of a card) other than the style that editors split words by,
        unless they hold single letters (animated titles).
        """
        parts = self.frames.running.parts
        last = parts[-1] if parts else ""
        before = node.prev
        if not last[-1:].isalnum() or before is None or not before.is_element_node:
            return
        controls = tag in _CONTROLS or before.tag in _CONTROLS
        letters = len(last) == 1 and last.isalpha() and _is_letter(node.first_child)
        if controls or (not letters and _drawn(node) and _drawn(before)):
            parts.append(" ")

    def enter_span(self, node: LexborNode) -> str | None:
        names = node.attributes.get("class") or ""
        if "katex-html" in names.split():
            return None
        return "nothing"

    def enter_link(self, node: LexborNode) -> str | None:
        attributes = node.attributes
        if "headerlink" in (attributes.get("class") or "").split():
            return None
        self.frames.running.open("link", self.addresses.absolute(attributes.get("href")))
        return "mark"

    def enter_other(self, tag: str, node: LexborNode) -> str | None:
        running = self.frames.running
        if tag == "br":
            running.parts.append("\n")
        elif tag == "img":
            running.parts.append(image(node, self.addresses))
        elif tag == "hr":
            self.frames.flush()
            self.frames.put(Block("rule", "---", self.locator()))
        elif tag in {"pre", "listing", "xmp", "plaintext"}:
            self.frames.flush()
            code = code_of(node, self.dropped)
            if code.strip():
                text = compose.fence(code, language_of(node))
                self.frames.put(Block("code", text, self.locator()))
        elif tag == "math":
            running.parts.append(maths(node))
        elif skipped(tag):
            pass
        elif tag == "tr":
            self.frames.row()
            return "block"
        elif tag == "thead":
            self.frames.head(True)
            return "head"
        elif "-" in tag or tag == "tfoot":  # an element of the page's own making is a box
            self.frames.flush()
            return "block"
        else:
            return "nothing"
        return None

    def enter_frame(self, kind: str, tag: str, node: LexborNode) -> str:
        return "frame" if self.frames.open(kind, tag, node) else "block"

    def leave(self, what: str) -> None:
        """End an element, as `enter` said."""
        if what == "mark":
            self.frames.running.close()
        elif what == "block":
            self.frames.flush()
        elif what == "head":
            self.frames.head(False)
        elif what == "frame":
            self.frames.close()

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


def _is_letter(node: LexborNode | None) -> bool:
    text = (node.text_content or "") if node is not None and node.is_text_node else ""
    return len(text) == 1 and text.isalpha()


def _drawn(node: LexborNode) -> bool:
    return any(name not in {"style", "lang", "dir"} for name in node.attributes)
