"""A bound on nesting before the tree is built.

The HTML parser's time grows with the square of the depth, and with the product of unclosed
formatting elements and paragraphs. Browsers stop nesting at 512; so does this.
"""

from __future__ import annotations

import re

_DEEPEST = 512
#: Formatting elements that may stay unclosed (each is built again in every later block).
_OPEN_FORMATS = 64
#: A page with fewer tags than this cannot be slow.
_FEW = 5000
_TAG = re.compile(r"<(/?)([A-Za-z][^\s/<>]*)[^<>]*>?")
_VOID = frozenset(
    "area base br col embed hr img input link meta param source track wbr "  # noqa: SIM905
    "path use circle rect".split()
)
#: Their end tag may be left out: they do not nest by themselves.
_OPTIONAL = frozenset(
    "p li dt dd tr td th thead tbody tfoot option optgroup rt rp "  # noqa: SIM905
    "colgroup caption html head body".split()
)
_FORMATS = frozenset("a b big code em font i nobr s small strike strong tt u".split())  # noqa: SIM905


def bounded(text: str) -> tuple[str, bool]:
    """The page with no tag that nests deeper than the bound, and whether any was taken out."""
    if text.count("<") < _FEW:
        return text, False
    depth = formats = 0
    cuts: list[tuple[int, int]] = []
    for found in _TAG.finditer(text):
        name = found[2].lower()
        if name in _VOID or name in _OPTIONAL:
            continue
        formatting = name in _FORMATS
        if found[1]:
            over = depth > _DEEPEST or (formatting and formats > _OPEN_FORMATS)
            depth = max(depth - 1, 0)
            formats = max(formats - 1, 0) if formatting else formats
        else:
            depth += 1
            formats += formatting
            over = depth > _DEEPEST or (formatting and formats > _OPEN_FORMATS)
        if over:
            cuts.append(found.span())
    if not cuts:
        return text, False
    parts = []
    at = 0
    for start, end in cuts:
        parts.append(text[at:start])
        at = end
    return "".join([*parts, text[at:]]), True
