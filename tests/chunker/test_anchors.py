"""Anchors are the same for the same content, whatever moved around it."""

from hypothesis import given, settings
from hypothesis import strategies as st

from chunker import parse

WORDS = st.text(alphabet="abcdefgh ", min_size=3, max_size=30).map(
    lambda text: "w" + " ".join(text.split())
)
SECTION = st.tuples(WORDS, st.lists(WORDS, min_size=1, max_size=3))


def page(sections: list[tuple[str, list[str]]]) -> bytes:
    return (
        "".join(
            f"<h2>{title}</h2>" + "".join(f"<p>{text}</p>" for text in texts)
            for title, texts in sections
        )
        .join(("<html><body><main><h1>Page</h1>", "</main></body></html>"))
        .encode()
    )


def anchors(body: bytes) -> list[str]:
    return [unit.anchor for unit in parse(body, "https://example.com/").units]


@settings(max_examples=60, deadline=None)
@given(st.lists(SECTION, min_size=1, max_size=6), st.integers(0, 6))
def test_an_inserted_section_leaves_the_other_anchors_as_they_were(
    sections: list[tuple[str, list[str]]], at: int
) -> None:
    before = anchors(page(sections))
    after = anchors(page([*sections[:at], ("inserted title", ["inserted text"]), *sections[at:]]))
    assert [anchor for anchor in after if anchor in set(before)] == before
    assert len(after) == len(before) + 2


def test_a_changed_word_changes_one_anchor() -> None:
    before = anchors(page([("A", ["one", "two", "three"])]))
    after = anchors(page([("A", ["one", "2", "three"])]))
    assert [a == b for a, b in zip(before, after, strict=True)] == [True, True, True, False, True]


def test_the_same_text_twice_has_two_anchors() -> None:
    found = anchors(page([("A", ["same", "same"]), ("B", ["same"])]))
    assert len(set(found)) == len(found)


def test_composed_and_decomposed_text_is_the_same_content() -> None:
    composed = anchors(page([("A", ["caf\u00e9"])]))
    assert composed == anchors(page([("A", ["cafe\u0301"])]))
