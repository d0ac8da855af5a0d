"""Title and language of a page, from the page alone."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from selectolax.lexbor import LexborHTMLParser

from chunker.html.markdown_inline import clean

_SEPARATOR = re.compile(
    r"\s+[|\u2013\u2014\u00b7\u2022\u00bb\u203a:~-]\s+|\s+::\s+|\s*[|\u00bb]\s*|\u2013\s+"
)
#: What documentation tools put beside a heading to link to it.
_PILCROW = " \n\u00b6\u00a7#"
_LANG = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*$")


def title_of(tree: LexborHTMLParser, url: str) -> str:
    """The page's title without the site's name, where the page itself tells them apart.

    An h1 that is not the site's name and shares its words with `<title>` or `og:title` is it;
    otherwise those two, `og:title` first, without the parts at their ends that name the site
    (`og:site_name`, or a name that stands in the address).
    """
    head = _text(tree, "title")
    shared = _meta(tree, "og:title")
    sites = {_squeezed(_meta(tree, "og:site_name"))} - {""}
    host = (urlsplit(url).hostname or "").removeprefix("www.")
    headings = [
        text
        for node in tree.css("h1")[:3]
        for separator in ("", " ")  # its elements may part words, or letters
        if (text := clean(node.text(separator=separator)).strip(_PILCROW))
        and not _is_site(text, sites, host)
    ]
    for heading in headings:
        if _shares_words(heading, head) or _shares_words(heading, shared):
            return " ".join(heading.split())
    whole = shared or head or (headings[0] if headings else "")
    return " ".join(_without_site(whole, sites, host).split())


def _is_site(text: str, sites: set[str], host: str) -> bool:
    name = _squeezed(text)
    label = max((part for part in host.split(".")[:-1]), key=len, default="")
    label = _squeezed(label)
    return (
        name in sites
        or (len(name) > 2 and name in _squeezed(host))
        or (len(label) > 3 and label in name and len(name) < len(label) + 12)
    )


def _shares_words(heading: str, title: str) -> bool:
    """At least half of the heading's words are in the title."""
    words = set(re.findall(r"\w+", heading.lower()))
    return bool(words) and 2 * len(words & set(re.findall(r"\w+", title.lower()))) >= len(words)


def _without_site(title: str, sites: set[str], host: str) -> str:
    cuts = [(0, 0), *(found.span() for found in _SEPARATOR.finditer(title)), (len(title),) * 2]
    first, last = 0, len(cuts) - 1
    while last - first > 1 and _is_site(title[cuts[last - 1][1] : cuts[last][0]], sites, host):
        last -= 1
    while last - first > 1 and _is_site(title[cuts[first][1] : cuts[first + 1][0]], sites, host):
        first += 1
    return title[cuts[first][1] : cuts[last][0]].strip()


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
