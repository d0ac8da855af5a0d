"""What a term is: numbers, units, languages, stop words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.model import SparseVector
from indexer.sparse import encode_document, encode_query, language, terms


@pytest.mark.parametrize(
    ("text", "lang", "found"),
    [
        ("1,500 kg", "en", ["1500", "kg"]),
        ("1500kg", "en", ["1500", "kg"]),
        ("12,345,678.5", "en", ["12345678.5"]),
        ("1.500,5 kg", "de", ["1500.5", "kg"]),
        ("2,5 bar", "de", ["2.5", "bar"]),
        ("2.5bar", "en", ["2.5", "bar"]),
        ("1\u00a0500\u202f000 €", "fr", ["1500000", "€"]),
        ("1'500 CHF", "de", ["1500", "CHF"]),
        ("1,2,3 and 4,50", "en", ["1", "2", "3", "and", "4", "50"]),
        ("v1.2.3 of 12.05.2024", "de", ["v1", "2.3", "of", "12.05.2024"]),
        (
            "2.4GHz 100km/h 4x4 205/55R16",
            "en",
            [*["2.4", "GHz", "100", "km", "h", "4x4", "205", "55R16"]],
        ),
        ("10 °C, 5% of £25", "en", ["10", "°C", "5", "%", "of", "£", "25"]),
        ("C++ or C# (not C)", "en", ["C++", "or", "C#", "not", "C"]),
        ("the driver\u2019s e-mail_name", "en", ["the", "driver's", "e", "mail", "name"]),
        ("l'huile", "fr", ["l", "huile"]),
        ("東京タワー", "ja", ["東京", "京タ", "タワ", "ワー"]),
        ("", "en", []),
    ],
)
def test_terms(text: str, lang: str, found: list[str]) -> None:
    assert terms(text, lang) == found


def matches(question: SparseVector, document: SparseVector) -> int:
    return len(set(question.indices) & set(document.indices))


def test_the_same_number_and_unit_meet_however_they_are_written() -> None:
    assert matches(encode_query("1,500kg", ["en"]), encode_document("up to 1500 kg", "en")) == 2


def test_words_are_stemmed_by_the_language_of_their_page() -> None:
    assert matches(encode_query("changing tyres", ["en"]), encode_document("change a tyre", "en"))
    assert matches(encode_query("Häuser", ["de"]), encode_document("ein Haus", "de")) == 1
    assert matches(encode_query("opony", ["pl"]), encode_document("opony", "pl")) == 1


def test_a_question_meets_pages_of_each_language_that_is_searched() -> None:
    question = encode_query("Häuser houses", ["de", "en"])
    assert matches(question, encode_document("ein Haus", "de")) == 1
    assert matches(question, encode_document("a house", "en")) == 1


def test_a_stop_word_of_one_language_is_no_rare_term_in_another() -> None:
    page = encode_document("Das Modell The Breeze", "de")
    assert matches(encode_query("the price", ["en", "de"]), page) == 0
    assert encode_query("to be or not to be", ["en"]).indices == ()


@pytest.mark.parametrize(
    ("tag", "lang"), [("de-AT", "de"), ("EN_us", "en"), ("nb", "no"), ("", "en"), ("pl", "pl")]
)
def test_language_tags(tag: str, lang: str) -> None:
    assert language(tag) == lang


@given(text=st.text(max_size=200), lang=st.sampled_from(["en", "de", "fr", "ja", "pl", "xx", ""]))
def test_any_text_gives_ascending_unique_indices_and_finds_itself(text: str, lang: str) -> None:
    document = encode_document(text, lang)
    question = encode_query(text, [lang])
    for found in (document, question):
        assert list(found.indices) == sorted(set(found.indices))
        assert len(found.indices) == len(found.values)
    assert set(question.indices) == set(document.indices)
