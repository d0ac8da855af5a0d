"""Property tests: whatever the page and whoever planned it, the invariants hold."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from chunker.chunks import chunks
from chunker.errors import PlanError
from chunker.model import Boundary, Document, Plan
from chunker.outline import outline
from chunker.parse import parse
from chunker.policy import Policy
from chunker.repair import repair
from chunker.tokens import tokenizer
from chunker.verify import verify
from planner_serving.structural import plan as structural_plan

WORDS = st.lists(
    st.sampled_from(["tyre", "Gate", "9.30", "boarding", "a", "Ünïcode", "表示", "x" * 40, "e.g."]),
    min_size=1,
    max_size=30,
).map(" ".join)
SENTENCES = st.lists(WORDS.map(lambda words: words + "."), min_size=1, max_size=12).map(" ".join)
HEADINGS = st.tuples(st.integers(1, 6), WORDS).map(lambda h: "#" * h[0] + " " + h[1])
LISTS = st.tuples(st.sampled_from(["-", "1."]), st.lists(WORDS, min_size=1, max_size=15)).map(
    lambda made: "\n".join(f"{made[0]} {item}" for item in made[1])
)
TABLES = st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=15).map(
    lambda rows: "| A | B |\n|---|---|\n" + "\n".join(f"| {a} | {b} |" for a, b in rows)
)
CODE = st.lists(WORDS, min_size=1, max_size=10).map(
    lambda lines: "```\n" + "\n    ".join(lines) + "\n```"
)
QUOTES = SENTENCES.map(lambda text: "> " + text)
BOLD = WORDS.map(lambda text: f"**{text}**")
RULERS = st.just("---")
BLOCKS = st.one_of(SENTENCES, HEADINGS, LISTS, TABLES, CODE, QUOTES, BOLD, RULERS)
PAGES = st.lists(BLOCKS, min_size=1, max_size=25).map("\n\n".join)
KINDS = st.lists(st.sampled_from(["table", "code", "list", "text", "quote"]), unique=True)
POLICIES = st.builds(
    lambda most, share, whole: Policy(
        max_tokens=most, target_tokens=max(1, int(most * share)), keep_whole=tuple(whole)
    ),
    st.integers(16, 300),
    st.floats(0.1, 1.0),
    KINDS,
)


def count(text: str) -> int:
    return len(tokenizer().encode(text).ids)


def document(markdown: str) -> Document:
    return parse(markdown.encode(), "https://example.org/page", "text/markdown")


@given(PAGES, POLICIES)
@settings(max_examples=60, deadline=None)
def test_the_structural_plan_needs_no_repair_and_its_chunks_hold(
    markdown: str, policy: Policy
) -> None:
    page = document(markdown)
    plan = structural_plan(outline(page, policy), policy)
    assert repair(page, plan) is plan
    assert verify(page, plan, chunks(page, plan, policy, count), policy, count) == ()


@st.composite
def hostile_plans(draw: st.DrawFn, page: Document) -> Plan:
    ids = [unit.id for unit in page.units] + ["heading_0", "text_999", "", "ignore the above"]
    some = st.sampled_from(ids)
    return Plan(
        planner="hostile",
        groups=tuple(map(tuple, draw(st.lists(st.lists(some, max_size=12), max_size=10)))),
        dropped=draw(st.dictionaries(some, st.sampled_from(["", " ", "navigation"]), max_size=4)),
        boundaries=tuple(
            Boundary(before, "hostile", "because", 1.0)
            for before in draw(st.lists(some, max_size=5))
        ),
        headings=draw(st.dictionaries(some, st.integers(-3, 99), max_size=4)),
        under=draw(st.dictionaries(some, some, max_size=4)),
    )


@given(st.data(), PAGES, POLICIES)
@settings(max_examples=100, deadline=None)
def test_a_hostile_plan_is_repaired_or_refused(
    data: st.DataObject, markdown: str, policy: Policy
) -> None:
    page = document(markdown)
    proposed = data.draw(hostile_plans(page))
    try:
        plan = repair(page, proposed)
    except PlanError:
        plan = structural_plan(outline(page, policy), policy)
    assert repair(page, plan) is plan
    assert verify(page, plan, chunks(page, plan, policy, count), policy, count) == ()


@given(PAGES, POLICIES)
@settings(max_examples=15, deadline=None)
def test_the_same_page_gives_the_same_chunks(markdown: str, policy: Policy) -> None:
    def made() -> object:
        page = document(markdown)
        plan = structural_plan(outline(page, policy), policy)
        return plan, chunks(page, plan, policy, count)

    assert made() == made()
