"""`wrac ingest`: a site goes in."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from chunker.policy import load as load_policy
from crawler.model import Scope
from pipeline.cli.options import (
    AllowHostOption,
    HomeOption,
    JsonOption,
    PolicyOption,
    SourceOption,
    parts,
    settings,
)
from pipeline.cli.output import answer, err, out, table
from pipeline.home import check_name
from pipeline.settings import Settings

if TYPE_CHECKING:
    from pipeline.turn import Ingested
    from pipeline.turn import Progress as Step

#: Failed pages that the text for people names; the JSON names all.
NAMED = 20


def ingest(
    urls: Annotated[list[str], typer.Argument(metavar="URL...", help="Where the site begins.")],
    source: SourceOption,
    customer: Annotated[
        str | None, typer.Option("--customer", help="Whose it is; default: the source's name.")
    ] = None,
    include: Annotated[
        list[str] | None, typer.Option("--include", help="Only such URLs.", metavar="PATTERN")
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option("--exclude", help="No such URLs.", metavar="PATTERN")
    ] = None,
    max_pages: Annotated[int | None, typer.Option("--max-pages", min=1)] = None,
    max_depth: Annotated[int | None, typer.Option("--max-depth", min=0)] = None,
    policy: PolicyOption = None,
    allow_host: AllowHostOption = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only list URLs, each with why it is in or out.")
    ] = False,
    obey_robots: Annotated[
        bool | None, typer.Option("--obey-robots/--no-obey-robots", help="Follow robots.txt.")
    ] = None,
    delay: Annotated[
        float | None, typer.Option("--delay", help="Least seconds between requests to a host.")
    ] = None,
    render: Annotated[
        bool | None, typer.Option("--render/--no-render", help="Run the pages' JavaScript.")
    ] = None,
    embedder: Annotated[str | None, typer.Option("--embedder", metavar="SPEC")] = None,
    ray_address: Annotated[str | None, typer.Option("--ray-address", metavar="ADDRESS")] = None,
    fail_over: Annotated[
        float | None, typer.Option("--fail-over", help="Share of failed pages that is an error.")
    ] = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> int:
    """Crawl a site and index it; run again, it goes on or brings the index up to date."""
    from crawler.scope import Rules

    flags = {
        "obey_robots": obey_robots,
        "delay": delay,
        "render": render,
        "embedder": embedder,
        "ray_address": ray_address,
        "fail_over": fail_over,
    }
    check_name("source", source)
    if customer is not None:
        check_name("customer", customer)
    scope = Scope(
        seeds=tuple(urls),
        include=tuple(include or ()),
        exclude=tuple(exclude or ()),
        allow_hosts=tuple(allow_host or ()),
        max_pages=max_pages,
        max_depth=max_depth,
    )
    Rules(scope)  # refuses what is no seed, before anything is opened
    wanted = load_policy(policy) if policy else None
    if dry_run:
        return _dry_run(source, scope, settings(home, **flags)[0], as_json)
    from pipeline.ingest import ingest as run

    opened = parts(home, make=True, **flags)
    with progress(source) as step:
        result = run(opened, source, customer, scope, wanted, step)
    value = to_json(result)
    answer(value, as_json, lambda: show(result, value))
    return 4 if result.failed_share > opened.settings.fail_over else 0


def rechunk(
    source: SourceOption,
    policy: Annotated[Path, typer.Option("--policy", help="The new policy.", metavar="FILE")],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would change and cost.")
    ] = False,
    whole: Annotated[
        bool,
        typer.Option("--whole", help="Build beside, then switch; upgrade --back is the way back."),
    ] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> int:
    """Apply a policy to all that is stored of a source, without fetching anything."""
    from pipeline import rechunk as work

    wanted = load_policy(policy)
    opened = parts(home)
    if dry_run:
        from pipeline.cli.upgrade import show_forecast
        from pipeline.forecast import forecast

        pins = work.with_policy(opened, opened.ledger.sources.get(source), wanted)
        found = forecast(opened, source, pins).to_json()
        answer({"source": source, **found}, as_json, lambda: show_forecast(found))
        return 0
    with progress(source) as step:
        result = work.rechunk(opened, source, wanted, whole, step)
    value = to_json(result)
    answer(value, as_json, lambda: show(result, value))
    return 4 if result.failed_share > opened.settings.fail_over else 0


def to_json(result: Ingested) -> dict[str, Any]:
    """The counts that `ingest` and `rechunk` answer with."""
    report, tally, counts = result.report, result.tally, result.counts
    return {
        "source": result.source.name,
        "pages": {
            "fetched": tally.fetched,
            "not_modified": tally.not_modified,
            "indexed": report.indexed,
            "unchanged": result.unchanged,
            "skipped": counts.skipped,
            "failed": counts.failed,
            "deleted": report.deleted,
        },
        "chunks": {
            "added": report.chunks_added,
            "kept": report.chunks_kept,
            "deleted": report.chunks_deleted,
        },
        "plans": {
            "made": report.plans_made,
            "cached": report.plans_cached,
            "repaired": report.plans_repaired,
            "fallback": report.plans_fallback,
        },
        "embeddings": {"made": report.embeddings_made, "cached": report.embeddings_cached},
        "usage": {
            "requests": tally.requests,
            "bytes": tally.bytes,
            **asdict(report.usage),
        },
        "held": result.held.leaving if result.held else 0,
        "reasons": dict(counts.reasons),
        "seconds": round(result.seconds, 3),
        "errors": [asdict(failure) for failure in result.failures],
    }


def show(result: Ingested, value: dict[str, Any]) -> None:
    pages, chunks, made = value["pages"], value["chunks"], value["embeddings"]
    plans = value["plans"]
    counts, listed = result.counts, f"wrac pages --source {result.source.name}"
    out.print(
        f"[bold]{result.source.name}[/]: {counts.indexed} pages in {counts.chunks} chunks "
        f"are indexed, in {value['seconds']:.1f} s"
    )
    out.print(
        f"  pages   {pages['fetched']} fetched, {pages['not_modified']} not modified, "
        f"{pages['indexed']} indexed, {pages['unchanged']} unchanged, "
        f"{pages['skipped']} skipped, {pages['failed']} failed, {pages['deleted']} deleted"
    )
    out.print(
        f"  chunks  {chunks['added']} added, {chunks['kept']} kept, {chunks['deleted']} deleted; "
        f"{made['made']} embeddings made, {made['cached']} from the cache"
    )
    if value["usage"]["calls"] or plans["cached"]:
        out.print(_planned(plans, value["usage"]))
    reasons = ", ".join(f"{count} {word}" for word, count in sorted(value["reasons"].items()))
    if reasons:
        out.print(f"  why not {reasons}  ({listed} lists them)")
    if result.held:
        err.print(
            f"[yellow]nothing was removed[/]: {result.held.leaving} of {result.held.of} pages "
            f"would leave the index. Where the site has really lost them:\n"
            f"  wrac sources confirm {result.source.name}"
        )
    for error in value["errors"][:NAMED]:
        err.print(f"[red]failed[/] {escape(error['url'])}: {escape(error['error'])}")
    if len(value["errors"]) > NAMED:
        err.print(f"and {len(value['errors']) - NAMED} more: {listed} --state failed")


def _planned(plans: dict[str, int], usage: dict[str, int]) -> str:
    """What a model's planning came to, in a line."""
    line = (
        f"  plans   {plans['made']} made, {plans['cached']} from the cache; "
        f"{usage['calls']} calls, {usage['input_tokens']:,} tokens in "
        f"({usage['cached_input_tokens']:,} cached), {usage['output_tokens']:,} out"
    )
    return line + (f"; {plans['fallback']} planned without the model" if plans["fallback"] else "")


