"""A page's tree as two flat tables: elements in document order, and the text blocks in them.

A block is a run of inline content inside one block-level element: what a reader sees as one
piece. The walk uses no recursion and touches each node once.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field

from selectolax.lexbor import LexborHTMLParser, LexborNode

from chunker.html.region_names import BITS, class_of, name_bits

#: Elements that hold no text for a reader.
UNSEEN = frozenset(
    str.split(
        """
        script style template link meta head title iframe object embed canvas svg audio video source
        track datalist select option input textarea map area param base frame frameset progress
        meter noframes -comment -doctype
        """
    )
)
#: Elements that are not walked into.
_ALONE = UNSEEN | {"br", "hr", "img"}
INLINE = frozenset(
    str.split(
        """
        a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark math nobr q
        rp rt ruby s samp small span strike strong sub sup time tt u var wbr picture
        """
    )
)
#: Tags that are remembered for everything below them, as bits.
PATH_TAGS: tuple[str, ...] = tuple(
    str.split(
        """
        nav header footer aside main article section form ul ol table dl figure details dialog
        noscript blockquote pre button li td a h1 h2 h3 h4 p fieldset summary hidden dd
        """
    )
)
TAG_BITS: dict[str, int] = {tag: 1 << i for i, tag in enumerate(PATH_TAGS)}
TAG_BITS.update(h5=TAG_BITS["h4"], h6=TAG_BITS["h4"], th=TAG_BITS["td"], dt=TAG_BITS["dd"])
HIDDEN = TAG_BITS["hidden"]
HEADINGS = frozenset(["h1", "h2", "h3", "h4", "h5", "h6"])
#: Where a button is a part of the line that it is in.
_LINES = HEADINGS | {"summary", "dt"}
_PANEL = BITS["tabs"] | BITS["faq"]
_ROLE_TAGS = {
    "navigation": "nav",
    "banner": "header",
    "contentinfo": "footer",
    "complementary": "aside",
    "main": "main",
    "article": "article",
    "dialog": "dialog",
    "alertdialog": "dialog",
    "menu": "nav",
    "menubar": "nav",
    "button": "button",
    "list": "ul",
    "listitem": "li",
    "search": "form",
}
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.I)


def _numbers() -> array[int]:
    """A column of whole numbers that numpy can read as it is."""
    return array("q")


@dataclass(slots=True)
class Blocks:
    """The two tables. Element 0 is `<body>`; a parent comes before its children."""

    # elements (block-level only; inline ones are folded into their blocks)
    parent: array[int] = field(default_factory=_numbers)
    tag: list[str] = field(default_factory=list)
    own_names: array[int] = field(default_factory=_numbers)
    path_names: array[int] = field(default_factory=_numbers)
    path_tags: array[int] = field(default_factory=_numbers)
    signature: array[int] = field(default_factory=_numbers)
    """Number of the path of tags and first class words: equal for the cards of one list."""
    start: array[int] = field(default_factory=_numbers)
    """First block at or below the element."""
    end: array[int] = field(default_factory=_numbers)
    """One past the last block below the element."""
    node: list[int] = field(default_factory=list)
    """`mem_id` of the element."""
    # blocks
    element: array[int] = field(default_factory=_numbers)
    text: list[str] = field(default_factory=list)
    linked: array[int] = field(default_factory=_numbers)
    """Characters of the block's text that are inside links."""
    inner_names: array[int] = field(default_factory=_numbers)
    inner_tags: array[int] = field(default_factory=_numbers)
    leaves: list[list[int]] = field(default_factory=list)
    """`mem_id` of the text nodes that make up the block."""
    # what is left out before anything is judged
    unseen: dict[int, str] = field(default_factory=dict)
    images: list[tuple[int, int, int]] = field(default_factory=list)
    """`mem_id`, element, number of blocks before it, of each image."""
    hidden: list[tuple[int, str, bool]] = field(default_factory=list)
    """Element, `id` and whether it looks like a tab or an accordion's panel, of each
    outermost element that is marked as hidden, and of each `noscript`."""
    body_names: int = 0
    """Word groups of `<body class>`: a template's name often says what kind of page it is."""
    controlled: set[str] = field(default_factory=set)
    """Values of `aria-controls`: ids of what a click shows."""


class _Run:
    """The open run of inline content."""

    __slots__ = ("leaves", "linked", "names", "pieces", "tags")

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.leaves: list[int] = []
        self.linked = self.names = self.tags = 0

    def close(self, out: Blocks, element: int) -> None:
        """The run is a block of the element, where it has any text."""
        text = " ".join("".join(self.pieces).split())
        if text:
            out.element.append(element)
            out.text.append(text)
            out.linked.append(self.linked)
            out.inner_names.append(self.names)
            out.inner_tags.append(self.tags)
            out.leaves.append(self.leaves)
        self.pieces = []
        self.leaves = []
        self.linked = self.names = self.tags = 0


