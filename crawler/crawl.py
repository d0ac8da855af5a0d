"""One crawl of one source: the package's front door."""

from __future__ import annotations

import logging
from collections.abc import Callable

from scrapy.crawler import AsyncCrawlerProcess

from crawler.access import Access
from crawler.discovery import Discovery
from crawler.frontier_thread import FrontierThread
from crawler.memory import Listing, MemoryFrontier
from crawler.model import Politeness, Scope, Tally
from crawler.ports import Frontier
from crawler.rendering import check
from crawler.scope import Rules
from crawler.settings import allowed_names, for_crawl
from crawler.spider import SiteSpider
from crawler.trust import find_authorities


def run(
    source: str,
    scope: Scope,
    politeness: Politeness,
    frontier: Frontier,
    progress: Callable[[Tally], None] | None = None,
    access: Access | None = None,
) -> Tally:
    """Crawls until the frontier hands out nothing and nothing is in flight; returns the counts.

    `source` names the crawl in logs. Once a process: a Twisted reactor cannot be started twice (see
    `crawler/actor.py`). The frontier is called from one thread, which is not the caller's.
    `progress` is called after every record, on the caller's thread, with the tally that is being
    counted. `access` is how the site lets the crawler in. Raises SeedError, InvalidUrlError for a
    host that is none, AccessError where the site does not let the crawler in (any more),
    BrowserError where pages are to be rendered and cannot be, and what the frontier or `progress`
    raises, which ends the crawl; a page that fails is an outcome, never
    an exception.
    """
    if politeness.render:
        check()
    # What Scrapy warns of (bodies over the limit, and the like) is in the outcomes.
    logging.getLogger("scrapy").setLevel(logging.ERROR)
    find_authorities()
    discovery = Discovery(Rules(scope), scope.max_per_template)
    settings = for_crawl(scope, politeness, access)
    tally = Tally()
    thread = FrontierThread(frontier)
    process = AsyncCrawlerProcess(settings)
    crawler = process.create_crawler(SiteSpider)
    process.crawl(
        crawler,
        name=source,
        discovery=discovery,
        politeness=politeness,
        frontier=thread,
        tally=tally,
        progress=progress,
        fast_hosts=frozenset(allowed_names(scope)),
        access=access,
    )
    try:
        process.start(install_signal_handlers=False)
    finally:
        thread.close()
    spider = crawler.spider
    if isinstance(spider, SiteSpider) and spider.failure is not None:
        raise spider.failure
    return tally


def dry_run(
    source: str,
    scope: Scope,
    politeness: Politeness,
    progress: Callable[[Tally], None] | None = None,
) -> list[Listing]:
    """Every URL that a crawl would meet, with the reason why it is in or out; stores nothing.

    Pages are asked for, because only they say what they link to; their bodies are not kept.
    """
    frontier = MemoryFrontier(scope.max_pages)
    run(source, scope, politeness, frontier, progress)
    return frontier.listings()
