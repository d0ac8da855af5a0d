"""What every reader makes of a body."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit


@dataclass(frozen=True, slots=True)
class Source:
    """A body as Markdown, and what is known about it."""

    markdown: str
    title: str = ""
    lang: str = ""
    locators: Sequence[tuple[int, str]] = ()
    """Start offset of each block that is known, in order, and where in the source it came from."""
    notes: tuple[str, ...] = ()
    matter: int = 0
    """Length of the front matter that the Markdown begins with."""
    blocks: tuple[str, ...] = ()
    """Fingerprints of the text blocks, for the site's profile."""


def file_title(url: str) -> str:
    """A title from the name of a file, for a document that has none; empty for other addresses."""
    name = unquote(urlsplit(url).path.rpartition("/")[2]) if url else ""
    stem, dot, suffix = name.rpartition(".")
    if not dot or not re.fullmatch(r"[A-Za-z][A-Za-z0-9]{1,7}", suffix):
        return ""
    words = " ".join(re.sub(r"[_\s]+|(?<=\w)-(?=\w)", " ", stem).split())
    return "" if words.lower() in {"index", "default", "home", "readme"} else words
