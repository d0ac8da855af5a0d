"""Hits within a budget: never over it, neighbours joined in the page's order, the last one cut."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from chunker.model import show
from indexer.model import Hit
from indexer.packing import packed

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def count(text: str) -> int:
    return len(text.split())


def hit(position: int, text: str, score: float = 0.5, url: str = "a", unit: str = "") -> Hit:
    path = ("Title",)
    return Hit(
        score=score,
        dense_rank=1,
        sparse_rank=None,
        chunk_id=f"{url}{position}",
        customer="c",
        source="s",
        url=url,
        title="Title",
        text=text,
        heading_path=path,
        unit_ids=(unit or f"text_{position}",),
        position=position,
        tokens=count(show(path, text)),
        fetched_at=NOW,
    )


WORD = st.sampled_from(["oak", "elm", "ash", "yew", "fir", "box", "bay", "fig", "may", "rue"])
TEXT = st.lists(
    st.lists(WORD, min_size=1, max_size=5).map(lambda words: " ".join(words) + "."),
    min_size=1,
    max_size=4,
).map(lambda sentences: "\n".join(sentences))
PLACE = st.tuples(st.sampled_from("ab"), st.integers(0, 6))


@given(st.dictionaries(PLACE, TEXT, max_size=10), st.integers(1, 60))
def test_no_budget_is_exceeded_and_no_line_is_made_up(
    places: dict[tuple[str, int], str], budget: int
) -> None:
    hits = [hit(position, text, url=url) for (url, position), text in places.items()]
    found = packed(hits, budget, count)
    assert sum(one.tokens for one in found) <= budget
    written = {url: set() for url in "ab"}
    for (url, _), text in places.items():
        written[url] |= {text[:at] for at in range(len(text) + 1)} | set(text.split("\n"))
    for one in found:
        assert one.tokens == count(show(one.heading_path, one.text))
        for line in one.text.split("\n"):
            assert not line or any(line in text for text in written[one.url])
    ids = [id for one in found for id in (one.chunk_id, *one.joined)]
    assert len(ids) == len(set(ids))
    assert sum(one.cut for one in found) <= 1


def test_chunks_side_by_side_are_one_hit_at_the_place_of_the_better() -> None:
    ranking = [hit(5, "later", 0.9), hit(0, "other page", 0.8, url="b"), hit(4, "before", 0.7)]
    first, second = packed(ranking, 100, count)
    assert (first.text, first.position, first.score) == ("before\n\nlater", 4, 0.9)
    assert (first.chunk_id, first.joined) == ("a5", ("a4",))
    assert first.unit_ids == ("text_4", "text_5")
    assert second.text == "other page"


def test_a_chunk_between_two_joins_them() -> None:
    ranking = [hit(1, "one"), hit(3, "three"), hit(2, "two")]
    [only] = packed(ranking, 100, count)
    assert only.text == "one\n\ntwo\n\nthree"


def test_pieces_of_a_table_show_its_header_once() -> None:
    header = "| Model | Price |\n| --- | --- |\n"
    rows = ["| Swift | 500 |", "| Dunlin | 700 |"]
    ranking = [hit(place, header + row, unit="t") for place, row in enumerate(rows)]
    [only] = packed(ranking, 100, count)
    assert only.text == header + "| Swift | 500 |\n| Dunlin | 700 |"


def test_the_first_that_does_not_fit_is_cut_at_a_sentence() -> None:
    text = "## Tools\n\n4. Take two levers. Take a pump."
    [only] = packed([hit(0, text)], 8, count)
    assert (only.text, only.cut) == ("## Tools\n\n4. Take two levers.", True)
    assert packed([hit(0, text)], 4, count) == []  # a heading alone answers nothing


def test_what_a_taken_hit_says_already_is_passed_over() -> None:
    ranking = [hit(0, "oil the chain weekly"), hit(0, "Oil the chain weekly!", url="b")]
    assert [one.url for one in packed(ranking, 100, count)] == ["a"]
    ranking = [
        hit(0, "Swift costs 500 in all shops"),
        hit(0, "Swift costs 700 in all shops", url="b"),
    ]
    assert [one.url for one in packed(ranking, 100, count)] == ["a", "b"]
