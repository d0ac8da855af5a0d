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
#: The beginning of a tag, with its name and the `/` of an end tag, or of a comment.
_TAG = re.compile(r"<(?:(/?[A-Za-z][^\s/<>]*)|!--)")
_REST = re.compile(r"[^<>]*>?")
#: What lies up to the end of these is not markup.
_RAW = {
    "script": re.compile("</script", re.I),
    "style": re.compile("</style", re.I),
    "textarea": re.compile("</textarea", re.I),
    "title": re.compile("</title", re.I),
    "!--": re.compile("-->"),
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
    depth = formats = foreign = at = 0
    kinds = _Kinds()
    while at < len(text):
        for found in _TAG.finditer(text, at):
            name = found[1]
            kind = kinds[name or "!--"]
            if kind == _PASSED:
                continue
            if kind == _IS_RAW:
                end = _RAW[(name or "!--").lower()].search(text, found.end())
                at = end.start() if end else len(text)
                break
            step = -1 if name[0] == "/" else 1
            if kind == _FOREIGN:
                foreign = max(foreign + step, 0)
            elif foreign and kind == _OTHER and _end(text, found).endswith("/>"):
                continue
            formatting = kind == _FORMAT
            before = depth > _DEEPEST or (formatting and formats > _OPEN_FORMATS)
            depth = depth + step if depth or step > 0 else 0
            if formatting:
                formats = max(formats + step, 0)
            after = depth > _DEEPEST or (formatting and formats > _OPEN_FORMATS)
            if before if step < 0 else after:
                yield found.start(), found.end() + len(_end(text, found))
        else:
            return


def _end(text: str, found: re.Match[str]) -> str:
    """What follows a tag's name, up to its end."""
    rest = _REST.match(text, found.end())
    return rest[0] if rest else ""


_PASSED, _IS_RAW, _FOREIGN, _FORMAT, _BOX, _OTHER = range(6)


class _Kinds(dict[str, int]):
    """What a tag does to the depth, by its name as it is written."""

    def __missing__(self, name: str) -> int:
        plain = name.removeprefix("/").lower()
        if name.lower() in _RAW:
            kind = _IS_RAW
        elif plain in _VOID or plain in _OPTIONAL:
            kind = _PASSED
        elif plain in {"svg", "math"}:
            kind = _FOREIGN
        elif plain in _FORMATS:
            kind = _FORMAT
        else:
            kind = _BOX if plain in _HTML else _OTHER
        self[name] = kind
        return kind
