"""What planning costs in a model's tokens, beside the two methods of the paper.

The paper's rows are the usage that its reference files report, prompts included. The product's
row counts, per file, an outline, the fixed prefix and the structural plan in the written form of
`tokens_form`; a planner that asks a model reports its own usage instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Group

from chunker import parse
from chunker.outline import outline
from chunker.policy import Policy
from chunker.repair import repair
from pipeline.evaluation import tokens_form
from pipeline.evaluation.methods_reference import Entries, agentic_entries, planned_entries
from pipeline.evaluation.retrieval_corpus import load
from pipeline.evaluation.retrieval_tables import Cells
from pipeline.evaluation.tokens_count import count
from planner_serving.structural import plan

#: Dollars for a million tokens, as the paper has them.
INPUT_PRICE, CACHED_PRICE, OUTPUT_PRICE = 2.00, 0.50, 8.00


@dataclass(frozen=True, slots=True)
class Totals:
    """Tokens over all files."""

    files: int
    input: int
    """Beyond the fixed prefix; the paper's prompts are not told apart and are in here."""
    prefix: int
    """The fixed prefix, once a file."""
    cached: int
    """Of both, what is charged as cached: the prefix from the second file on."""
    output: int

    @property
    def cost(self) -> float:
        """Dollars at the paper's prices."""
        fresh = self.input + self.prefix - self.cached
        charged = fresh * INPUT_PRICE + self.cached * CACHED_PRICE + self.output * OUTPUT_PRICE
        return charged / 1_000_000

    def row(self) -> dict[str, float]:
        """The method's entry in the JSON."""
        return {
            "files": self.files,
            "input": self.input,
            "prefix": self.prefix,
            "cached": self.cached,
            "output": self.output,
            "cost": round(self.cost, 4),
        }


def evaluate(directory: Path, policy: Policy | None = None) -> dict[str, Any]:
    """The JSON of `wrac eval tokens`. Raises `UsageError` for a folder of another form."""
    documents = [text for o in load(directory) for text in o.documents.values()]
    methods = {"wrac": product_totals(documents, policy or Policy())}
    for name, entries, key in (
        ("paper_agentic", agentic_entries(directory), "usage"),
        ("paper_wrac", planned_entries(directory), "token_usage"),
    ):
        if entries:
            methods[name] = reported_totals(entries, key)
    return {
        "files": len(documents),
        "methods": {name: totals.row() for name, totals in methods.items()},
        "note": "wrac: no model was asked; the structural plan, written in a model's answer form",
    }


def product_totals(documents: Iterable[str], policy: Policy) -> Totals:
    """Tokens of the product's outlines and plans of Markdown documents."""
    prefix = count(tokens_form.PREFIX)
    files = asked = answered = 0
    for markdown in documents:
        document = parse(markdown.encode(), "file:///document.md", "text/markdown")
        view = outline(document, policy)
        files += 1
        asked += count(tokens_form.outline_form(view))
        answered += count(tokens_form.answer_form(view, repair(document, plan(view, policy))))
    return Totals(files, asked, prefix * files, prefix * max(files - 1, 0), answered)


def reported_totals(entries: Entries, key: str) -> Totals:
    """Tokens that reference files report."""
    usage: list[Mapping[str, Any]] = [entry[key] for entry in entries.values()]
    return Totals(
        files=len(usage),
        input=sum(one["input_tokens"] for one in usage),
        prefix=0,
        cached=sum(one["input_tokens_details"]["cached_tokens"] for one in usage),
        output=sum(one["output_tokens"] for one in usage),
    )


def table(result: Mapping[str, Any]) -> Group:
    """The result for a terminal."""
    return Group(cells(result).terminal(), result["note"])


def cells(result: Mapping[str, Any]) -> Cells:
    """The methods, in tokens a file."""
    columns = ("input", "prefix", "cached", "output")
    rows = [
        [
            name,
            *(f"{row[column] / max(row['files'], 1):.0f}" for column in columns),
            f"{1000 * row['cost'] / max(row['files'], 1):.2f}",
        ]
        for name, row in result["methods"].items()
    ]
    return Cells(["tokens a file", *columns, "dollars for 1,000 files"], rows)
