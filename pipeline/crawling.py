"""The crawl over ledger and page store, and single pages without either."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from crawler.model import Fetched, Found, Missed, Outcome, Politeness, Scope, Task
from crawler.urls import from_name, host
from pipeline.budgets import Budgets
from pipeline.errors import UsageError
from pipeline.frontier import LedgerFrontier
from pipeline.ledger import Source
from pipeline.parts import Parts
from pipeline.settings import Settings

if TYPE_CHECKING:
    from crawler.memory import Listing


log = structlog.get_logger()

#: Redirects that a single page may be behind.
MAX_REDIRECTS = 10


def politeness(settings: Settings) -> Politeness:
    """How sites are asked, by these settings."""
    return Politeness(
        user_agent=settings.user_agent,
        obey_robots=settings.obey_robots,
        delay=settings.delay,
        concurrency_per_host=settings.concurrency_per_host,
        timeout=settings.timeout,
        max_body_bytes=settings.max_body_bytes,
        render=settings.render,
    )


def check_named(asked: Politeness, scope: Scope) -> None:
    """Warns where a crawl of other people's sites says of nobody how to be reached."""
    theirs = {host(seed) for seed in scope.seeds} - {host(from_name(n)) for n in scope.allow_hosts}
    if theirs and asked.user_agent == Settings.model_fields["user_agent"].default:
        log.warning(
            "the crawler names no contact: set user_agent (or WRAC_USER_AGENT)",
            user_agent=asked.user_agent,
        )


@dataclass(frozen=True, slots=True)
class OpenFrontier:
    """Opens the durable frontier in the process that crawls."""

    parts: Parts
    source: Source
    runner: str

    def __call__(self) -> LedgerFrontier:
        parts, source = self.parts, self.source
        budgets = Budgets(parts.settings, parts.ledger, source.customer)
        return LedgerFrontier(parts.ledger, parts.store, source, self.runner, budgets=budgets)


def listing(name: str, scope: Scope, settings: Settings) -> list[Listing]:
    """Every URL that a crawl would meet, with the reason why it is in or out."""
    from crawler.crawl import dry_run

    return dry_run(name, scope, politeness(settings))


def fetch(url: str, settings: Settings, allow_hosts: Sequence[str]) -> Fetched:
    """One page, asked for as a crawl would. Raises `UsageError` where there is none to be had."""
    from crawler.crawl import run

    scope = Scope(seeds=(url,), allow_hosts=tuple(allow_hosts), max_depth=0)
    only = _OnePage()
    run("fetch", scope, politeness(settings), only)
    match only.outcome:
        case Fetched() as page:
            return page
        case Missed() as missed:
            to = f" to {missed.target}" if missed.target else ""
            detail = f": {missed.detail}" if missed.detail else ""
            hint = "--allow-host HOST lets a loopback or private host in"
            raise UsageError(
                f"{url} cannot be read: {missed.reason}{to}{detail}",
                hint if missed.reason == "forbidden_address" else "",
            )
        case _:
            raise UsageError(f"{url} cannot be read", "give an http or https URL, or a file")


class _OnePage:
    """A frontier of a single page and the redirects that lead to it."""

    def __init__(self) -> None:
        self.outcome: Outcome | None = None
        self._seeds: list[Found] = []
        self._hops = MAX_REDIRECTS

    def claim(self, limit: int) -> Sequence[Task]:
        seeds, self._seeds = self._seeds[:1], []
        return [Task(seed.url, 0) for seed in seeds]

    def discovered(self, links: Sequence[Found]) -> None:
        if self.outcome is None:
            self._seeds += [link for link in links if link.found_on is None]

    def record(self, outcome: Outcome) -> None:
        self.outcome = outcome
        if isinstance(outcome, Missed) and outcome.target and self._hops:
            self._hops -= 1
            self._seeds.append(Found(outcome.target, 0, None))
