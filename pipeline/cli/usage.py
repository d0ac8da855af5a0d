"""`wrac usage`: what each customer cost, by day, for people, programs and spreadsheets."""

from __future__ import annotations

import csv
import re
import sys
from collections import Counter
from collections.abc import Iterable
from typing import Annotated, Any

import typer

from pipeline.cli.options import HomeOption, JsonOption, parts
from pipeline.cli.output import answer, out, table
from pipeline.errors import UnknownSourceError, UsageError

#: Columns of the report, in order. `seconds` is made of the milliseconds that are counted.
COLUMNS = (
    "requests",
    "bytes",
    "pages_indexed",
    "plans",
    "plan_calls",
    "plan_input_tokens",
    "plan_cached_input_tokens",
    "plan_output_tokens",
    "embedded_texts",
    "embedded_tokens",
    "seconds",
    "stored_bytes",
)
#: What is measured once a day: the last of a span counts, and not the sum.
MEASURED = "stored_bytes"


def usage(
    customer: Annotated[str | None, typer.Option("--customer", metavar="NAME")] = None,
    month: Annotated[
        str | None, typer.Option("--month", help="Only that month.", metavar="YYYY-MM")
    ] = None,
    as_csv: Annotated[
        bool, typer.Option("--csv", help="A row a customer and day, as CSV.")
    ] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what each customer cost, by day, and in all."""
    if month is not None and not re.fullmatch(r"\d{4}-(0[1-9]|1[0-2])", month):
        raise UsageError(f"{month!r} is no month", "give one like 2026-11")
    if as_csv and as_json:
        raise UsageError("--csv and --json exclude each other", "give one of them")
    opened = parts(home)
    _measure_today(opened, customer)
    rows = [row for row in opened.ledger.usage.by_day(customer) if row[1].startswith(month or "")]
    if customer is not None and not rows and not opened.ledger.sources.all(customer):
        raise UnknownSourceError(f"there is no customer {customer}", "wrac status lists them")
    days = _days(rows)
    totals = _totals(days)
    if as_csv:
        writer = csv.DictWriter(sys.stdout, ["customer", "day", *COLUMNS], lineterminator="\n")
        writer.writeheader()
        writer.writerows(days)
        return

    def show() -> None:
        shown = table("customer", "day", *(column.replace("_", " ") for column in COLUMNS))
        for row in [*days, *totals]:
            amounts = (f"{row[column]:,}" for column in COLUMNS)
            shown.add_row(row["customer"], row.get("day", "in all"), *amounts)
        out.print(shown)

    keys = ("customer", "day", "what", "amount")
    long = [dict(zip(keys, row, strict=True)) for row in rows]
    answer({"usage": long, "days": days, "totals": totals}, as_json, show)


def _measure_today(opened: Any, customer: str | None) -> None:
    from pipeline.retention import measure

    for name in {one.customer for one in opened.ledger.sources.all(customer)}:
        measure(opened, name)


def _days(rows: Iterable[tuple[str, str, str, int]]) -> list[dict[str, Any]]:
    """A row a customer and day."""
    found: dict[tuple[str, str], Counter[str]] = {}
    for customer, day, what, amount in rows:
        found.setdefault((customer, day), Counter())[what] = amount
    return [
        {"customer": customer, "day": day}
        | {column: amounts[column] for column in COLUMNS}
        | {"seconds": round(amounts["run_ms"] / 1000, 3)}
        for (customer, day), amounts in sorted(found.items())
    ]


def _totals(days: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """A row a customer, its days added up."""
    found: dict[str, dict[str, Any]] = {}
    for day in days:
        total = found.setdefault(day["customer"], dict.fromkeys(COLUMNS, 0))
        for column in COLUMNS:
            total[column] = day[column] if column == MEASURED else total[column] + day[column]
    return [
        {"customer": customer} | total | {"seconds": round(total["seconds"], 3)}
        for customer, total in found.items()
    ]
