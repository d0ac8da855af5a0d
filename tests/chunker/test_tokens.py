"""Sizes are those of the tokenizer itself, whatever is remembered."""

from hypothesis import given
from hypothesis import strategies as st

from chunker import tokens

PIECES = st.sampled_from(
    ["Parking", "the", "https://example.com/a-b_c?d=1", "[SEP]", "##ing", "can't", "naïve", "日本",
     "x" * 120, "A1b2C3", "\x7f", "\x0b", "[", "sep]", "\u00ad", "ﬁ", "İ", "K", "$9.99", "…"]
)  # fmt: skip


@given(st.lists(st.lists(PIECES | st.text(max_size=6), max_size=6).map(" ".join), max_size=4))
def test_counts_are_the_tokenizers(texts: list[str]) -> None:
    encode = tokens.tokenizer().encode
    found = [len(encode(text, add_special_tokens=False)) for text in texts]
    assert tokens.count_all(texts) == found


@given(st.lists(PIECES, max_size=8).map("".join))
def test_words_that_touch_are_counted_as_one(word: str) -> None:
    assert tokens.count(word) == len(tokens.tokenizer().encode(word, add_special_tokens=False))
