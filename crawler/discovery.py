"""From links to what the frontier is told: deduplicated, with depth and the reason in or out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from scrapy.utils.datatypes import LocalCache

from crawler import reasons
from crawler.links import Link
from crawler.model import Found
from crawler.scope import Rules
from crawler.traps import Traps

#: URLs remembered as told. A site's navigation is on each of its pages: without this memory every
#: page would cost the frontier a look-up for each of its links.
TOLD = 100_000


class Discovery:
    """Turns links into `Found`; keeps a bounded memory of what this crawl has told already."""

    def __init__(self, rules: Rules, max_per_template: int | None) -> None:
        self.rules = rules
        self._traps = Traps(max_per_template)
        self._told: LocalCache[str, int] = LocalCache(TOLD)

    def found(self, links: Iterable[Link], depth: int, found_on: str | None) -> tuple[Found, ...]:
        """The links that were not told before, or only as deeper.

        `depth` is their clicks from a seed.
        """
        spelt = (replace(link, url=self.rules.spelt(link.url)) for link in links)
        return tuple(
            Found(link.url, depth, found_on, self._why_not(link, depth), link.listed_at)
            for link in spelt
            # When a page changed is news also where the page is known.
            if link.listed_at is not None or depth < self._told.get(link.url, depth + 1)
        )

    def accepted_before(self, urls: Iterable[str]) -> None:
        """URLs that an earlier crawl of the source took in: they count in the budgets of traps."""
        for url in urls:
            self._traps.count(url)

    def told(self, links: Iterable[Found]) -> None:
        """These links are on the frontier's record now."""
        for link in links:
            # What was too deep, or not to be followed, may be found better from another page.
            if link.reason not in (reasons.TOO_DEEP, reasons.NOFOLLOW):
                self._told[link.url] = link.depth

    def _why_not(self, link: Link, depth: int) -> str | None:
        reason = self.rules.why_not(link.url, depth)
        if reason is None and link.nofollow:
            return reasons.NOFOLLOW
        if reason is None and self._traps.caught(link.url):
            return reasons.TRAP
        return reason
