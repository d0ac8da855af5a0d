"""`wrac plans`: the plans behind live pages, and those that are kept to be used again."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from chunker.policy import PlannerName
from chunker.policy import load as load_policy
from pipeline.cli import plan_view
from pipeline.cli.options import HomeOption, JsonOption, parts
from pipeline.cli.output import answer, out
from pipeline.errors import UnknownSourceError, UsageError

app = typer.Typer(no_args_is_help=True, help="Show, compare and drop plans.")

UrlOption = Annotated[str, typer.Option("--url", help="A page that is indexed.")]
OneSource = Annotated[str | None, typer.Option("--source", metavar="NAME")]


@app.command()
def show(
    url: UrlOption, source: OneSource = None, home: HomeOption = None, as_json: JsonOption = False
) -> None:
    """Show the plan behind a live page: who grouped what, and why."""
    from pipeline.plans import stored

    owner, record = stored(parts(home), url, source)
    value = {"source": owner.name, **plan_view.to_json(record.document.url, record.plan)}
    answer(value, as_json, lambda: plan_view.show(record.plan))


@app.command()
def diff(
    url: UrlOption,
    planner: Annotated[
        PlannerName | None,
        typer.Option("--planner", help="Who plans the other; default: structural."),
    ] = None,
    policy: Annotated[
        Path | None,
        typer.Option(
            "--policy", help="Policy of the other; default: the source's.", metavar="FILE"
        ),
    ] = None,
    source: OneSource = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compare the plan behind a live page with another planner's, or another policy's."""
    from indexer.embedders import open_counter
    from pipeline.page import chunk
    from pipeline.planning import check_supported, planner_for, running
    from pipeline.plans import difference, stored

    opened = parts(home)
    owner, record = stored(opened, url, source)
    wanted = load_policy(policy) if policy else owner.pins.policy
    if planner or not policy:
        wanted = wanted.planned_by(planner or "structural")
    check_supported(wanted, opened.settings)
    with running(opened.settings, wanted):
        by = planner_for(opened.settings, wanted, owner.customer, opened.caches["plans"])
        other = chunk(record.document, wanted, open_counter(opened.settings.embedder), by).plan
    found = difference(record.plan, other)
    value = {
        "source": owner.name,
        "url": record.document.url,
        "planners": [record.plan.planner, other.planner],
        "same": found.same,
        **asdict(found),
    }

    def print_difference() -> None:
        out.print(
            f"groups: {found.groups[0]} by {record.plan.planner}, {found.groups[1]} by "
            f"{other.planner}, {found.kept} the same"
        )
        why = {boundary.before: boundary.why for boundary in other.boundaries}
        for id in found.begins:
            out.print(f"+ begins at {id}: {why.get(id, '')}", markup=False)
        for id in found.joined:
            out.print(f"- no longer begins at {id}", markup=False)
        for id in found.dropped:
            out.print(f"- drops {id}: {other.dropped[id]}", markup=False)
        for id in found.taken_in:
            out.print(f"+ takes {id} in", markup=False)
        for id, (before, after) in found.headings.items():
            out.print(f"  level of {id}: {before or 'as marked'} -> {after or 'as marked'}")
        for id, sections in found.under.items():
            one, two = ("what it follows" if at is None else at or "none" for at in sections)
            out.print(f"  {id} goes on with: {one} -> {two}", markup=False)

    answer(value, as_json, print_difference)


@app.command()
def drop(
    source: OneSource = None,
    customer: Annotated[str | None, typer.Option("--customer", metavar="NAME")] = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Drop the answers of models that are kept for a customer; the next plans are paid for again.

    The plans behind live pages stay with their pages.
    """
    if (source is None) == (customer is None):
        raise UsageError("say whose to drop", "--source NAME or --customer NAME, one of them")
    opened = parts(home)
    if source is not None:
        customer = opened.ledger.sources.get(source).customer
    assert customer is not None
    names = [one.name for one in opened.ledger.sources.all(customer)]
    if not names:
        raise UnknownSourceError(f"there is no customer {customer}", "wrac status lists them")
    dropped = opened.caches["plans"].forget(customer)

    def say() -> None:
        # An answer belongs to a prompt, and pages of several sources may have the same.
        out.print(
            f"{dropped} answers of {customer} dropped, for its sources {', '.join(names)}",
            markup=False,
        )

    answer({"customer": customer, "sources": names, "dropped": dropped}, as_json, say)
