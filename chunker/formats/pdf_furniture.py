"""What stands on the pages of a PDF and is none of its text: page numbers, running heads."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from chunker.formats.pdf_page import Line, Page

_PAGE_NUMBER = re.compile(
    r"(?:page\s*)?[-\u2013\u2014]?\s*\d{1,4}\s*(?:(?:/|of)\s*\d{1,4})?\s*[-\u2013\u2014]?", re.I
)

#: Words of a line with its numbers taken out, and its height in fiftieths of the page.
Key = tuple[str, int]


def without_furniture(pages: Sequence[Page]) -> list[Page]:
    """Pages without lone page numbers, without the lines that most pages have at head and foot,
    and without running heads that count with the pages."""
    edges = [_edge_lines(page) for page in pages]
    size = body_size(pages)
    seen: Counter[Key] = Counter()
    counted: dict[Key, list[int]] = {}
    for page, indices in zip(pages, edges, strict=True):
        lines = [page.lines[index] for index in indices]
        seen.update({_key(line, page) for line in lines})
        for line in lines:
            number = _number_at_end(line, size)
            if number is not None:
                counted.setdefault(_key(line, page), []).append(number - page.number)
    often = max(3, (len(pages) + 1) // 2)
    repeated = {key for key, count in seen.items() if count >= often}
    repeated |= {key for key, steps in counted.items() if len(steps) > 1 and len(set(steps)) == 1}
    kept = []
    for page, indices in zip(pages, edges, strict=True):
        gone = {
            index
            for index in indices
            if _key(page.lines[index], page) in repeated or _is_number_alone(page, index)
        }
        lines = [line for index, line in enumerate(page.lines) if index not in gone]
        kept.append(replace(page, lines=tuple(lines)))
    return kept


def body_size(pages: Sequence[Page]) -> float:
    """The size that most of the text is set in."""
    sizes: Counter[float] = Counter()
    for page in pages:
        for line in page.lines:
            sizes[line.size] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 0.0


def _edge_lines(page: Page) -> list[int]:
    """Lines in the outer eighth at head and foot, two at each at most."""
    by_height = sorted(range(len(page.lines)), key=lambda index: page.lines[index].y)
    low = [index for index in by_height[:2] if page.lines[index].y < page.height / 8]
    high = [index for index in by_height[-2:] if page.lines[index].y > page.height * 7 / 8]
    return low + [index for index in high if index not in low]


def _key(line: Line, page: Page) -> Key:
    return re.sub(r"\d+", "#", line.text), round(line.y / page.height * 50)


def _number_at_end(line: Line, size: float) -> int | None:
    """The number that a line of plain small type begins or ends with; titles have other type."""
    if line.bold or line.size > size or len(line.words) < 2:
        return None
    ends = (line.words[-1].text, line.words[0].text)
    return next((int(text) for text in ends if text.isdecimal() and len(text) < 5), None)


def _is_number_alone(page: Page, index: int) -> bool:
    line = page.lines[index]
    if not _PAGE_NUMBER.fullmatch(line.text):
        return False
    others = (abs(other.y - line.y) for i, other in enumerate(page.lines) if i != index)
    return min(others, default=100.0) > 1.5 * line.size
