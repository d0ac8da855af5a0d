"""The content region of an HTML page: which nodes are the page's own, and which are around it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from selectolax.lexbor import LexborHTMLParser, LexborNode


@dataclass(frozen=True, slots=True)
class Region:
    """What of a page's tree is content. Everything under `<body>` that is not dropped is."""

    dropped: Mapping[int, str] = field(default_factory=dict)
    """`mem_id` of an element *or a text node* to a short reason (`hidden`, `navigation`,
    `cookie`, `login`, `share`, `footer`, `boilerplate`, `template`); the whole subtree goes."""
    confidence: float = 0.0
    """0 to 1: how sure the choice is."""


#: Elements that never hold text for a reader.
_UNSEEN = frozenset(
    "script style template noscript link meta title head iframe object embed canvas svg audio "
    "video source track datalist select option input button".split()
)
_BY_TAG = {"nav": "navigation", "footer": "footer", "aside": "boilerplate", "dialog": "hidden"}
_BY_ROLE = {
    "navigation": "navigation",
    "banner": "navigation",
    "contentinfo": "footer",
    "complementary": "boilerplate",
    "search": "navigation",
    "dialog": "hidden",
    "alertdialog": "cookie",
}
_BY_NAME = (
    ("cookie", re.compile(r"cookie|consent|gdpr|onetrust", re.I)),
    ("login", re.compile(r"\b(?:log|sign)-?_?in\b|paywall", re.I)),
    ("share", re.compile(r"\b(?:social|share|sharing)\b", re.I)),
    ("navigation", re.compile(r"\b(?:nav|navbar|menu|breadcrumbs?|pagination|sidebar)\b", re.I)),
    ("footer", re.compile(r"\b(?:site-)?footer\b", re.I)),
)
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.I)


def choose(tree: LexborHTMLParser, url: str, verdicts: Mapping[str, bool] | None = None) -> Region:
    """The region of a parsed page.

    `url` is the page's own address; `verdicts` says for a block's fingerprint whether the site's
    profile takes it for template. The tree is not changed.
    """
    dropped: dict[int, str] = {}
    body = tree.body
    if body is None:
        return Region()
    inside: set[int] = set()
    for node in body.traverse():
        parent = node.parent
        if parent is not None and (parent.mem_id in inside or parent.mem_id in dropped):
            inside.add(node.mem_id)
            continue
        reason = _reason(node)
        if reason is not None and node.mem_id != body.mem_id:
            dropped[node.mem_id] = reason
    return Region(dropped, 0.5)


def _reason(node: LexborNode) -> str | None:
    tag = node.tag or ""
    if tag in _UNSEEN:
        return "hidden"
    attributes = node.attributes
    if "hidden" in attributes or attributes.get("aria-hidden") == "true":
        return "hidden"
    if _HIDDEN_STYLE.search(attributes.get("style") or ""):
        return "hidden"
    if tag == "header" and not _within_article(node):
        return "navigation"
    reason = _BY_TAG.get(tag) or _BY_ROLE.get(attributes.get("role") or "")
    if reason is not None:
        return reason
    names = f"{attributes.get('class') or ''} {attributes.get('id') or ''}"
    if tag in {"div", "ul", "section", "p", "form"} and len(names) > 1:
        for name_reason, pattern in _BY_NAME:
            if pattern.search(names):
                return name_reason
    return None


def _within_article(node: LexborNode) -> bool:
    parent = node.parent
    while parent is not None:
        if parent.tag in {"article", "main"}:
            return True
        parent = parent.parent
    return False
