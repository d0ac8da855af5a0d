"""How commands answer: JSON or text on standard output, all else on standard error."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from rich.console import Console
from rich.table import Table

err = Console(stderr=True, highlight=False, soft_wrap=True)
#: Into a pipe or a file a line may be as long as it is.
out = Console(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else 200)


def answer(value: Mapping[str, Any], as_json: bool, show: Callable[[], None]) -> None:
    """Print a command's answer: one JSON object, or what `show` prints."""
    if as_json:
        sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2, default=_plain) + "\n")
    else:
        show()


def _plain(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def table(*columns: str) -> Table:
    """A plain table. What does not fit is folded: a URL is never cut."""
    made = Table(box=None, header_style="bold", pad_edge=False)
    for column in columns:
        made.add_column(column, overflow="fold")
    return made


def fail(code: str, message: str, hint: str, as_json: bool) -> None:
    """Print an error: as JSON on standard output, or as two lines on standard error."""
    if as_json:
        body = {"error": {"code": code, "message": message, "hint": hint}}
        sys.stdout.write(json.dumps(body, ensure_ascii=False, indent=2) + "\n")
        return
    err.print("[bold red]error:[/] ", end="")
    err.print(message, markup=False)
    if hint:
        err.print(f"  {hint}", markup=False)


@contextmanager
def pipe_safe():  # type: ignore[no-untyped-def]
    """A reader that closes the pipe early (`| head`) ends the command quietly."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
