"""The crawl as a Ray task: the one file of this package that knows Ray."""

from __future__ import annotations

from collections.abc import Callable

import ray

from crawler.access import Access
from crawler.model import Politeness, Scope, Tally
from crawler.ports import CountedFrontier, Frontier


@ray.remote(max_calls=1, max_retries=0)
def crawl(
    source: str,
    scope: Scope,
    politeness: Politeness,
    open_frontier: Callable[[], Frontier],
    progress: Callable[[Tally], None] | None = None,
    open_access: Callable[[], Access | None] = lambda: None,
) -> Tally:
    """`crawler.crawl.run` in a worker process of its own, which ends with it.

    A reactor cannot be started twice in a process, hence `max_calls=1`. A crawl that dies is not
    repeated by Ray: the frontier is durable, and whoever started it starts it again.
    """
    from crawler.crawl import run

    frontier = open_frontier()
    tally = run(source, scope, politeness, frontier, progress, open_access())
    if isinstance(frontier, CountedFrontier):
        frontier.counted(tally)
    return tally
