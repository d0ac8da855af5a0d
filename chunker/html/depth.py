"""A bound on nesting before the tree is built.

The HTML parser's time grows with the square of the depth, and with the product of unclosed
formatting elements and paragraphs. Browsers stop nesting at 512; so does this.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_DEEPEST = 512
#: Formatting elements that may stay unclosed (each is built again in every later block).
_OPEN_FORMATS = 64
#: A page with fewer tags than this cannot be slow.
_FEW = 5000
_TAG = re.compile(r"<(?:(/?)([A-Za-z][^\s/<>]*)[^<>]*>?|!--)")
#: What lies up to the end of these is not markup.
_RAW = {
    "script": re.compile("</script", re.I),
    "style": re.compile("</style", re.I),
    "textarea": re.compile("</textarea", re.I),
    "title": re.compile("</title", re.I),
    "": re.compile("-->"),
}
_VOID = frozenset(
    "area base br col embed hr img input link meta param source track wbr".split()  # noqa: SIM905
)
#: Their end tag may be left out: they do not nest by themselves.
_OPTIONAL = frozenset(
    "p li dt dd tr td th thead tbody tfoot option optgroup rt rp "  # noqa: SIM905
    "colgroup caption html head body".split()
)
_FORMATS = frozenset("a b big code em font i nobr s small strike strong tt u".split())  # noqa: SIM905
#: They leave SVG and MathML, where `/>` ends an element.
_HTML = _FORMATS | frozenset("blockquote center div dl menu ol pre span table ul var".split())  # noqa: SIM905


def bounded(text: str) -> tuple[str, bool]:
    """The page with no tag that nests deeper than the bound, and whether any was taken out."""
    if text.count("<") < _FEW:
        return text, False
    cuts = list(_too_deep(text))
    if not cuts:
        return text, False
    parts = []
    at = 0
    for start, end in cuts:
        parts.append(text[at:start])
        at = end
    return "".join([*parts, text[at:]]), True


def _too_deep(text: str) -> Iterator[tuple[int, int]]:
    depth = formats = foreign = resume = 0
    for found in _TAG.finditer(text):
        if found.start() < resume:
            continue
        name = (found[2] or "").lower()
        if name in _RAW and not found[1]:
            end = _RAW[name].search(text, found.end())
            resume = end.start() if end else len(text)
            continue
        if name in _VOID or name in _OPTIONAL:
            continue
        step = -1 if found[1] else 1
        if name in {"svg", "math"}:
            foreign = max(foreign + step, 0)
        elif foreign and name not in _HTML and found[0].endswith("/>"):
            continue
        formatting = name in _FORMATS
        before = depth > _DEEPEST or (formatting and formats > _OPEN_FORMATS)
        depth = max(depth + step, 0)
        formats = max(formats + step, 0) if formatting else formats
        after = depth > _DEEPEST or (formatting and formats > _OPEN_FORMATS)
        if before if step < 0 else after:
            yield found.span()
