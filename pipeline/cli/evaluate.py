"""`wrac eval`: the benchmarks, on any folder of their form."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from chunker.policy import Policy
from chunker.policy import load as load_policy
from pipeline.cli.options import HomeOption, JsonOption, PolicyOption, settings
from pipeline.cli.output import answer, err, out
from pipeline.errors import UsageError

app = typer.Typer(no_args_is_help=True, help="Measure on a benchmark folder.")

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="A folder of the benchmark's form.")]


@app.command()
def retrieval(
    directory: Folder,
    policy: PolicyOption = None,
    embedder: Annotated[str | None, typer.Option("--embedder", metavar="SPEC")] = None,
    method: Annotated[
        list[str] | None, typer.Option("--method", help="Only these methods.", metavar="NAME")
    ] = None,
    form: Annotated[
        list[str] | None,
        typer.Option("--form", help="Other forms of the documents: html, flattened, ..."),
    ] = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """What chunks find: facts within a budget of tokens, recall, rank; product, paper, peers."""
    from pipeline.evaluation import retrieval as benchmark
    from pipeline.evaluation.retrieval_vectors import CUSTOMER, open_answers
    from pipeline.planning import check_supported, open_planner, running

    known, _ = settings(home, embedder=embedder)
    wanted = load_policy(policy) if policy else Policy()
    check_supported(wanted, known)

    def measure() -> dict[str, Any]:
        with running(known, wanted):
            return benchmark.evaluate(
                directory,
                policy=wanted,
                planner=open_planner(known, wanted, CUSTOMER, open_answers())
                if wanted.asks_model
                else None,
                embedder=known.embedder,
                only=method,
                forms=tuple(form or ()),
                progress=lambda line: err.print(line, markup=False),
            )

    result = _checked(measure)
    answer(result, as_json, lambda: out.print(benchmark.table(result), markup=False))


@app.command()
def extraction(directory: Folder, as_json: JsonOption = False) -> None:
    """What the parser takes for a page's content, against what people do; peers in the same run."""
    from pipeline.evaluation import extraction as benchmark

    result = _checked(lambda: benchmark.evaluate(directory))
    answer(result, as_json, lambda: out.print(benchmark.table(result)))


@app.command()
def tokens(
    directory: Folder,
    policy: PolicyOption = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """What planning costs in tokens and dollars, against the paper's two methods.

    With a policy that names a model planner, the model is asked about every document.
    """
    from pipeline.evaluation import tokens as benchmark
    from pipeline.planning import check_supported, open_planner, running

    known, _ = settings(home)
    wanted = load_policy(policy) if policy else Policy()
    check_supported(wanted, known)

    def measure() -> dict[str, Any]:
        if not wanted.asks_model:
            return benchmark.evaluate(directory, wanted if policy else None)
        with running(known, wanted):
            # Not from a cache: what each answer costs is what is measured.
            return benchmark.evaluate(directory, wanted, open_planner(known, wanted, "", None))

    result = _checked(measure)
    answer(result, as_json, lambda: out.print(benchmark.table(result), markup=False))


@app.command()
def formats(directory: Folder, as_json: JsonOption = False) -> None:
    """How near other formats come to the Markdown that they were made from."""
    from pipeline.evaluation import formats as benchmark

    result = _checked(lambda: benchmark.evaluate(directory))
    answer(result, as_json, lambda: out.print(benchmark.table(result)))


def _checked(measure: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The result. A folder of another form, or a missing extra, is said plainly."""
    try:
        return measure()
    except FileNotFoundError as error:
        raise UsageError(str(error), "docs/evaluation.md describes the folders") from error
    except ModuleNotFoundError as error:
        raise UsageError(
            f"measuring needs {error.name}, which is not installed",
            "pip install 'wrac[eval,formats]'",
        ) from error
