"""Results as tables: Markdown for documents, rich for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import rich.table
from rich.console import Group

COLUMNS = ("fc256", "fc512", "fc1024", "fc2048", "recall@3", "mrr", "ndcg@6")
INTERVALS = ("fc512", "fc1024", "recall@3", "mrr")


@dataclass(frozen=True, slots=True)
class Cells:
    """A table before it is written: its head, and rows of as many cells."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]

    def markdown(self) -> str:
        """As a Markdown table."""
        lines = [self.head, ["---"] * len(self.head), *self.rows]
        return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)

    def terminal(self) -> rich.table.Table:
        """As a table for `rich`: numbers to the right."""
        shown = rich.table.Table(box=None, pad_edge=False)
        for at, name in enumerate(self.head):
            shown.add_column(name, justify="right" if at else "left", no_wrap=not at)
        for row in self.rows:
            shown.add_row(*row)
        return shown


def methods(result: Mapping[str, Any], side: str = "fused") -> Cells:
    """One row a method."""
    rows = [
        [
            name,
            str(row["chunks"]),
            f"{row['mean_tokens']:.0f}",
            f"{row['lost']:.3f}",
            f"{row['unplaced']:.3f}",
            *_measures(row[side]),
        ]
        for name, row in result["methods"].items()
    ]
    return Cells([side, "chunks", "tokens", "lost", "unplaced", *COLUMNS, "t2c"], rows)


def differences(result: Mapping[str, Any], side: str = "fused") -> Cells:
    """What the first method has over each other, with 95% intervals."""
    found = {
        (row["against"], row["metric"]): row for row in result["differences"] if row["side"] == side
    }
    rows = [
        [name, *(_interval(found[name, metric]) for metric in INTERVALS)]
        for name in dict.fromkeys(name for name, _ in found)
    ]
    return Cells([f"{side}, against", *INTERVALS], rows)


def parts(result: Mapping[str, Any], side: str = "fused") -> Cells:
    """The first method by organisation and by type of question."""
    rows = [
        [name, str(part["questions"]), *_measures(part[side])]
        for first in list(result["methods"].values())[:1]
        for by in (first["by_organisation"], first["by_type"])
        for name, part in by.items()
    ]
    return Cells([side, "questions", *COLUMNS, "t2c"], rows)


def summary(result: Mapping[str, Any]) -> Group:
    """What `wrac eval retrieval` shows."""
    tables = [methods(result, "dense"), methods(result, "fused"), parts(result)]
    tables += [differences(result)] if result["differences"] else []
    for form, view in result.get("forms", {}).items():
        named = methods(view, "fused")
        tables.append(Cells([f"{form}, fused", *named.head[1:]], named.rows))
    lines = [item for table in tables for item in (table.terminal(), "")]
    if result.get("skipped"):
        lines.append(f"not installed: {', '.join(result['skipped'])}")
    return Group(*lines)


def _measures(values: Mapping[str, float]) -> list[str]:
    return [*(f"{values[column]:.3f}" for column in COLUMNS), f"{values['t2c']:.0f}"]


def _interval(row: Mapping[str, float]) -> str:
    return f"{row['mean']:+.3f} ({row['low']:+.3f} to {row['high']:+.3f})"
