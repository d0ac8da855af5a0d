"""An edit stays where it is made: it changes three chunks of the page at most."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunker.chunks import chunks
from chunker.outline import outline
from chunker.parse import parse
from chunker.policy import Policy
from chunker.tokens import tokenizer
from planner_serving.structural import plan as structural_plan

POLICY = Policy()
WORDS = ("boarding", "gate", "tyre", "lounge", "ticket", "engine", "credit", "refund", "window")


def count(text: str) -> int:
    return len(tokenizer().encode(text).ids)


def made(markdown: str) -> set[str]:
    page = parse(markdown.encode(), "https://example.org/page", "text/markdown")
    plan = structural_plan(outline(page, POLICY), POLICY)
    return {chunk.id for chunk in chunks(page, plan, POLICY, count)}


def sentence(chance: random.Random, most: int = 14) -> str:
    return " ".join(chance.choices(WORDS, k=chance.randint(5, most))).capitalize() + "."


def block(chance: random.Random) -> str:
    kind = chance.random()
    if kind < 0.5:
        return " ".join(sentence(chance) for _ in range(chance.randint(1, 6)))
    if kind < 0.8:
        return "\n".join(f"- {sentence(chance)}" for _ in range(chance.randint(2, 8)))
    rows = "\n".join(f"| {sentence(chance, 6)} | {i} |" for i in range(chance.randint(2, 40)))
    return f"| Name | Number |\n|---|---|\n{rows}"


def page(seed: int) -> list[str]:
    chance = random.Random(seed)
    blocks = ["# A page about many things"]
    for section in range(chance.randint(3, 12)):
        blocks.append(f"{'#' * chance.choice([2, 2, 3])} Section {section}")
        blocks.extend(block(chance) for _ in range(chance.randint(1, 5)))
    return blocks


def edited(text: str, edit: str, chance: random.Random) -> str:
    lines = text.split("\n")
    at = chance.randrange(2 if text.startswith("|") else 0, len(lines))
    if edit == "word":
        words = lines[at].split(" ")
        place = max((i for i, word in enumerate(words) if word[:1].isalpha()), default=0)
        words[place] = "replacement" + "." * words[place].endswith(".")
        lines[at] = " ".join(words)
    elif text.startswith(("-", "|")):
        lines.insert(at, lines[at].replace("e", "i"))
    else:
        lines[at] += " " + sentence(chance)
    return "\n".join(lines)


@pytest.mark.parametrize("edit", ["word", "more"])
@given(seed=st.integers(0, 10**9), place=st.integers(0, 10**9))
@settings(max_examples=40, deadline=None)
def test_an_edited_unit_changes_at_most_three_chunks(edit: str, seed: int, place: int) -> None:
    blocks = page(seed)
    bodies = [i for i, text in enumerate(blocks) if not text.startswith("#")]
    at = bodies[place % len(bodies)]
    before = made("\n\n".join(blocks))
    blocks[at] = edited(blocks[at], edit, random.Random(place))
    after = made("\n\n".join(blocks))
    assert len(after - before) <= 3


def test_a_new_section_leaves_the_others_chunks_alone() -> None:
    blocks = page(7)
    before = made("\n\n".join(blocks))
    at = next(i for i, text in enumerate(blocks) if i > 1 and text.startswith("## "))
    blocks[at:at] = ["## New", " ".join([sentence(random.Random(1))] * 12)]
    assert len(made("\n\n".join(blocks)) - before) <= 4
