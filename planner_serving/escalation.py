"""Which lines of a page the structural planner is not sure of, so that a model is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from planner_serving.prompt import Line


def unclear(lines: Sequence[Line], sure: Mapping[str, float], threshold: float) -> list[int]:
    """Numbers of the lines whose decision is less sure than `threshold`.

    0, and 1, ask about every line, those that nothing speaks against as well.
    """
    if not 0 < threshold < 1:
        return list(range(len(lines)))
    return [i for i, line in enumerate(lines) if sure.get(line.id, 1.0) < threshold]
