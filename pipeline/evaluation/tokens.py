"""What planning costs in a model's tokens, beside the two methods of the paper.

The paper's rows are the usage that its reference files report, prompts included. The product's
are the prompts that its model planner renders, to the letter; the answers are a model's where a
planner is given, otherwise the structural plan in the model's answer form.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import reduce
from pathlib import Path
from typing import Any

from rich.console import Group

from chunker import parse
from chunker.model import Document, Outline, Plan, Usage
from chunker.outline import outline
from chunker.policy import Policy
from pipeline.evaluation import replay, tokens_form
from pipeline.evaluation.methods_reference import Entries, agentic_entries, planned_entries
from pipeline.evaluation.retrieval_corpus import load
from pipeline.evaluation.retrieval_tables import Cells
from pipeline.evaluation.tokens_count import count
from planner_serving.model_planner import Draft, draft
from planner_serving.ports import BatchPlanner
from planner_serving.prompt_prefix import PREFIX

#: Dollars for a million tokens, as the paper has them.
INPUT_PRICE, CACHED_PRICE, OUTPUT_PRICE = 2.00, 0.50, 8.00
#: A policy that asks a model about every line, and one that asks about what is unclear.
EVERYTHING = Policy(escalation_threshold=0.0)
UNCLEAR = Policy(escalation_threshold=0.6)


@dataclass(frozen=True, slots=True)
class Totals:
    """Tokens over all files."""

    files: int
    input: int
    """Beyond the fixed prefix; the paper's prompts are not told apart and are in here."""
    prefix: int = 0
    """The fixed prefix, once a call."""
    cached: int = 0
    """Of both, what is charged as cached: the prefix from the second call on."""
    output: int = 0

    @property
    def cost(self) -> float:
        """Dollars at the paper's prices."""
        fresh = self.input + self.prefix - self.cached
        charged = fresh * INPUT_PRICE + self.cached * CACHED_PRICE + self.output * OUTPUT_PRICE
        return charged / 1_000_000

    def row(self) -> dict[str, float]:
        """The method's entry in the JSON."""
        return {**asdict(self), "cost": round(self.cost, 4)}


def evaluate(
    directory: Path, policy: Policy | None = None, planner: BatchPlanner | None = None
) -> dict[str, Any]:
    """The JSON of `wrac eval tokens`. Raises `UsageError` for a folder of another form.

    `policy` says what is asked of a model (all, by default), `planner` is asked where there is one.
    """
    policy = policy or EVERYTHING
    documents = [
        parse(text.encode(), f"file:///{file}.md", "text/markdown")
        for o in load(directory)
        for file, text in o.documents.items()
    ]
    agentic, planned = agentic_entries(directory), planned_entries(directory)
    asked = policy.escalation_threshold
    lines = sum(len(draft(outline(document, policy), policy).lines) for document in documents)
    methods = {
        "wrac": _asked_of(planner, documents, policy)
        if planner
        else product_totals(documents, policy),
        **({} if asked else {"wrac_unclear": product_totals(documents, UNCLEAR)}),
    }
    if agentic:
        methods["paper_agentic"] = reported_totals(agentic, "usage")
    if planned:
        methods["paper_wrac"] = reported_totals(planned, "token_usage")
    return {
        "files": len(documents),
        "methods": {name: totals.row() for name, totals in methods.items()},
        "forms": {
            name: totals.row() for name, totals in _forms(documents, agentic, planned).items()
        },
        "replay": replay.replay(directory),
        "note": _note(planner, asked, lines, len(documents)),
    }


def _note(planner: BatchPlanner | None, threshold: float, lines: int, files: int) -> str:
    answered = (
        f"wrac: answers of {planner.identity}, in its own tokens, prefix included"
        if planner
        else "wrac: no model was asked; the structural plan, written in a model's answer form "
        f"({lines / max(files, 1):.0f} symbols a file: the most tokens, in any vocabulary)"
    )
    about = "every page" if not threshold else f"lines less sure than {threshold:g}"
    return (
        f"{answered}; asked about {about}. wrac_unclear: lines less sure than "
        f"{UNCLEAR.escalation_threshold:g} alone"
    )


def product_totals(documents: Iterable[Document], policy: Policy) -> Totals:
    """Tokens of the product's prompts, to the letter, and of structural plans as answers."""
    prefix = count(PREFIX)
    files = calls = asked = answered = 0
    for document in documents:
        question = draft(outline(document, policy), policy)
        files += 1
        calls += len(question.prompts)
        asked += sum(count(prompt.body) for prompt in question.prompts)
        answered += sum(map(count, _answers(question)))
    return Totals(files, asked, prefix * calls, prefix * max(calls - 1, 0), answered)


