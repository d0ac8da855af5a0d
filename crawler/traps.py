"""An end to what a site can generate without end: calendars, facets, paths that grow.

A URL's template is what is left of it when its numbers and values are taken out. Each template has
a budget of URLs for one crawl; the more a URL looks generated, the smaller it is. A path that
repeats itself is a trap at once.
"""

from __future__ import annotations

import re
from collections import Counter
from urllib.parse import urlsplit

#: A segment, or a run of them, three times in a row: relative links that go wrong.
REPEATED = re.compile(r"((?:/[^/]+){1,4})\1\1(?:/|$)")
MAX_SEGMENTS = 24
NUMBER = re.compile(r"\d+")
HASH = re.compile(r"(?<![0-9a-zA-Z])[0-9a-fA-F-]{12,}(?![0-9a-zA-Z])")
CALENDAR = re.compile(
    r"(?:^|[-_])(?:year|month|day|date|week|cal|calendar|from|to|start|end)\d*$|^(?:y|m|d)$",
    re.IGNORECASE,
)
#: What is left of a source's budget for templates with this many parameters.
SHARES = {0: 1.0, 1: 1.0, 2: 0.2}
SHARE_OF_GENERATED = 0.05
#: Templates that are counted; beyond them a site is generating templates, and new ones share one.
MAX_TEMPLATES = 50_000


def template(url: str) -> str:
    """A canonical URL without its numbers, hashes and parameter values."""
    parts = urlsplit(url)
    path = NUMBER.sub("0", HASH.sub("0", parts.path))
    names = (
        sorted({pair.partition("=")[0] for pair in parts.query.split("&")}) if parts.query else []
    )
    return f"{parts.netloc}{path}" + (f"?{'&'.join(names)}" if names else "")


class Traps:
    """Counts accepted URLs by template. `budget` is the most of a plain template; None: no end."""

    def __init__(self, budget: int | None) -> None:
        self._budget = budget
        self._counts: Counter[str] = Counter()

    def caught(self, url: str) -> bool:
        """Counts a canonical `url` in; true where its template's budget is spent."""
        parts = urlsplit(url)
        if self._budget is None:
            return False
        if parts.path.count("/") > MAX_SEGMENTS or REPEATED.search(parts.path):
            return True
        if not parts.query and not NUMBER.search(parts.path) and not HASH.search(parts.path):
            return False
        form = template(url)
        if form not in self._counts and len(self._counts) >= MAX_TEMPLATES:
            form = parts.netloc
        if self._counts[form] >= self._limit(form):
            return True
        self._counts[form] += 1
        return False

    def _limit(self, form: str) -> float:
        assert self._budget is not None
        names = form.partition("?")[2].split("&") if "?" in form else []
        if any(CALENDAR.search(name) for name in names):
            return max(1.0, self._budget * SHARE_OF_GENERATED)
        return max(1.0, self._budget * SHARES.get(len(names), SHARE_OF_GENERATED))
