"""The command line: `wrac`."""

from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path
from typing import Annotated

import typer

from pipeline.cli import admin, evaluate, look, output, plans, sources, warc
from pipeline.cli.backup import backup, reindex, restore
from pipeline.cli.ingest import ingest, rechunk
from pipeline.cli.migrate import migrate
from pipeline.cli.options import given_before
from pipeline.cli.run import run as keep_fresh
from pipeline.cli.search import search, why
from pipeline.cli.upgrade import upgrade
from pipeline.cli.usage import usage
from pipeline.errors import PipelineError
from pipeline.logs import configure

app = typer.Typer(
    name="wrac",
    help="Web sites in, a true, cheap and explainable search index out.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command()(ingest)
app.command(name="run")(keep_fresh)
app.command()(rechunk)
app.command()(warc.export)
app.command(name="import")(warc.import_)
app.command()(search)
app.command()(why)
app.command()(look.parse)
app.command()(look.plan)
app.command()(look.chunks)
app.command()(admin.pages)
app.command()(admin.status)
app.command()(admin.verify)
app.command()(usage)
app.command()(admin.forget)
app.command()(admin.config)
app.command()(migrate)
app.command()(backup)
app.command()(restore)
app.command()(reindex)
app.command()(upgrade)
app.add_typer(plans.app, name="plans")
app.add_typer(sources.app, name="sources")
app.add_typer(evaluate.app, name="eval")


#: Exit code of a command that was interrupted (128 and the signal's number).
INTERRUPTED = 130


def _version(asked: bool) -> None:
    if asked:
        output.out.print(f"wrac {metadata.version('wrac')}")
        raise typer.Exit


@app.callback()
def _main(
    home: Annotated[
        Path | None, typer.Option("--home", help="Folder of all embedded state.", metavar="DIR")
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which it is.")
    ] = False,
) -> None:
    given_before(home)


def main() -> None:
    """Run the command line; ends the process with its exit code."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command; returns its exit code: 0, 1, 2, 3, 4 or 130."""
    as_json = "--json" in arguments
    configure()
    try:
        with output.pipe_safe():
            result = app(arguments or ["--help"], prog_name="wrac", standalone_mode=False)
    except (typer.Abort, KeyboardInterrupt):
        result = INTERRUPTED
    except typer.TyperException as error:
        output.fail("usage", error.format_message(), "wrac --help", as_json)
        return 2
    except PipelineError as error:
        output.fail(error.code, str(error), error.hint, as_json)
        return error.exit_code
    except Exception as error:
        return _other(error, as_json)
    if result == INTERRUPTED:  # typer, too, makes this of an interrupt
        output.fail("interrupted", "interrupted", "run it again to go on", as_json)
    return result if isinstance(result, int) else 0


def _other(error: Exception, as_json: bool) -> int:
    """Errors of the packages below the pipeline, and faults."""
    from pipeline.faults import classify, describe

    code, exit_code, hint = classify(error)
    output.fail(code, describe(error), hint, as_json)
    return exit_code