def _answers(question: Draft) -> list[str]:
    levels = {id: heading.level for id, heading in question.found.headings.items()}
    symbols = tokens_form.answer_form(question.lines, levels, question.plan)
    return [symbols[window.start : window.end] for window in question.windows]


def _asked_of(planner: BatchPlanner, documents: Sequence[Document], policy: Policy) -> Totals:
    """What a model reports for the answers that it gave. Raises what kept it from giving one."""
    plans = planner.plan_many([outline(document, policy) for document in documents], policy)
    for plan in plans:
        if isinstance(plan, Exception):
            raise plan
    used = reduce(Usage.__add__, (plan.usage for plan in plans if isinstance(plan, Plan)), Usage())
    return Totals(
        len(documents), used.input_tokens, 0, used.cached_input_tokens, used.output_tokens
    )


def reported_totals(entries: Entries, key: str) -> Totals:
    """Tokens that reference files report."""
    usage: list[Mapping[str, Any]] = [entry[key] for entry in entries.values()]
    return Totals(
        files=len(usage),
        input=sum(one["input_tokens"] for one in usage),
        cached=sum(one["input_tokens_details"]["cached_tokens"] for one in usage),
        output=sum(one["output_tokens"] for one in usage),
    )


def _forms(documents: Sequence[Document], agentic: Entries, planned: Entries) -> dict[str, Totals]:
    """Other ways to ask the same, by what they say alone, their instructions left out."""

    def ranges(document: Document) -> tuple[str, str]:
        view: Outline = outline(document, EVERYTHING)
        plan = draft(view, EVERYTHING).plan
        return tokens_form.unit_lines(view), tokens_form.ranges(view, plan)

    def text(entry: Mapping[str, Any]) -> tuple[str, str]:
        return replay.markdown_of(entry), "\n".join(agentic[Path(entry["filename"]).stem]["chunks"])

    def units(entry: Mapping[str, Any]) -> tuple[str, str]:
        return json.dumps(entry["structure_map_output"], ensure_ascii=False), json.dumps(
            entry["gpt_chunks"]
        )

    both = [entry for name, entry in planned.items() if name in agentic]
    return {
        "text_in_text_out": _summed(text, both),
        "units_as_json": _summed(units, list(planned.values())),
        "ids_and_ranges": _summed(ranges, documents),
    }


def _summed(form: Callable[[Any], tuple[str, str]], some: Sequence[Any]) -> Totals:
    said = [form(one) for one in some]
    return Totals(
        len(said),
        input=sum(count(asked) for asked, _ in said),
        output=sum(count(answer) for _, answer in said),
    )


def table(result: Mapping[str, Any]) -> Group:
    """The result for a terminal."""
    shown = [cells(result), form_cells(result)]
    if result["replay"]:
        shown.append(replay_cells(result))
    return Group(*(one.terminal() for one in shown), result["note"])


def cells(result: Mapping[str, Any]) -> Cells:
    """The methods, in tokens a file, and their cost beside the paper's baseline."""
    columns = ("input", "prefix", "cached", "output")
    baseline = result["methods"].get("paper_agentic")
    rows = [
        [
            name,
            *(f"{row[column] / max(row['files'], 1):.0f}" for column in columns),
            f"{_each(row):.2f}",
            f"{_each(row) / _each(baseline):.1%}" if baseline else "",
        ]
        for name, row in result["methods"].items()
    ]
    heads = ["tokens a file", *columns, "dollars for 1,000 files", "of agentic"]
    return Cells(heads, rows)


def _each(row: Mapping[str, float]) -> float:
    return 1000 * row["cost"] / max(row["files"], 1)


def form_cells(result: Mapping[str, Any]) -> Cells:
    """The forms, in tokens a file without instructions."""
    rows = [
        [name, *(f"{row[column] / max(row['files'], 1):.0f}" for column in ("input", "output"))]
        for name, row in result["forms"].items()
    ]
    return Cells(["tokens a file, no instructions", "input", "output"], rows)


def replay_cells(result: Mapping[str, Any]) -> Cells:
    """What became of the paper's plans."""
    found = result["replay"]
    repairs = ", ".join(f"{name} {times}" for name, times in found["repairs"].items())
    rows = [
        ["plans", str(found["plans"])],
        ["chunk texts that come out the same", _share(found, "equal_texts", "texts")],
        ["the same below the path of headings", _share(found, "equal_bodies", "texts")],
        ["units of body text that the plans lost", _share(found, "lost_units", "units")],
        ["their tokens", _share(found, "lost_tokens", "tokens")],
        ["broken invariants once losses are named", str(found["problems"])],
        ["plans that a repair would change, by rule", repairs],
    ]
    return Cells(["the paper's plans, replayed", ""], rows)


def _share(found: Mapping[str, int], part: str, whole: str) -> str:
    return f"{found[part]} of {found[whole]} ({found[part] / max(found[whole], 1):.1%})"
