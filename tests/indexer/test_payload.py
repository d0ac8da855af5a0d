"""Batches of writes, and what turns a page's stored points into the wanted ones."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from indexer.payload import BATCH_BYTES, BATCH_POINTS, Row, batches, change


def row(name: str, text: str = "", terms: int = 0) -> Row:
    return Row(name, b"", b"", b"", {"text": text, "terms": terms})


@given(
    sizes=st.lists(st.sampled_from([0, 1000, BATCH_BYTES // 5, BATCH_BYTES]), max_size=30),
    small=st.integers(0, 2 * BATCH_POINTS + 1),
)
def test_batches_hold_all_rows_in_order_within_both_bounds(sizes: list[int], small: int) -> None:
    wanted = [row(str(i), "x" * size) for i, size in enumerate([*sizes, *[0] * small])]
    cut = batches(wanted)
    assert [one for batch in cut for one in batch] == wanted
    for batch in cut:
        assert 1 <= len(batch) <= BATCH_POINTS
        assert len(batch) == 1 or sum(one.size for one in batch) <= BATCH_BYTES
    for batch, following in pairwise(cut):  # no batch is cut for nothing
        full = sum(one.size for one in [*batch, following[0]]) > BATCH_BYTES
        assert full or len(batch) == BATCH_POINTS


NAMES = st.dictionaries(st.sampled_from("abcdef"), st.tuples(st.sampled_from("xy"), st.booleans()))


@given(stored=NAMES, wanted=NAMES)
def test_applying_a_change_gives_what_is_wanted(
    stored: dict[str, tuple[str, bool]], wanted: dict[str, tuple[str, bool]]
) -> None:
    held = {name: row(name, text, terms).payload for name, (text, terms) in stored.items()}
    rows = [row(name, text, terms) for name, (text, terms) in wanted.items()]
    marked = {name: one | {"mark": 1} for name, one in held.items()}
    change_ = change(marked, rows, ours=["mark"])
    result = {name: one for name, one in held.items() if name not in change_.stale}
    result |= {one.id: one.payload for one in [*change_.upsert, *change_.payload]}
    assert result == {one.id: one.payload for one in rows}
    assert set(change_.fresh) == wanted.keys() - stored.keys()
    assert change_.kept == len(wanted.keys() & stored.keys())
    for one in change_.payload:  # nothing is written that is there already
        assert held[one.id] != one.payload
        assert held[one.id]["terms"] == one.payload["terms"]


def test_a_rows_size_is_an_upper_bound_of_its_text() -> None:
    assert row("a", "\u5b57" * 1000).size >= 3000
