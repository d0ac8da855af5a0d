from __future__ import annotations

from dataclasses import replace

from chunker.chunks import chunks
from chunker.chunks_path import heading_paths
from chunker.model import Boundary, Chunk, Document, Plan, show
from chunker.outline import outline
from chunker.parse import parse
from chunker.policy import Policy
from chunker.tokens import tokenizer
from planner_serving.structural import plan as structural_plan


def count(text: str) -> int:
    return len(tokenizer().encode(text).ids)


def page(markdown: str, title: str = "") -> Document:
    document = parse(markdown.encode(), "https://example.org/page", "text/markdown")
    return Document(
        **{name: getattr(document, name) for name in document.__slots__ if name != "title"},
        title=title or document.title,
    )


def one_group(document: Document) -> Plan:
    ids = tuple(unit.id for unit in document.units)
    return Plan("test", (ids,), {}, (Boundary(ids[0], "test", "start", 1.0),))


def one_each(document: Document) -> Plan:
    ids = tuple(unit.id for unit in document.units)
    return Plan("test", tuple((id,) for id in ids), {}, ())


def made(markdown: str, policy: Policy | None = None, title: str = "") -> tuple[Chunk, ...]:
    document = page(markdown, title)
    return chunks(document, one_group(document), policy or Policy(), count)


def test_text_is_the_slice_of_the_page_with_its_own_white_space() -> None:
    (chunk,) = made("# Tyre\n\nYou will need:\n- Jack\n-  Wrench")
    assert chunk.text == "# Tyre\n\nYou will need:\n- Jack\n-  Wrench"
    assert chunk.spans == ((0, len(chunk.text)),)


def test_a_ruler_between_units_is_left_out() -> None:
    (chunk,) = made("One.\n\n---\n\nTwo.")
    assert chunk.text == "One.\n\nTwo."


def test_a_unit_that_is_not_in_the_group_is_not_in_the_text() -> None:
    document = page("One.\n\nTwo.\n\nThree.")
    plan = Plan("test", (("text_1", "text_3"),), {"text_2": "ad"}, ())
    (chunk,) = chunks(document, plan, Policy(), count)
    assert chunk.text == "One.\n\nThree."
    assert chunk.unit_ids == ("text_1", "text_3")


def test_the_path_is_that_of_the_first_unit_and_leaves_itself_out() -> None:
    document = page("# A\n\n## **B** [c](https://e.org)\n\nText.\n\n### D\n\nMore.")
    found = chunks(document, one_each(document), Policy(), count)
    assert [chunk.heading_path for chunk in found] == [
        (),
        ("A",),
        ("A", "B c"),
        ("A", "B c"),
        ("A", "B c", "D"),
    ]


def test_no_path_where_the_policy_wants_none() -> None:
    document = page("# A\n\nText.")
    found = chunks(document, one_each(document), Policy(context="none"), count)
    assert [chunk.shown for chunk in found] == ["# A", "Text."]


def test_the_title_comes_first_where_no_heading_says_it() -> None:
    assert made("## Fees\n\nText.", title="Library card")[0].heading_path == ("Library card",)
    assert made("Text.", title="Library card")[0].heading_path == ("Library card",)
    assert made("# Library card\n\nText.", title="Library card")[0].heading_path == ()
    assert made("# The library card\n\nText.", title="Library Card - City")[0].heading_path == ()


def test_a_heading_that_the_plan_implies_is_in_the_path() -> None:
    document = page("# A\n\nOpening hours\n\nText.")
    paths = heading_paths(document, replace(one_group(document), headings={"text_2": 2}))
    assert paths["text_3"] == ("A", "Opening hours")
    assert paths["text_2"] == ("A",)


def test_a_heading_that_the_plan_drops_is_in_no_path() -> None:
    document = page("# A\n\n## Share this\n\nText.")
    plan = Plan("test", (("heading_1",), ("text_3",)), {"heading_2": "share"}, ())
    assert chunks(document, plan, Policy(), count)[1].heading_path == ("A",)


def test_a_unit_that_goes_on_further_out_has_the_path_of_that_section() -> None:
    document = page("# Tyre\n\n## Tools\n\nA jack.\n\nIn short, be careful.\n\nAnd calm.")
    plan = replace(one_each(document), under={"text_4": "heading_1"})
    paths = heading_paths(document, plan)
    assert paths["text_3"] == ("Tyre", "Tools")
    assert paths["text_4"] == paths["text_5"] == ("Tyre",)
    assert heading_paths(document, replace(plan, under={"text_4": ""}))["text_5"] == ("Tyre",)