class progress:  # noqa: N801
    """Progress on standard error: pages known, indexed and waiting, while the run lasts."""

    def __init__(self, source: str) -> None:
        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.completed} of {task.total} pages, {task.fields[chunks]} chunks"),
            TimeElapsedColumn(),
            console=err,
            transient=True,
        )
        self._task = self._bar.add_task(f"{source}: starting", total=0, chunks=0)
        self._source = source

    def __enter__(self) -> Any:
        if err.is_terminal:
            self._bar.start()
        return self._step

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def _step(self, step: Step) -> None:
        counts = step.counts
        self._bar.update(
            self._task,
            description=f"{self._source}: {'crawling' if step.crawling else 'indexing'}",
            completed=counts.indexed,
            total=counts.indexed + counts.pending,
            chunks=counts.chunks,
        )


def _dry_run(source: str, scope: Scope, known: Settings, as_json: bool) -> int:
    from pipeline.crawling import listing

    found = listing(source, scope, known)
    urls = [{**asdict(one), "in": one.reason is None} for one in found]

    def show() -> None:
        shown = table("", "why", "depth", "url")
        for one in found:
            mark = "[green]in[/]" if one.reason is None else "[red]out[/]"
            shown.add_row(mark, one.reason or "", str(one.depth), escape(one.url))
        out.print(shown)
        inside = sum(one.reason is None for one in found)
        out.print(f"{inside} of {len(found)} URLs are in; nothing was stored")

    answer({"source": source, "urls": urls}, as_json, show)
    return 0
