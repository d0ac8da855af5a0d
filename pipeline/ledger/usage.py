"""What each customer cost, by day.

| what | counts |
|---|---|
| `requests`, `bytes` | sent or tried, robots.txt and sitemaps included; bodies as they came |
| `pages_indexed`, `plans`, `embedded_texts`, `embedded_tokens` | what was made, not what was kept |
| `plan_calls`, `plan_input_tokens`, `plan_cached_input_tokens`, `plan_output_tokens` | of a model |
| `run_ms` | milliseconds that runs held a source of the customer |
| `stored_bytes` | of the page store, the last measure of the day |
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

from sqlalchemy import Engine, func, select

from pipeline.ledger import sql
from pipeline.ledger.schema import usage


class UsageBook:
    """The `usage` table."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def add(self, customer: str, day: date, amounts: Mapping[str, int]) -> None:
        """Add to a customer's day: `requests`, `bytes`, `embedded_texts`, ..."""
        with self._engine.begin() as connection:
            for what, amount in amounts.items():
                if not amount:
                    continue
                statement = sql.insert(connection, usage).values(
                    customer=customer, day=day.isoformat(), what=what, amount=amount
                )
                connection.execute(
                    statement.on_conflict_do_update(
                        index_elements=["customer", "day", "what"],
                        set_={"amount": usage.c.amount + statement.excluded.amount},
                    )
                )

    def put(self, customer: str, day: date, what: str, amount: int) -> None:
        """Put an amount in place of the day's: what is measured and not counted."""
        with self._engine.begin() as connection:
            connection.execute(
                sql.insert(connection, usage)
                .values(customer=customer, day=day.isoformat(), what=what, amount=amount)
                .on_conflict_do_update(
                    index_elements=["customer", "day", "what"], set_={"amount": amount}
                )
            )

    def since(self, customer: str, day: date) -> dict[str, int]:
        """A customer's amounts from that day on, by what they count."""
        query = (
            select(usage.c.what, func.sum(usage.c.amount).label("amount"))
            .where(usage.c.customer == customer, usage.c.day >= day.isoformat())
            .group_by(usage.c.what)
        )
        with sql.read(self._engine) as connection:
            return {row.what: int(row.amount) for row in connection.execute(query)}

    def by_day(self, customer: str | None = None) -> list[tuple[str, str, str, int]]:
        """Rows of customer, day, what and amount, in that order."""
        query = select(usage).order_by(usage.c.customer, usage.c.day, usage.c.what)
        if customer is not None:
            query = query.where(usage.c.customer == customer)
        with sql.read(self._engine) as connection:
            return [tuple(row) for row in connection.execute(query)]
