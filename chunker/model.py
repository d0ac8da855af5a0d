"""The values that travel through the system. All are frozen and compare by content."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["heading", "text", "list", "table", "code", "quote", "image"]

#: What a unit is for, as the parser's rules see it. Everything but "body" is a candidate to drop.
Role = Literal["body", "navigation", "cookie", "login", "share", "legal", "empty"]


@dataclass(frozen=True, slots=True)
class Unit:
    """The smallest thing a plan can name: one block of a document's Markdown.

    `markdown[start:end]` is the unit's verbatim text, always. Units do not overlap, are in
    document order, and only white space and rulers lie between them.
    """

    id: str
    """Kind and 1-based position among all units of the document: `heading_1`, `text_2`."""
    kind: Kind
    level: int | None
    """Heading level as found in the source, 1 to 6; None for anything but a heading."""
    depth: int | None
    """Heading level after clean-up (no skipped levels, one root); None for other kinds."""
    parent: str | None
    """Id of the heading that the unit stands under, by `depth`; None above the first heading."""
    start: int
    end: int
    """Character offsets into `Document.markdown`, half open."""
    line: int
    """0-based line of `start` in the Markdown."""
    tokens: int
    """Length counted with `chunker.tokens`, the one fixed tokenizer."""
    anchor: str
    """Hash of kind, heading path, text and occurrence: stable when other content moves."""
    locator: str = ""
    """Where it came from: a CSS path, `page=3`, `slide=2`, `sheet=Prices!A1:D9`."""
    role: Role = "body"
    emphasised: bool = False
    """A paragraph that is bold from end to end: often a heading that is not marked as one."""


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed page. The same bytes, parser and profile verdicts give the same document."""

    source: str
    url: str
    title: str
    lang: str
    markdown: str
    units: tuple[Unit, ...]
    content_hash: str
    """SHA-256 over title, language and Markdown: equal for pages with equal content."""
    parser_version: str
    format: str = "html"
    """What the bytes were: html, markdown, text, pdf, docx, pptx, xlsx, csv."""
    notes: tuple[str, ...] = ()
    """What the parser had to do to the input that a reader should know (cut, re-decoded)."""
    blocks: tuple[str, ...] = field(default=(), compare=False, repr=False)
    """Fingerprints of all the text blocks of an HTML page, its frame's too, in order: what the
    site's profile is folded from. No part of the content."""


@dataclass(frozen=True, slots=True)
class OutlineRow:
    """What a planner sees of one unit. No body text."""

    id: str
    kind: Kind
    level: int | None
    """Cleaned heading level."""
    parent: str | None
    size: int
    """Size bucket: tokens rounded to a power of 1.5, so that a changed word changes nothing."""
    role: Role
    text: str | None
    """Text of a heading, or of a short line that may be a heading; cut at a bound; else None."""
    cue: str | None = None
    """First words of a body unit, only where the policy asks for cues."""
    emphasised: bool = False
    lead_in: bool = False
    """Ends in a colon or a question mark: belongs with what follows."""
    steps: bool = False
    """An ordered list, or a heading that is numbered like a step."""


@dataclass(frozen=True, slots=True)
class Outline:
    """The ID-only view of a document that a planner gets."""

    title: str
    lang: str
    rows: tuple[OutlineRow, ...]
    clear: bool = True
    """False where the heading levels as found contradict each other."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What planning cost, in tokens and calls of a model."""

    input_tokens: int = 0
    cached_input_tokens: int = 0
    output_tokens: int = 0
    calls: int = 0
    cached_calls: int = 0
    """Calls that the plan cache answered: no tokens of theirs are counted."""

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.cached_input_tokens + other.cached_input_tokens,
            self.output_tokens + other.output_tokens,
            self.calls + other.calls,
            self.cached_calls + other.cached_calls,
        )


@dataclass(frozen=True, slots=True)
class Boundary:
    """Why a group begins where it does."""

    before: str
    """Id of the first unit of the group."""
    by: str
    """Who proposed it: `structural`, a model's name, `repair`."""
    why: str
    """A short fixed phrase: `heading`, `size`, `implied heading`, `table`."""
    confidence: float
    """0 to 1, from named features."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A grouping of a document's units. Groups hold ids, never text."""

    planner: str
    groups: tuple[tuple[str, ...], ...]
    """Every unit is in exactly one group or in `dropped`. Ids inside a group go up."""
    dropped: Mapping[str, str]
    """Unit id to reason."""
    boundaries: tuple[Boundary, ...]
    usage: Usage = field(default_factory=Usage)
    repairs: tuple[str, ...] = ()
    """Rules that `chunker.repair` applied to make the plan hold, in order."""
    headings: Mapping[str, int] = field(default_factory=dict)
    """Units that the planner takes for headings though they are not marked as such, and headings
    that it gives another level than the document does: id to level."""
    under: Mapping[str, str] = field(default_factory=dict)
    """Units from which on, up to the next heading, a section further out goes on: id to that of
    the heading they stand under, or to `""` for none. Body that follows a finished subsection."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document to be found and shown."""

    id: str
    """Hash of URL, text, heading path and occurrence on the page."""
    text: str
    """Verbatim: every line is a slice of the document's Markdown."""
    heading_path: tuple[str, ...]
    """Plain text of the headings that the chunk's first unit stands under, outermost first.
    A heading that is itself the first unit is in `text`, not here."""
    unit_ids: tuple[str, ...]
    tokens: int
    """Length of `shown`, counted with the embedder's tokenizer."""
    position: int
    """0-based place among the document's chunks."""
    spans: tuple[tuple[int, int], ...]
    """Offsets into the Markdown that `text` was put together from, in order."""
    embedded: str
    """What the embedder reads: built from the page alone, by code, never shown."""

    @property
    def shown(self) -> str:
        """What a reader gets: the heading path on a line of its own, then the text."""
        return show(self.heading_path, self.text)


def show(heading_path: tuple[str, ...], text: str) -> str:
    """Text as a reader sees it: heading path on a line of its own, a blank line, the text."""
    return " > ".join(heading_path) + "\n\n" + text if heading_path else text
