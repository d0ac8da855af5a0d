"""Starts crawls in processes of their own, which can be killed.

They are forked from a server that has imported what a crawl needs and nothing else, as importing
takes longer than most of the crawls here.
"""

from __future__ import annotations

import multiprocessing
import os
from dataclasses import fields
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from crawler.access import Access
from crawler.model import Politeness, Scope
from tests.crawler.sqlite_frontier import SqliteFrontier

AGENT = "wrac/0.1 (+mailto:crawler@example.com)"
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(
    [
        "tests.crawler.crawling",
        "crawler.crawl",
        "crawler.access",
        "crawler.addresses",
        "crawler.compression",
        "crawler.download",
        "crawler.media",
        "crawler.redirects",
        "crawler.robots",
        "scrapy.core.scheduler",
        "scrapy.extensions.throttle",
        "scrapy.pqueues",
    ]
)
POLITENESS = frozenset(field.name for field in fields(Politeness)) - {"user_agent"}


class Crawl:
    """A crawl of loopback that has been started; `ledger` is None for a dry run."""

    def __init__(self, ledger: Path | None, seed: str, **options: Any) -> None:
        """Options are fields of Scope and Politeness."""
        access = options.pop("access", None)
        politeness = {name: options.pop(name) for name in POLITENESS & set(options)}
        scope = Scope(seeds=(seed,), **{"allow_hosts": ("127.0.0.1",), **options})
        self._answers, theirs = PROCESSES.Pipe(duplex=False)
        self._process = PROCESSES.Process(
            target=_run, args=(theirs, ledger, scope, Politeness(AGENT, **politeness), access)
        )
        self._process.start()
        theirs.close()

    def kill(self) -> None:
        self._process.kill()
        self._process.join()

    def result(self) -> Any:
        """Its tally, or the listings of a dry run; raises what it raised."""
        assert self._answers.poll(100), "the crawl does not end"
        result = self._answers.recv()
        self._process.join()
        if isinstance(result, BaseException):
            raise result
        return result


def crawl(ledger: Path | None, seed: str, **options: Any) -> Any:
    """A whole crawl; see `Crawl`."""
    return Crawl(ledger, seed, **options).result()


def ledger_of(path: Path) -> SqliteFrontier:
    return SqliteFrontier(path, "the test")


def _run(
    answers: Connection,
    ledger: Path | None,
    scope: Scope,
    politeness: Politeness,
    access: Access | None,
) -> None:
    from crawler.crawl import dry_run, run

    try:
        if ledger is None:
            answers.send(dry_run("site", scope, politeness))
        else:
            frontier = SqliteFrontier(ledger, str(os.getpid()), scope.max_pages)
            answers.send(run("site", scope, politeness, frontier, access=access))
    except Exception as error:
        answers.send(error)
