"""`wrac search`: the chunks that answer a question best."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.markup import escape

from pipeline.cli.options import HomeOption, JsonOption, parts
from pipeline.cli.output import answer, out
from pipeline.errors import UsageError


def search(
    text: Annotated[str, typer.Argument(help="A question or words.", metavar="TEXT")],
    source: Annotated[str | None, typer.Option("--source", metavar="NAME")] = None,
    customer: Annotated[str | None, typer.Option("--customer", metavar="NAME")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Search all customers.")] = False,
    k: Annotated[
        int | None,
        typer.Option(
            "-k", min=1, max=1000, help="Most chunks; default 6, with a budget what it holds."
        ),
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option(
            "--budget",
            min=1,
            help="Most tokens to show: chunks side by side are joined, the last is cut.",
            metavar="TOKENS",
        ),
    ] = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Search what is indexed, within a source, a customer, or all."""
    from pipeline.searching import choose, find

    if not text.strip():
        raise UsageError("there is nothing to search for", "give a question or words")
    opened = parts(home)
    hits = find(opened, text, choose(opened.ledger, source, customer, everything), k, budget)
    value: dict[str, Any] = {"query": text, "hits": [asdict(hit) for hit in hits]}

    def show() -> None:
        if not hits:
            out.print(
                "nothing found"
                if budget is None
                else f"nothing fits into {budget} tokens; a larger --budget shows more"
            )
        for number, hit in enumerate(hits, 1):
            path = " > ".join(hit.heading_path)
            out.print(f"[bold]{number}. {escape(hit.title or hit.url)}[/]  [dim]{hit.score:.4f}[/]")
            out.print(f"[cyan]{escape(hit.url)}[/]")
            if path:
                out.print(f"[dim]{escape(path)}[/]")
            out.print(hit.text + (" ..." if hit.cut else ""), markup=False)
            out.print()

    answer(value, as_json, show)


def why(
    paragraph: Annotated[str, typer.Argument(help="Text of the page.", metavar="PARAGRAPH")],
    url: Annotated[str, typer.Option("--url", help="The page it stands on.")],
    query: Annotated[
        str | None, typer.Option("--query", help="The question that should have found it.")
    ] = None,
    source: Annotated[str | None, typer.Option("--source", metavar="NAME")] = None,
    customer: Annotated[str | None, typer.Option("--customer", metavar="NAME")] = None,
    k: Annotated[int, typer.Option("-k", min=1, max=1000, help="Hits that count.")] = 6,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say which stage lost a paragraph: scope, robots, fetch, region, dropped unit, plan, index,
    filter, rank."""
    from pipeline.searching import choose
    from pipeline.why import why as follow

    if not paragraph.strip():
        raise UsageError("there is no paragraph to look for", "give some of the page's text")
    opened = parts(home)
    everything = source is None and customer is None and query is None
    found = follow(
        opened, choose(opened.ledger, source, customer, everything), paragraph, url, query, k
    )
    value = {"url": url, "paragraph": paragraph, "query": query, **asdict(found)}

    def show() -> None:
        out.print(f"[bold]{found.stage}[/]: {escape(found.message)}")
        for key, item in found.evidence.items():
            if key != "above":
                out.print(f"  {key}: {item}", markup=False)
        for number, hit in enumerate(found.evidence.get("above", ()), 1):
            ranks = f"dense {hit['dense_rank']}, terms {hit['sparse_rank']}"
            path = " > ".join(hit["heading_path"])
            out.print(f"  above, {number}: {hit['url']}  {path}  ({ranks})", markup=False)

    answer(value, as_json, show)
