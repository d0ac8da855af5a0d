"""Elements with rules of their own: code, images, maths, and what is never text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from selectolax.lexbor import LexborNode

from chunker.html.markdown_inline import Addresses, clean, escape

_SKIPPED = frozenset(
    "script style template link meta title head iframe object "  # noqa: SIM905
    "embed canvas svg "
    "datalist source track area map input select textarea progress meter param frameset "
    "noframes video audio rp".split()
)
_LANGUAGE = re.compile(
    r"(?:^|\s)(?:language-|lang-|highlight-source-|highlight-|brush:\s*|sourceCode\s+)"
    r"([A-Za-z][\w+#.-]*)"
)
_GUTTER = re.compile(
    r"(?:^|[\s_-])(?:gutter|lineno|linenos|linenodiv|line-numbers-rows)(?:$|[\s_-])"
)


def is_gutter(node: LexborNode) -> bool:
    """Whether an element holds the line numbers beside a piece of code."""
    return bool(_GUTTER.search(node.attributes.get("class") or ""))


def skipped(tag: str) -> bool:
    """Whether an element never holds text for a reader."""
    return tag in _SKIPPED


def image(node: LexborNode, addresses: Addresses) -> str:
    """An image with its text and source; nothing where it is only decoration."""
    attributes = node.attributes
    alt = clean(attributes.get("alt") or "").strip()
    if not alt and "alt" in attributes:
        return ""
    source = attributes.get("data-src") or attributes.get("src")
    target = addresses.absolute(source)
    if not alt and not target:
        return ""
    return f"![{escape(alt)}]({target})"


def code_of(node: LexborNode, dropped: Mapping[int, str]) -> str:
    """Text of a preformatted element, every space kept, line numbers beside it left out."""
    text = "".join(_code_parts(node, dropped))
    return text.replace("\r\n", "\n").replace("\r", "\n").strip("\n").rstrip()


def _code_parts(root: LexborNode, dropped: Mapping[int, str]) -> Iterator[str]:
    stack: list[LexborNode] = []
    node = root.first_child
    while node is not None or stack:
        if node is None:
            node = stack.pop().next
            continue
        if node.is_text_node:
            yield node.text_content or ""
        elif node.tag == "br":
            yield "\n"
        elif (
            node.is_element_node
            and node.mem_id not in dropped
            and not skipped(node.tag or "")
            and not is_gutter(node)
            and node.first_child is not None
        ):
            stack.append(node)
            node = node.first_child
            continue
        node = node.next


def language_of(node: LexborNode) -> str:
    """The language that a code block is marked with, on itself, its child or its parents."""
    near: list[LexborNode | None] = [node, node.css_first("code"), node.parent]
    if node.parent is not None:
        near.append(node.parent.parent)
    for one in near:
        if one is None or not one.is_element_node:
            continue
        attributes = one.attributes
        found = _LANGUAGE.search(attributes.get("class") or "")
        name = found[1] if found else attributes.get("data-lang") or attributes.get("data-language")
        if name and re.fullmatch(r"[\w+#.-]{1,30}", name):
            return "" if name in {"default", "none", "plaintext", "text"} else name
    return ""


def maths(node: LexborNode) -> str:
    """MathML as TeX where it carries it (KaTeX, MathJax, Wikipedia), else its characters."""
    annotation = node.css_first('annotation[encoding="application/x-tex"]')
    tex = annotation.text() if annotation else node.attributes.get("alttext")
    if tex and tex.strip():
        sign = "$$" if node.attributes.get("display") == "block" else "$"
        return f"{sign}{clean(tex).strip()}{sign}"
    return escape(clean(node.text(separator=" ")).strip())
