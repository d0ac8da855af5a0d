"""What every index must do, run on each: the embedded one as a real process, a Qdrant server
where one is reachable, and qdrant-client's in-memory fake of a server, which is named so."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from indexer.errors import PointError, SlotError
from indexer.model import Slot, Swap
from indexer.payload import BATCH_POINTS
from indexer.ports import VectorIndex
from indexer.sparse import encode_query
from tests.indexer.samples import DIMENSIONS, FETCHED, no_terms, page, slot, vector

URL = "https://acme.example/guide"


def texts_of(index: VectorIndex, of: Slot, url: str | None = None) -> list[str]:
    held = [point for point in index.points(of) if url in (None, point.url)]
    return [point.text for point in sorted(held, key=lambda p: (p.url, p.position))]


def found(index: VectorIndex, query: str, *slots: Slot, limit: int = 10) -> list[str]:
    hits = index.search(slots, vector(query), encode_query(query, ["en"]), limit)
    return [hit.text for hit in hits]


def test_an_index_of_nothing_answers_with_nothing(index: VectorIndex) -> None:
    assert index.count(slot()) == 0
    assert list(index.points(slot())) == []
    assert found(index, "wheel", slot()) == []
    assert index.search([], vector("x"), no_terms(), 5) == []
    assert index.delete_page(slot(), URL) == 0
    assert index.drop(slot()) == 0
    assert list(index.slots()) == []
    assert index.languages([slot()]) == frozenset()
    assert index.replace_page(slot(), URL, []) == Swap(0, 0, 0)


def test_a_page_comes_back_as_it_was_stored(index: VectorIndex) -> None:
    (point,) = page(slot(), URL, ["change the wheel ☃ with a jack"], title="Räder")
    assert index.replace_page(slot(), URL, [point]) == Swap(1, 0, 0)
    (stored,) = index.points(slot())
    assert (stored.id, stored.url, stored.text) == (point.id, point.url, point.text)
    assert (stored.heading_path, stored.unit_ids, stored.position) == (("Guide",), ("text_1",), 0)
    (hit,) = index.search([slot()], vector("wheel jack"), encode_query("jack", ["en"]), 5)
    assert (hit.chunk_id, hit.customer, hit.source) == (point.id, "acme", "site")
    assert (hit.text, hit.title, hit.url) == (point.text, "Räder", URL)
    assert (hit.heading_path, hit.unit_ids) == (point.heading_path, point.unit_ids)
    assert (hit.position, hit.tokens, hit.fetched_at) == (0, point.tokens, FETCHED)
    assert (hit.dense_rank, hit.sparse_rank) == (1, 1)
    assert hit.score == pytest.approx(1.0)  # the best of both sides


def test_replacing_a_page_costs_what_changed(index: VectorIndex) -> None:
    index.replace_page(slot(), URL, page(slot(), URL, ["one", "two", "three"]))
    swap = index.replace_page(slot(), URL, page(slot(), URL, ["zero", "one", "three"]))
    assert swap == Swap(added=1, kept=2, deleted=1)
    assert texts_of(index, slot()) == ["zero", "one", "three"]  # in their new places
    again = index.replace_page(slot(), URL, page(slot(), URL, ["zero", "one", "three"]))
    assert again == Swap(added=0, kept=3, deleted=0)


def test_what_is_shown_of_kept_points_is_up_to_date(index: VectorIndex) -> None:
    index.replace_page(slot(), URL, page(slot(), URL, ["one", "two"]))
    later = FETCHED + timedelta(days=1)
    index.replace_page(
        slot(), URL, page(slot(), URL, ["one", "two"], title="New", fetched_at=later)
    )
    hits = index.search([slot()], vector("one"), no_terms(), 5)
    assert {(hit.title, hit.fetched_at) for hit in hits} == {("New", later)}


def test_kept_points_get_the_terms_of_the_pages_new_language(index: VectorIndex) -> None:
    index.replace_page(slot(), URL, page(slot(), URL, ["Häuser laufen"], lang="en"))
    assert index.languages([slot()]) == {"en"}
    swap = index.replace_page(slot(), URL, page(slot(), URL, ["Häuser laufen"], lang="de"))
    assert swap == Swap(added=0, kept=1, deleted=0)
    (hit,) = index.search([slot()], vector("x"), encode_query("Haus", ["de"]), 5)
    assert hit.sparse_rank == 1
    assert index.languages([slot()]) == {"de"}


def test_equal_texts_on_a_page_are_two_points(index: VectorIndex) -> None:
    assert index.replace_page(slot(), URL, page(slot(), URL, ["same", "same"])).added == 2
    assert index.replace_page(slot(), URL, page(slot(), URL, ["same"])) == Swap(0, 1, 1)


def test_a_page_of_several_batches_is_replaced_whole(index: VectorIndex) -> None:
    many = [f"row number {i}" for i in range(2 * BATCH_POINTS + 3)]
    assert index.replace_page(slot(), URL, page(slot(), URL, many)).added == len(many)
    assert texts_of(index, slot()) == many
    fewer = many[: BATCH_POINTS + 1]
    index.replace_page(slot(), URL, page(slot(), URL, fewer))
    assert texts_of(index, slot()) == fewer


def test_other_pages_stay_when_one_goes(index: VectorIndex) -> None:
    for url in (URL, URL + "/", URL + "?q=1"):
        index.replace_page(slot(), url, page(slot(), url, [f"text of {url}", "more"]))
    assert index.delete_page(slot(), URL) == 2
    assert index.delete_page(slot(), URL) == 0
    assert index.replace_page(slot(), URL + "/", []) == Swap(0, 0, 2)
    assert texts_of(index, slot()) == [f"text of {URL}?q=1", "more"]
    assert index.count(slot()) == 2


def test_search_fuses_both_sides_and_tells_their_ranks(index: VectorIndex) -> None:
    texts = ["wheel jack bolt", "wheel", "zebra", "jack lamp"]
    index.replace_page(slot(), URL, page(slot(), URL, texts))
    hits = index.search([slot()], vector("wheel"), encode_query("jack", ["en"]), 4)
    by_text = {hit.text: hit for hit in hits}
    assert by_text["wheel"].dense_rank == 1
    assert by_text["wheel"].sparse_rank is None
    assert by_text["jack lamp"].sparse_rank == 1  # the shorter text that holds the word
    assert by_text["wheel jack bolt"].sparse_rank == 2
    assert hits[0].text == "wheel jack bolt"  # second and second, beats first and fourth
    assert all(0.0 <= hit.score <= 1.0 + 1e-6 for hit in hits)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_a_question_without_terms_is_answered_by_vectors_alone(index: VectorIndex) -> None:
    index.replace_page(slot(), URL, page(slot(), URL, ["wheel", "jack"]))
    hits = index.search([slot()], vector("wheel"), no_terms(), 1)
    assert [(hit.text, hit.sparse_rank) for hit in hits] == [("wheel", None)]


def test_term_weights_are_those_of_the_slot_alone(index: VectorIndex) -> None:
    """A word that is common here and rare elsewhere weighs as in a home of this slot only."""
    here, elsewhere = slot("here"), slot("elsewhere", customer="other")
    texts = ["common tyre", "common lamp", "common seat", "rare bolt"]
    index.replace_page(here, URL, page(here, URL, texts))
    question = encode_query("common rare", ["en"])
    before = index.search([here], vector("x"), question, 4)
    others = [f"rare thing {i}" for i in range(60)]
    index.replace_page(elsewhere, URL, page(elsewhere, URL, others))
    after = index.search([here], vector("x"), question, 4)
    assert [(hit.text, hit.sparse_rank) for hit in after] == [
        (hit.text, hit.sparse_rank) for hit in before
    ]
    assert [hit.score for hit in after] == pytest.approx([hit.score for hit in before])
    (best,) = [hit for hit in before if hit.sparse_rank == 1]
    assert best.text == "rare bolt"


def test_slots_are_apart_and_can_be_searched_together(index: VectorIndex) -> None:
    mine, yours = slot("mine"), slot("yours", customer="other")
    newer = replace(mine, build=2)
    index.replace_page(mine, URL, page(mine, URL, ["my wheel", "my lamp"]))
    index.replace_page(yours, URL, page(yours, URL, ["your wheel"]))
    index.replace_page(newer, URL, page(newer, URL, ["newer wheel"]))
    assert sorted(found(index, "wheel", mine)) == ["my lamp", "my wheel"]
    assert sorted(found(index, "wheel", mine, yours)) == ["my lamp", "my wheel", "your wheel"]
    hits = index.search([yours, mine], vector("my wheel"), encode_query("my", ["en"]), 1)
    assert [(hit.customer, hit.source, hit.text) for hit in hits] == [("acme", "mine", "my wheel")]
    assert len(found(index, "wheel", mine, mine)) == 2
    assert set(index.slots()) == {mine, yours, newer}


def test_dropping_a_slot_removes_it_and_no_other(index: VectorIndex) -> None:
    mine, yours = slot("mine"), slot("yours")
    for one in (mine, yours):
        index.replace_page(one, URL, page(one, URL, ["wheel", "jack"]))
    assert index.drop(mine) == 2
    assert index.count(mine) == 0
    assert list(index.slots()) == [yours]
    assert index.replace_page(mine, URL, page(mine, URL, ["again"])).added == 1
    assert texts_of(index, mine) == ["again"]


def test_names_cannot_leave_their_place(index: VectorIndex) -> None:
    odd = ["..", ".", "a/b", "a\\b", "ä ö", "x" * 300, "x" * 301, "A", "a", "%2E", ""]
    slots = [slot(source=name, customer=name) for name in odd]
    for number, one in enumerate(slots):
        index.replace_page(one, URL, page(one, URL, [f"text {number}"]))
    assert [texts_of(index, one) for one in slots] == [[f"text {i}"] for i in range(len(odd))]
    assert set(index.slots()) == set(slots)


def test_points_that_do_not_fit_are_refused_and_change_nothing(index: VectorIndex) -> None:
    good = page(slot(), URL, ["one", "two"])
    index.replace_page(slot(), URL, good)
    short = replace(good[0], dense=np.ones(DIMENSIONS - 1, np.float32))
    for wrong in ([short], [good[0], good[0]], [replace(good[0], url=URL + "x")]):
        with pytest.raises(PointError):
            index.replace_page(slot(), URL, wrong)
    assert texts_of(index, slot()) == ["one", "two"]
    other = replace(slot(), embedder="another-model@2")
    with pytest.raises(SlotError, match="another-model@2"):
        index.search([slot(), other], vector("x"), no_terms(), 5)


WORDS = st.lists(st.sampled_from(["tyre", "jack", "lamp", "seat", "bolt"]), max_size=5)


@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(steps=st.lists(st.tuples(st.sampled_from("ab"), WORDS), min_size=1, max_size=6))
def test_after_any_swaps_the_index_holds_the_last_of_each_page(
    index: VectorIndex, steps: list[tuple[str, list[str]]]
) -> None:
    index.drop(slot())
    wanted: dict[str, list[str]] = {"a": [], "b": []}
    for name, texts in steps:
        before = {point.id for point in page(slot(), name, wanted[name])}
        after = {point.id for point in page(slot(), name, texts)}
        swap = index.replace_page(slot(), name, page(slot(), name, texts))
        kept = len(before & after)
        assert swap == Swap(len(after) - kept, kept, len(before) - kept)
        wanted[name] = texts
    for name, texts in wanted.items():
        assert texts_of(index, slot(), name) == texts
    assert index.count(slot()) == sum(map(len, wanted.values()))
