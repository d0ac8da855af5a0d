"""Title and language of a page, from the page alone."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from selectolax.lexbor import LexborHTMLParser

from chunker.html.markdown_inline import clean

_SEPARATOR = re.compile(r"\s+[|\u2013\u2014\u00b7\u2022\u00bb\u203a-]\s+|\s+::\s+|\s*[|\u00bb]\s*")
_LANG = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*$")


def title_of(tree: LexborHTMLParser, url: str) -> str:
    """The page's title without the site's name, where the page itself tells them apart.

    From `<title>`, `og:title` and a lone h1: a part of the title that is the h1 or `og:title` wins;
    an end that is `og:site_name` or the name in the address goes.
    """
    head = _text(tree, "title")
    shared = _meta(tree, "og:title")
    headings = [clean(node.text(separator=" ")).strip() for node in tree.css("h1")[:2]]
    heading = headings[0] if len(headings) == 1 else ""
    whole = head or shared or heading or (headings[0] if headings else "")
    parts = [part.strip() for part in _SEPARATOR.split(whole) if part.strip()]
    if len(parts) < 2:
        return whole
    for known in (heading, shared):
        if known and known in whole and len(known) < len(whole):
            return known
    site = _squeezed(_meta(tree, "og:site_name"))
    host = _squeezed((urlsplit(url).hostname or "").removeprefix("www."))
    for index in (len(parts) - 1, 0):
        name = _squeezed(parts[index])
        if name and (name == site or (len(name) > 2 and host.startswith(name))):
            kept = parts[:index] or parts[1:]
            return whole[whole.index(kept[0]) : whole.rindex(kept[-1]) + len(kept[-1])]
    return whole


def language(tree: LexborHTMLParser) -> str:
    """The language that the page declares, as a lower-case tag; empty where it declares none."""
    root = tree.css_first("html")
    attributes = root.attributes if root is not None else {}
    for value in (attributes.get("lang"), attributes.get("xml:lang")):
        value = (value or "").strip()
        if _LANG.match(value):
            return value.replace("_", "-").lower()
    return ""


def _text(tree: LexborHTMLParser, selector: str) -> str:
    node = tree.css_first(selector)
    return clean(node.text()).strip() if node is not None else ""


def _meta(tree: LexborHTMLParser, name: str) -> str:
    node = tree.css_first(f'meta[property="{name}"]')
    return clean(node.attributes.get("content") or "").strip() if node is not None else ""


def _squeezed(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.lower())
