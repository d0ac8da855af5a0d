"""Tokens and cost of planning, the plots, and the chunkers of others."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from chunker import parse
from chunker.model import Document
from chunker.outline import outline
from chunker.policy import Policy
from chunker.tokens import count
from pipeline.evaluation import peers, plots, replay, tokens, tokens_count, tokens_form
from pipeline.evaluation.methods import Original
from pipeline.evaluation.metrics import BUDGETS
from planner_serving.model_planner import ModelPlanner, draft
from tests.planner_serving.told import ToldCompleter, count_lines

CORPUS = Path(__file__).parents[1] / "data" / "retrieval"
PAGE = "# Ferry\n\nIt sails.\n\n**Fares**\n\nThey are low and fair to all.\n\n## Crew\n\nTen.\n"


def test_reported_usage_is_priced_as_the_paper_prices_it() -> None:
    rows = tokens.evaluate(CORPUS)["methods"]
    assert rows["paper_agentic"] == {
        "files": 1, "input": 1000, "prefix": 0, "cached": 0, "output": 400, "cost": 0.0052,
    }  # fmt: skip
    assert rows["paper_wrac"]["cost"] == round((1500 * 2 + 500 * 0.5 + 100 * 8) / 1e6, 4)


def document(markdown: str) -> Document:
    return parse(markdown.encode(), "file:///p.md", "text/markdown")


def test_the_prefix_is_cached_from_the_second_call_on() -> None:
    one = tokens.product_totals([document("# A\n\nbody\n")], Policy())
    two = tokens.product_totals([document("# A\n\nbody\n")] * 2, Policy())
    assert (one.cached, two.cached) == (0, one.prefix)
    assert two.prefix == 2 * one.prefix and two.input == 2 * one.input


def test_what_is_clear_costs_nothing() -> None:
    clear = document("# A\n\nIt sails at nine.\n\n## B\n\nIt comes back at ten.\n")
    assert tokens.product_totals([clear], tokens.UNCLEAR).row()["cost"] == 0


def test_an_answer_has_a_symbol_for_each_line_that_is_asked_about() -> None:
    view = outline(document(PAGE), Policy())
    asked = draft(view, Policy())
    answer = tokens_form.answer_form(asked.lines, {"heading_1": 1, "text_3": 2}, asked.plan)
    assert answer == "12."
    assert tokens_form.unit_lines(view).splitlines()[0] == "1 h1 2 Ferry"
    assert tokens_form.ranges(view, asked.plan).startswith("1-")
    assert "sails" not in tokens_form.unit_lines(view)


def test_a_plan_says_again_what_a_model_said() -> None:
    view = outline(document(PAGE + "\n\nSome more\n\nText.\n"), Policy())
    told = ToldCompleter("123<")
    plan = ModelPlanner(told).plan(view, Policy())
    asked = draft(view, Policy())
    levels = {row.id: row.level for row in view.rows if row.level is not None} | plan.headings
    assert tokens_form.answer_form(asked.lines, levels, plan) == "123<"


def test_a_planner_is_asked_where_there_is_one() -> None:
    planner = ModelPlanner(ToldCompleter(lambda prompt: "1" * count_lines(prompt)))
    result = tokens.evaluate(CORPUS, planner=planner)
    row = result["methods"]["wrac"]
    assert row["input"] == 100 * result["files"] and row["cached"] == 80 * result["files"]
    assert "told" in result["note"]


def test_the_papers_plans_are_replayed() -> None:
    found = replay.replay(CORPUS)
    assert found["plans"] == 1 and found["problems"] == 0
    assert found["equal_texts"] == found["texts"] > 0
    assert 0 < found["lost_units"] < found["units"]


def test_windows_and_cuts_are_of_whole_tokens() -> None:
    text = "one two three four five six seven"
    assert tokens_count.windows(text, 3, 1) == [
        "one two three",
        " three four five",
        " five six seven",
    ]
    assert tokens_count.windows("", 3, 1) == [""]
    assert tokens_count.cut(text, 2) == "one two"
    assert tokens_count.cut("🏳️‍🌈", 1) in "🏳️‍🌈"


def test_plots_are_files_that_repeat(need, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    need("matplotlib", find_spec("matplotlib") is not None)
    side = {f"fc{budget}": 0.5 for budget in BUDGETS}
    rows = {"fused": side, "search": side}
    retrieval = {"methods": {"wrac": rows, "paper_wrac": rows}}
    usage = {"methods": {"wrac": {"files": 2, "cost": 0.1}}}
    first = plots.draw(retrieval, usage, tmp_path / "a")
    second = plots.draw(retrieval, usage, tmp_path / "b")
    assert [file.name for file in first] == [
        "quality-tokens.png", "quality-tokens.svg", "quality-cost.png", "quality-cost.svg",
    ]  # fmt: skip
    assert [a.read_bytes() == b.read_bytes() for a, b in zip(first, second, strict=True)] == [
        True
    ] * 4


@pytest.mark.parametrize("name", peers.PEERS)
def test_a_peer_chunks_what_it_is_given(need, name: str) -> None:  # type: ignore[no-untyped-def]
    if name == "docling_hybrid":  # asks for another typer than the command line's
        pytest.importorskip("docling_core")
    found = peers.peer_methods(count, [name])
    need(name, name in found)
    file = CORPUS / "datasets" / "Tallow Instruments" / "md" / "hygrometer.md"
    pieces = found[name]([Original("hygrometer", "md", file.read_bytes())])
    assert len(pieces) > 1
    assert all(tokens_count.count(piece.shown) <= peers.SIZE for piece in pieces)
    assert "CR2450" in " ".join(piece.shown for piece in pieces)
