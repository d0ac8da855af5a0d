"""An end to what a site can generate without end: calendars, facets, paths that grow.

Each template (`templates.py`) has a budget of URLs; the more a URL looks generated, the smaller it
is. All queries of one path share a budget too: parameters combine to more templates than anybody
reads. A path that repeats itself is a trap at once.
"""

from __future__ import annotations

import re
from collections import Counter
from urllib.parse import SplitResult, urlsplit

from scrapy.utils.datatypes import LocalCache

from crawler.templates import is_numbered, names_of, path_form

#: A segment, or a run of them, three times in a row: relative links that go wrong.
REPEATED = re.compile(r"((?:/[^/]+){1,4})\1\1(?:/|$)")
MAX_SEGMENTS = 24
#: Names of parameters that count through time, and paths that end in a date and nothing else.
CALENDAR = re.compile(
    r"(?:^|[-_])(?:year|month|day|date|week|cal|calendar|from|to|start|end)\d*$|^(?:y|m|d)$",
    re.IGNORECASE,
)
DATE_PATH = re.compile(r"/\d{4}(?:/\d{1,2}){1,2}/?$|/\d{4}-\d{1,2}(?:-\d{1,2})?/?$")
#: What a template with this many parameters gets of the budget; more of them get the last share.
SHARES = {0: 1.0, 1: 1.0, 2: 0.2}
SHARE_OF_GENERATED = 0.02
#: Templates that are counted; beyond them a site is generating templates, and new ones share one.
MAX_TEMPLATES = 50_000
#: URLs remembered as counted, so that a link that is found again is not counted again.
COUNTED = 100_000


class Traps:
    """Counts URLs by template. `budget` is the most of a plain template; None: no end to any."""

    def __init__(self, budget: int | None) -> None:
        self._budget = budget
        self._counts: Counter[str] = Counter()
        self._counted: LocalCache[str, None] = LocalCache(COUNTED)

    def caught(self, url: str) -> bool:
        """True where a canonical `url` is a trap, or its budget is spent; else it is counted in."""
        if self._budget is None:
            return False
        parts = urlsplit(url)
        if parts.path.count("/") > MAX_SEGMENTS or REPEATED.search(parts.path):
            return True
        if url in self._counted or not is_numbered(parts):
            return False
        limits = self._limits(parts)
        if any(self._counts[form] >= limit for form, limit in limits.items()):
            return True
        self.count(url)
        return False

    def count(self, url: str) -> None:
        """Counts in a URL that was accepted before, in this crawl or an earlier one."""
        parts = urlsplit(url)
        if self._budget is None or url in self._counted or not is_numbered(parts):
            return
        self._counted[url] = None
        self._counts.update(list(self._limits(parts)))

    def _limits(self, parts: SplitResult) -> dict[str, float]:
        """The templates that a URL belongs to, each with its budget."""
        assert self._budget is not None
        path = path_form(parts)
        if not parts.query:
            share = SHARE_OF_GENERATED if DATE_PATH.search(parts.path) else 1.0
            return {self._counted_as(path, parts): max(1.0, share * self._budget)}
        names = names_of(parts)
        share = SHARES.get(len(names), SHARE_OF_GENERATED)
        if any(CALENDAR.search(name) for name in names):
            share = SHARE_OF_GENERATED
        form = self._counted_as(f"{path}?{'&'.join(names)}", parts)
        whole = self._counted_as(f"{path}?*", parts)
        return {whole: float(self._budget), form: max(1.0, share * self._budget)}

    def _counted_as(self, form: str, parts: SplitResult) -> str:
        full = form not in self._counts and len(self._counts) >= MAX_TEMPLATES
        return parts.netloc if full else form
