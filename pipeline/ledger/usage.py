"""What each customer cost, by day."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

from sqlalchemy import Engine, select

from pipeline.ledger import sql
from pipeline.ledger.schema import usage


class UsageBook:
    """The `usage` table: amounts only grow."""

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

    def by_day(self, customer: str | None = None) -> list[tuple[str, str, str, int]]:
        """Rows of customer, day, what and amount, in that order."""
        query = select(usage).order_by(usage.c.customer, usage.c.day, usage.c.what)
        if customer is not None:
            query = query.where(usage.c.customer == customer)
        with sql.read(self._engine) as connection:
            return [tuple(row) for row in connection.execute(query)]
