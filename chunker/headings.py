"""From heading levels as found to a hierarchy: who stands under whom."""

from __future__ import annotations

from collections.abc import Sequence


def depths(levels: Sequence[int], *, titled: bool = False) -> list[int]:
    """Depth of each heading, 1 for the outermost, from the levels as found.

    A heading stands under the nearest earlier one with a smaller level, so that skipped levels
    close up and a page without h1 begins at depth 1. With `titled`, the first heading is the
    page's title and an h1 that follows it at once means that all h1 after it are its sections.
    """
    shift = titled and len(levels) > 2 and levels[0] == levels[1] == min(levels)
    open_: list[int] = []
    found: list[int] = []
    for index, level in enumerate(levels):
        if shift and index:
            level += 1
        while open_ and open_[-1] >= level:
            open_.pop()
        open_.append(level)
        found.append(len(open_))
    return found
