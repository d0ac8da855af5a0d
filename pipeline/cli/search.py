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
    k: Annotated[int, typer.Option("-k", min=1, max=1000, help="Most chunks to show.")] = 6,
    budget: Annotated[
        int | None, typer.Option("--budget", min=1, help="Most tokens to show.", metavar="TOKENS")
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
            out.print("nothing found")
        for number, hit in enumerate(hits, 1):
            path = " > ".join(hit.heading_path)
            out.print(f"[bold]{number}. {escape(hit.title or hit.url)}[/]  [dim]{hit.score:.4f}[/]")
            out.print(f"[cyan]{escape(hit.url)}[/]")
            if path:
                out.print(f"[dim]{escape(path)}[/]")
            out.print(hit.text, markup=False)
            out.print()

    answer(value, as_json, show)
