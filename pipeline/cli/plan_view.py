"""A plan as the command line shows it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from chunker.model import Plan
from pipeline.cli.output import out, table
from pipeline.page import from_cache


def to_json(url: str, plan: Plan) -> dict[str, Any]:
    """The fields of `wrac plan`."""
    return {
        "url": url,
        **asdict(plan),
        "cached": from_cache(plan),
    }


def show(plan: Plan) -> None:
    """A line a group, then what is dropped, and what had to be mended."""
    why = {boundary.before: boundary for boundary in plan.boundaries}
    shown = table("", "units", "why", "by", "sure")
    for number, group in enumerate(plan.groups, 1):
        boundary = why.get(group[0])
        shown.add_row(
            str(number),
            " ".join(group),
            boundary.why if boundary else "",
            boundary.by if boundary else "",
            f"{boundary.confidence:.2f}" if boundary else "",
        )
    out.print(shown)
    for unit, reason in plan.dropped.items():
        out.print(f"dropped {unit}: {reason}", markup=False)
    for repair in plan.repairs:
        out.print(f"repaired: {repair}", markup=False)
    usage = plan.usage
    if usage.calls or usage.cached_calls:
        out.print(
            f"{usage.calls} calls, {usage.input_tokens:,} tokens in "
            f"({usage.cached_input_tokens:,} cached), {usage.output_tokens:,} out; "
            f"{usage.cached_calls} answers from the plan cache"
        )