def test_a_path_that_is_too_long_loses_its_outermost_part_and_no_text() -> None:
    long = " ".join(["outermost"] * 40)
    document = page(f"# {long}\n\n## Inner\n\nBody text.")
    found = chunks(document, one_each(document), Policy(max_tokens=60, target_tokens=60), count)
    assert found[-1].heading_path == ("Inner",)
    assert found[-1].text == "Body text."


def test_tokens_are_those_of_what_is_shown() -> None:
    for chunk in made("# A\n\nText of some words.", title="Title of the page"):
        assert chunk.tokens == count(show(chunk.heading_path, chunk.text))


def test_a_group_that_is_too_large_is_taken_apart_between_its_units() -> None:
    text = " ".join(["word"] * 30) + "."
    found = made(f"# A\n\n{text}\n\n{text}\n\n{text}", Policy(max_tokens=50, target_tokens=50))
    assert [chunk.unit_ids for chunk in found] == [
        ("heading_1", "text_2"),
        ("text_3",),
        ("text_4",),
    ]


def test_a_table_that_is_too_large_is_cut_at_rows_and_repeats_its_header() -> None:
    rows = "\n".join(f"| Model {i} | {i}00 rupees |" for i in range(20))
    found = made(f"| Model | Price |\n|---|---|\n{rows}", Policy(max_tokens=64, target_tokens=64))
    assert len(found) > 2
    for chunk in found:
        assert chunk.text.startswith("| Model | Price |\n|---|---|\n| Model ")
    assert sum(chunk.text.count("rupees") for chunk in found) == 20


def test_a_list_that_is_too_large_is_cut_at_items_with_its_lead_in_on_the_first() -> None:
    items = "\n".join(f"- item number {i}\n  - with a part" for i in range(12))
    found = made(f"You will need:\n\n{items}", Policy(max_tokens=48, target_tokens=48))
    assert found[0].text.startswith("You will need:\n\n- item")
    for chunk in found[1:]:
        assert chunk.text.startswith("- item")


def test_equal_pieces_of_a_page_have_different_ids() -> None:
    document = page("Same.\n\nSame.")
    found = chunks(document, one_each(document), Policy(), count)
    assert found[0].text == found[1].text
    assert found[0].id != found[1].id


def test_the_embedder_reads_words_and_no_marks() -> None:
    (chunk,) = made("# A\n\n| **Model** | Price |\n|:-----|------:|\n| [One](https://e.org) | 5 |")
    assert "Model" in chunk.embedded and "One" in chunk.embedded
    for mark in ("|", "*", "---", "#", "e.org"):
        assert mark not in chunk.embedded


def test_a_page_without_units_has_no_chunks() -> None:
    document = page("---")
    plan = structural_plan(outline(document, Policy()), Policy())
    assert chunks(document, plan, Policy(), count) == ()


def test_the_embedder_reads_table_rows_as_sentences_and_the_path_again_at_the_end() -> None:
    document = page("# Cars\n\n| Model | Price | Seats |\n|---|--:|---|\n| **Swift** | 500 | |\n")
    found = chunks(document, one_each(document), Policy(), count)
    assert found[1].embedded == "Cars\nModel: Swift; Price: 500.\nCars"


def test_the_embedder_reads_the_headings_of_the_text_again_at_the_end() -> None:
    document = page("# Cars\n\n## Swift\n\nText.\n\n**Seats**\n\nMore.")
    plan = Plan(
        "test",
        (("heading_1",), ("heading_2", "text_3", "text_4", "text_5")),
        {},
        (),
        headings={"text_4": 3},
    )
    found = chunks(document, plan, Policy(), count)
    assert found[1].embedded.splitlines() == [
        *("Cars", "Swift", "Text.", "Seats", "More."),
        *("Cars", "Swift", "Seats"),
    ]


def test_the_embedder_reads_code_as_it_is() -> None:
    (chunk,) = made("```\n| a | b |\n|---|---|\n| 1 | 2 |\n```")
    assert chunk.embedded == "| a | b |\n|---|---|\n| 1 | 2 |"


def test_a_kind_that_is_not_kept_whole_is_cut_from_the_target_on() -> None:
    items = "\n".join(f"- item number {i} of the list" for i in range(8))
    kept = Policy(max_tokens=256, target_tokens=40)
    cut = Policy(max_tokens=256, target_tokens=40, keep_whole=("table",))
    assert len(made(items, kept)) == 1
    assert len(made(items, cut)) > 1
    assert all(chunk.tokens <= 40 for chunk in made(items, cut))
