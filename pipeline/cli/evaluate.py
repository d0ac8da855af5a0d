"""`wrac eval`: the benchmarks, on any folder of their form."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(no_args_is_help=True, help="Measure on a benchmark folder.")
Folder = Annotated[Path, typer.Argument(metavar="DIR", help="Folder of the benchmark's form.")]
