"""Ids of points: the same for the same chunk, another one for anything else."""

from __future__ import annotations

import uuid
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from indexer.points import digest, point_ids
from tests.indexer.samples import chunk, slot

URL = "https://acme.example/guide"


def test_an_id_stays_when_a_chunk_moves_and_changes_when_it_changes() -> None:
    (one,) = point_ids(slot(), URL, [chunk("text", 0)])
    assert uuid.UUID(one).version == 5
    moved = replace(chunk("text", 7), unit_ids=("list_9",), tokens=99, spans=((5, 9),), id="x")
    assert point_ids(slot(), URL, [moved]) == [one]
    others = [
        point_ids(slot(), URL + "/", [chunk("text")]),
        point_ids(slot(build=2), URL, [chunk("text")]),
        point_ids(slot(source="other"), URL, [chunk("text")]),
        point_ids(slot(customer="other"), URL, [chunk("text")]),
        point_ids(slot(), URL, [chunk("text ")]),
        point_ids(slot(), URL, [chunk("text", path=("Guide", "Part"))]),
        point_ids(slot(), URL, [replace(chunk("text"), embedded="keywords: text")]),
    ]
    assert len({one, *(ids[0] for ids in others)}) == len(others) + 1


def test_equal_chunks_are_told_apart_by_occurrence() -> None:
    three = point_ids(slot(), URL, [chunk("same", i) for i in range(3)])
    assert len(set(three)) == 3
    assert point_ids(slot(), URL, [chunk("other"), chunk("same")])[1] == three[0]


@given(
    one=st.lists(st.text(max_size=3), max_size=4), other=st.lists(st.text(max_size=3), max_size=4)
)
def test_fields_never_run_together(one: list[str], other: list[str]) -> None:
    assert (digest(*one) == digest(*other)) == (one == other)
