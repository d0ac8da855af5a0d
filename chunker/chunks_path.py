"""The headings that a unit stands under: what is shown above a chunk's text."""

from __future__ import annotations

import re

from chunker.model import Document, Plan, show
from chunker.outline import heading_text
from chunker.tokens import Counter

_WORD = re.compile(r"\w+")


def heading_paths(document: Document, plan: Plan) -> dict[str, tuple[str, ...]]:
    """For each unit the texts of the headings above it, outermost first.

    Headings are those of the document and those that the plan implies, without those that it
    drops; `Plan.under` closes those that a unit no longer stands under. The document's title
    stands first where the headings do not say it already.
    """
    title = " ".join(document.title.split())
    stack: list[tuple[int, str, str]] = []
    paths: dict[str, tuple[str, ...]] = {}
    for unit in document.units:
        level = plan.headings.get(unit.id, unit.depth)
        if level is None:
            if unit.id in plan.under:
                while stack and stack[-1][2] != plan.under[unit.id]:
                    stack.pop()
            paths[unit.id] = _titled(title, tuple(text for _, text, _ in stack), "")
            continue
        while stack and stack[-1][0] >= level:
            stack.pop()
        text = heading_text(document.markdown[unit.start : unit.end])
        paths[unit.id] = _titled(title, tuple(text for _, text, _ in stack), text)
        if text and unit.id not in plan.dropped:
            stack.append((level, text, unit.id))
    return paths


def shortened(path: tuple[str, ...], max_tokens: int, count: Counter) -> tuple[str, ...]:
    """`path` without its outermost parts, so that it takes at most half of a chunk."""
    while path and count(show(path, "")) > max_tokens // 2:
        path = path[1:]
    return path


def _titled(title: str, path: tuple[str, ...], own: str) -> tuple[str, ...]:
    if not title or any(says(text, title) for text in (*path, own)):
        return path
    return (title, *path)


def says(heading: str, title: str) -> bool:
    """Whether a heading holds most of a title's words, or the title all of the heading's."""
    said, wanted = set(_WORD.findall(heading.casefold())), set(_WORD.findall(title.casefold()))
    if not said or not wanted:
        return not wanted
    return len(said & wanted) >= 0.6 * len(wanted) or (len(said) > 2 and said <= wanted)
