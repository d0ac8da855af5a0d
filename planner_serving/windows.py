"""Which lines of a page a model is asked about, in which pieces, and how the pieces agree again.

A long stretch of lines is asked in windows that overlap. Where windows overlap:

1. a later window's levels are shifted by the difference that most of the lines show which both
   windows took for headings: a window does not know how deep it stands;
2. of two answers for a line that of the window counts whose centre is nearer; of equally near
   ones that of the earlier window;
3. a line for which that window has no answer takes the other's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from planner_serving.grammar import LEVELS

#: Most lines in one prompt, and how many two windows share.
LINES: Final = 64
OVERLAP: Final = 16
#: Lines on either side of an unclear one that are asked with it.
MARGIN: Final = 4


@dataclass(frozen=True, slots=True)
class Window:
    """Lines `start` to `end`, half open."""

    start: int
    end: int

    def distance(self, line: int) -> int:
        """Twice the distance of a line from the centre."""
        return abs(2 * line - (self.start + self.end - 1))


def windows(unclear: Iterable[int], lines: int) -> list[Window]:
    """The windows that hold all unclear ones of so many lines, in order.

    A page that fits in one window and is unclear for more than half is asked as a whole.
    """
    stretches: list[list[int]] = []
    for line in sorted(set(unclear)):
        start, end = max(line - MARGIN, 0), min(line + MARGIN + 1, lines)
        if stretches and start <= stretches[-1][1]:
            stretches[-1][1] = end
        else:
            stretches.append([start, end])
    if lines <= LINES and sum(end - start for start, end in stretches) > lines / 2:
        return [Window(0, lines)]
    return [window for start, end in stretches for window in _cut(start, end)]


def _cut(start: int, end: int) -> list[Window]:
    """As few windows as hold a stretch, of equal length."""
    length, step = end - start, LINES - OVERLAP
    count = 1 if length <= LINES else -(-(length - OVERLAP) // step)
    each = -(-(length + (count - 1) * OVERLAP) // count)
    return [
        Window(at, min(at + each, end))
        for at in (start + i * (each - OVERLAP) for i in range(count))
    ]


def reconciled(answers: Sequence[tuple[Window, Sequence[str | None]]]) -> dict[int, str]:
    """One symbol for each line that any window has an answer for; windows in order."""
    found: dict[int, str] = {}
    nearest: dict[int, int] = {}
    for window, symbols in answers:
        said = dict(enumerate(symbols, window.start))
        shift = _shift(found, said)
        for line, symbol in said.items():
            if symbol is None or (line in found and nearest[line] <= window.distance(line)):
                continue
            found[line] = _shifted(symbol, shift)
            nearest[line] = window.distance(line)
    return found


def _shift(before: Mapping[int, str], after: Mapping[int, str | None]) -> int:
    """What a window's levels lack against those of the windows before it."""
    differences = Counter(
        int(before[line]) - int(symbol)
        for line, symbol in after.items()
        if symbol is not None and symbol in LEVELS and before.get(line, ".") in LEVELS
    )
    most = max(differences.values(), default=0)
    return min((d for d, n in differences.items() if n == most), key=abs, default=0)


def _shifted(symbol: str, shift: int) -> str:
    return str(min(max(int(symbol) + shift, 1), len(LEVELS))) if symbol in LEVELS else symbol