_UNMARKED = (0, 0, "")
#: Attributes beside the class that say something here.
_MARKING = frozenset(["id", "role", "hidden", "aria-hidden", "style", "aria-controls"])


def _marks(attributes: Mapping[str, str | None], controlled: set[str]) -> tuple[int, int, str]:
    """Word groups, tags that a role or a hidden mark stands for, and the first class word."""
    names = tags = 0
    first = ""
    value = attributes.get("class")
    if value:
        names, first = class_of(value)
    if _MARKING.isdisjoint(attributes):
        return names, 0, first
    value = attributes.get("id")
    if value:
        names |= name_bits(value)
    value = attributes.get("role")
    if value:
        tags = TAG_BITS.get(_ROLE_TAGS.get(value, ""), 0)
    if "hidden" in attributes or attributes.get("aria-hidden") == "true":
        tags |= HIDDEN
    value = attributes.get("style")
    if value and _HIDDEN_STYLE.search(value):
        tags |= HIDDEN
    value = attributes.get("aria-controls")
    if value:
        controlled.update(value.split())
    return names, tags, first


def blocks_of(tree: LexborHTMLParser) -> Blocks:
    """The tables of a parsed page; empty where it has no body."""
    body = tree.body
    out = Blocks()
    if body is None:
        return out
    out.body_names = name_bits(body.attributes.get("class") or "")
    run = _Run()
    # columns of elements; those that are only written are gathered as rows: this is the hot loop
    rows: list[tuple[int, str, int, int, int]] = [(0, "body", 0, 0, body.mem_id)]
    path_names, path_tags, signature, end = [0], [0], [0], [0]
    signatures: dict[tuple[int, str, str], int] = {(-1, "body", ""): 0}
    current = 0
    # one entry an open node: the node to go on with, the element around it, inline state around it
    stack: list[tuple[LexborNode | None, int, int, int, bool]] = []
    node = body.first_child
    names = tags = 0
    in_link = False
    while True:
        if node is None:
            if not stack:
                break
            node, above, names, tags, in_link = stack.pop()
            if above != current:
                if run.leaves:
                    run.close(out, current)
                end[current] = len(out.text)
                current = above
            continue
        tag = node.tag
        if tag == "-text":
            if not node.is_empty_text_node:
                text = node.text_content or ""
                run.pieces.append(text)
                run.leaves.append(node.mem_id)
                run.names |= names
                run.tags |= tags
                if in_link:
                    run.linked += len(text)
            elif run.pieces:
                run.pieces.append(" ")
            node = node.next
            continue
        if tag is None or tag in _ALONE:
            if tag == "br" or tag == "hr":
                run.pieces.append(" ")
            elif tag == "img":
                out.images.append((node.mem_id, current, len(out.text)))
            elif tag and tag[0] != "-":
                out.unseen[node.mem_id] = "hidden"
            node = node.next
            continue
        attributes = node.attributes
        own, own_tags, first = _marks(attributes, out.controlled) if attributes else _UNMARKED
        own_tags |= TAG_BITS.get(tag, 0)
        child = node.first_child
        if tag in INLINE or (tag == "button" and rows[current][1] in _LINES):
            if own_tags & HIDDEN and tag != "button":
                out.unseen[node.mem_id] = "hidden"
            elif child is not None:
                stack.append((node.next, current, names, tags, in_link))
                names |= own
                tags |= own_tags
                in_link = in_link or tag == "a"
                node = child
                continue
            node = node.next
            continue
        if run.leaves:
            run.close(out, current)
        stack.append((node.next, current, names, tags, in_link))
        hidden_above = path_tags[current] & HIDDEN
        if (own_tags & HIDDEN and not hidden_above) or tag == "noscript":
            panel = attributes.get("role") == "tabpanel" or bool((own | rows[current][2]) & _PANEL)
            out.hidden.append((len(rows), attributes.get("id") or "", panel))
        own |= names
        path_names.append(own | path_names[current])
        path_tags.append(own_tags | tags | path_tags[current])
        signature.append(signatures.setdefault((signature[current], tag, first), len(signatures)))
        end.append(0)
        rows.append((current, tag, own, len(out.text), node.mem_id))
        current = len(rows) - 1
        names = tags = 0
        node = child
    run.close(out, current)
    end[current] = len(out.text)
    parent, tag_names, own_names, start, mem_id = zip(*rows, strict=True)
    out.parent, out.own_names, out.start = (
        array("q", parent),
        array("q", own_names),
        array("q", start),
    )
    out.path_names, out.path_tags = array("q", path_names), array("q", path_tags)
    out.signature, out.end = array("q", signature), array("q", end)
    out.tag, out.node = list(tag_names), list(mem_id)
    return out
