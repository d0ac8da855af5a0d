"""Documents without structure: drawn by a seed, nothing else taken away."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from pipeline.evaluation import flatten
from pipeline.evaluation.judge import words

DOCUMENT = """# Boats and Ships

Two **fine** boats.

## How to Board

1. Show the *ticket*.
2. Walk on
   slowly.

| Ship | Cars |
|------|-----:|
| Kittiwake | 24 |

### GPS Units

```sh
# starts it
run  --fast
```

#### Crew

> Ask them.
"""
NAMES = dict.fromkeys(flatten.KINDS, "")
for _number in range(100):
    _text = flatten.flattened(f"n{_number}", DOCUMENT)
    _levels = re.findall(r"^(#+) [A-Z]", _text, re.M)
    _kind = (
        ("c" if set(_levels) == {"##"} and len(_levels) == 4 else "d")
        if _levels
        else ("b" if "**Boats" not in _text and "\nCrew" in _text else "")
        or ("a" if len(re.findall(r"^\*\*", _text, re.M)) == 4 else "e")
    )
    NAMES[_kind] = NAMES[_kind] or f"n{_number}"


def test_every_kind_is_drawn() -> None:
    assert all(NAMES.values())


def test_half_of_the_headings_go_and_the_others_are_bold() -> None:
    text = flatten.flattened(NAMES["e"], DOCUMENT)
    assert len(re.findall(r"^\*\*.+\*\*$", text, re.M)) == 2
    assert not re.search(r"^#+ [A-Z]", text, re.M)


@pytest.mark.parametrize("kind", ["a", "b", "c", "d"])
def test_only_headings_change(kind: str) -> None:
    text = flatten.flattened(NAMES[kind], DOCUMENT)
    assert Counter(words(text)) == Counter(words(DOCUMENT))
    assert "| Kittiwake | 24 |" in text and "# starts it\nrun  --fast" in text


def test_text_without_typography() -> None:
    text = flatten.flattened_h("x", DOCUMENT)
    assert text.split("\n\n") == [
        "Boats and ships",
        "Two fine boats.",
        "How to board",
        "Show the ticket.",
        "Walk on\nslowly.",
        "Ship Cars",
        "Kittiwake 24",
        "GPS units",
        "```sh\n# starts it\nrun  --fast\n```",
        "Crew",
        "Ask them.\n",
    ]


@pytest.mark.parametrize("make", [flatten.flattened, flatten.flattened_h])
@given(name=st.text(max_size=8))
def test_html_says_the_same_as_markdown(make, name: str) -> None:  # type: ignore[no-untyped-def]
    body = LexborHTMLParser(make(name, DOCUMENT, html=True)).body
    assert body is not None
    shown = body.text(separator=" ")
    marks = r"```(sh)?|^\d\. "  # what HTML says by elements
    markdown = re.sub(marks, "", make(name, DOCUMENT), flags=re.M)
    assert Counter(words(shown)) == Counter(words(markdown))


def test_html_has_headings_in_disguise() -> None:
    bold = flatten.flattened(NAMES["a"], DOCUMENT, html=True)
    plain = flatten.flattened_h("x", DOCUMENT, html=True)
    assert "<p><b>How to Board</b></p>" in bold and "<h2>" not in bold
    assert re.search(r"<(p|div class=\"c\d+\")>How to board</(p|div)>", plain)
    assert "<li>" not in plain and "<table>" not in plain


def test_the_same_seed_draws_the_same_and_another_seed_another() -> None:
    names = [f"n{number}" for number in range(20)]
    drawn = [[flatten.flattened(name, DOCUMENT, seed=seed) for name in names] for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
