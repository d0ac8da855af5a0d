"""Results of the retrieval evaluation as Markdown tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

COLUMNS = ("fc256", "fc512", "fc1024", "fc2048", "recall@3", "mrr", "ndcg@6")
INTERVALS = ("fc512", "fc1024", "recall@3", "mrr")


def table(result: Mapping[str, Any], side: str = "fused") -> str:
    """One row a method."""
    rows = [
        [
            name,
            str(row["chunks"]),
            f"{row['mean_tokens']:.0f}",
            f"{row['lost']:.3f}",
            f"{row['unplaced']:.3f}",
            *(f"{row[side][column]:.3f}" for column in COLUMNS),
            f"{row[side]['t2c']:.0f}",
        ]
        for name, row in result["methods"].items()
    ]
    return _markdown([side, "chunks", "tokens", "lost", "unplaced", *COLUMNS, "t2c"], rows)


def differences_table(result: Mapping[str, Any], side: str = "fused") -> str:
    """What the first method has over each other, with 95% intervals."""
    found = {
        (row["against"], row["metric"]): row for row in result["differences"] if row["side"] == side
    }
    rows = [
        [name]
        + [
            f"{one['mean']:+.3f} ({one['low']:+.3f} to {one['high']:+.3f})"
            for one in (found[name, metric] for metric in INTERVALS)
        ]
        for name in dict.fromkeys(name for name, _ in found)
    ]
    return _markdown(["against", *INTERVALS], rows)


def parts_table(result: Mapping[str, Any], side: str = "fused") -> str:
    """The first method by organisation and by type of question."""
    row = next(iter(result["methods"].values()))
    rows = [
        [
            name,
            str(part["questions"]),
            *(f"{part[side][column]:.3f}" for column in COLUMNS),
            f"{part[side]['t2c']:.0f}",
        ]
        for parts in (row["by_organisation"], row["by_type"])
        for name, part in parts.items()
    ]
    return _markdown([side, "questions", *COLUMNS, "t2c"], rows)


def _markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
