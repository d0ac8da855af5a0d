"""Outline to prompt: what a model is shown of a page, and nothing that it could be told by one.

A line stands for a heading or for a short line that may be one; the units below it are in its
size. The words on it are data: they are made harmless here and bounded, so that a page can forge
neither a line of the outline nor a turn of the conversation.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from chunker.chunks_path import says
from chunker.model import Outline, OutlineRow
from chunker.outline import size_bucket
from planner_serving import grammar
from planner_serving.ports import Prompt
from planner_serving.prompt_prefix import PREFIX, REVISION

#: Part of every cache key: another prompt or grammar is another question.
SCHEMA: Final = f"outline-{REVISION}.{grammar.REVISION}"

#: Longest text that is shown of a line, and of the page's title.
LINE_CHARS: Final = 64
LINE_WORDS: Final = 10

#: Brackets that chat templates, tags and markup are made of, and what is shown in their place.
_BRACKETS: Final = str.maketrans("<>[]{}|`\\", "()()()/'/")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the outline that a model is asked about."""

    index: int
    """Of the row in the rows that were given."""
    id: str
    kind: str
    """`h`, or `h1` to `h6` where the page's levels are believed; `b` bold, `t` plain; the kind
    of a body unit that is shown for its first words."""
    size: int
    """Bucket of the tokens that follow up to the next line."""
    words: str
    """First words, made harmless."""

    def numbered(self, number: int) -> str:
        """The line as a model reads it."""
        return f"{number} {self.kind} {self.size} {self.words}"


def lines(outline: Outline, rows: Sequence[OutlineRow]) -> tuple[Line, ...]:
    """The lines of an outline, in order, for those of its rows that are planned at all."""
    shown = [i for i, row in enumerate(rows) if row.text is not None or row.cue is not None]
    ends = [*shown, len(rows)][1:]
    return tuple(
        Line(
            index=i,
            id=rows[i].id,
            kind=_kind(rows[i], outline.clear),
            size=size_bucket(_own(rows[i]) + sum(row.size for row in rows[i + 1 : end])),
            words=harmless(rows[i].text or rows[i].cue or ""),
        )
        for i, end in zip(shown, ends, strict=True)
    )


def prompt(
    outline: Outline, asked: Sequence[Line], above: Sequence[tuple[int, str]] = ()
) -> Prompt:
    """The question about some neighbouring lines of a page.

    `above`: level and text of the headings that the first of them stands under, outermost first.
    """
    said = [text for _, text in above] or [asked[0].words if asked else ""]
    facts = harmless(outline.title)
    if not facts or any(says(text, facts) for text in said):
        facts = ""
    language = f" ({harmless(outline.lang)})" if outline.lang else ""
    body = [
        *([f"Page: {facts}{language}"] if facts else []),
        *(f"Above: {level} {harmless(text)}" for level, text in above),
        *(line.numbered(number) for number, line in enumerate(asked, 1)),
        "Answer:",
    ]
    return Prompt(
        prefix=PREFIX,
        body="\n".join(body),
        regex=grammar.regex(len(asked)),
        max_tokens=grammar.max_tokens(len(asked)),
        schema=SCHEMA,
    )


def harmless(text: str) -> str:
    """The first words of a text on one line, without what could pass for anything but words.

    Control, format and private characters go, compatibility forms (full-width brackets) become
    plain ones, and brackets of any markup become round ones.
    """
    plain = unicodedata.normalize("NFKC", text[: 4 * LINE_CHARS]).translate(_BRACKETS)
    clean = "".join(" " if unicodedata.category(c)[0] in "CZ" else c for c in plain)
    words = clean.split()
    shown = " ".join(words[:LINE_WORDS])[:LINE_CHARS].rstrip()
    return shown if len(shown) == len(" ".join(words)) else shown + "\u2026"


def _kind(row: OutlineRow, clear: bool) -> str:
    if row.level is not None:
        return f"h{row.level}" if clear else "h"
    if row.text is None:
        return row.kind
    return "b" if row.emphasised else "t"


def _own(row: OutlineRow) -> int:
    """A body unit that is shown for its first words counts as body itself."""
    return row.size if row.text is None else 0
