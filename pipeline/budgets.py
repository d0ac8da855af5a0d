"""What a customer may cost in a day and in a month: a warning before, a stop at the limit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

import structlog

from pipeline.errors import TransientError
from pipeline.ledger import Ledger
from pipeline.settings import Budget, Settings

log = structlog.get_logger()

#: Applies to customers that have no budget of their own.
EVERYBODY = "*"
#: Which amounts of the usage book count against which limit.
COUNTED = {
    "requests": ("requests",),
    "plan_tokens": ("plan_input_tokens", "plan_output_tokens"),
    "embeddings": ("embedded_texts",),
}


class BudgetError(TransientError):
    """A customer has used up a budget; the message names it, the hint says when it begins anew."""

    code = "budget"
    exit_code = 3


@dataclass(frozen=True, slots=True)
class Level:
    """How much of one limit is used."""

    customer: str
    what: str
    per: str
    used: int
    limit: int
    resets: date
    warned: bool
    """The share at which to warn is reached."""

    @property
    def left(self) -> int:
        return max(0, self.limit - self.used)

    def __str__(self) -> str:
        what = self.what.replace("_", " ")
        return f"customer {self.customer}: {self.used:,} of {self.limit:,} {what} a {self.per}"


class Budgets:
    """A customer's budgets over the usage book. What is under way when one is used up is ended, so
    the last batches may go over it."""

    def __init__(self, settings: Settings, ledger: Ledger, customer: str) -> None:
        self._budget = settings.budgets.get(customer) or settings.budgets.get(EVERYBODY)
        self._ledger = ledger
        self._customer = customer
        self._said: set[tuple[str, str]] = set()

    def levels(self, now: datetime | None = None) -> list[Level]:
        """Every limit that the customer has, and how much of it is used."""
        if self._budget is None:
            return []
        return list(self._levels(self._budget, (now or datetime.now(UTC)).date()))

    def check(self, *kinds: str) -> None:
        """Raises `BudgetError` where one of these limits is used up; warns, once, before."""
        for level in self.levels():
            if level.what in kinds:
                self._warn(level)
                if not level.left:
                    raise BudgetError(
                        f"budget used up: {level}",
                        f"it begins anew on {level.resets}; budgets in wrac.toml raise it",
                    )

    def loop(self) -> None:
        """`check` of what the reconciling loop uses: before pages are claimed."""
        self.check("plan_tokens", "embeddings")

    def requests_left(self) -> int | None:
        """How many more requests may be made; None: no limit."""
        levels = [level for level in self.levels() if level.what == "requests"]
        for level in levels:
            self._warn(level)
        return min((level.left for level in levels), default=None)

    def _levels(self, budget: Budget, today: date) -> Iterator[Level]:
        first = today.replace(day=1)
        spans = {
            "day": (today, today + timedelta(days=1)),
            "month": (first, (first + timedelta(days=32)).replace(day=1)),
        }
        for per, (since, resets) in spans.items():
            used: dict[str, int] | None = None
            for what, counted in COUNTED.items():
                limit = getattr(budget, f"{what}_per_{per}")
                if limit is None:
                    continue
                if used is None:
                    used = self._ledger.usage.since(self._customer, since)
                amount = sum(used.get(one, 0) for one in counted)
                warned = amount >= budget.warn_at * limit
                yield Level(self._customer, what, per, amount, limit, resets, warned)

    def _warn(self, level: Level) -> None:
        if level.warned and level.left and (level.what, level.per) not in self._said:
            self._said.add((level.what, level.per))
            log.warning("a budget is nearly used up", budget=str(level))
