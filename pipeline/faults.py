"""What an error of a package below means to whoever ran the command."""

from __future__ import annotations

import errno

import structlog
from sqlalchemy.exc import OperationalError

import chunker.errors
import crawler.errors
import indexer.errors
import planner_serving.errors

log = structlog.get_logger()

_FULL = "storage_full", 3, "nothing is lost: make room and run the command again"


def describe(error: Exception) -> str:
    """The error in one line."""
    said = error.orig if isinstance(error, OperationalError) else error
    return str(said).strip() or type(error).__name__


def classify(error: Exception) -> tuple[str, int, str]:
    """A fixed word, the exit code, and the way out."""
    transient = (
        chunker.errors.TransientError,
        crawler.errors.TransientError,
        indexer.errors.TransientError,
        planner_serving.errors.TransientError,
    )
    terminal = (
        chunker.errors.TerminalError,
        crawler.errors.TerminalError,
        indexer.errors.TerminalError,
        planner_serving.errors.TerminalError,
    )
    if isinstance(error, transient):
        return _word(error), 3, "nothing is lost: run the command again when it is back"
    if isinstance(error, planner_serving.errors.PlannerModelError):
        return (
            _word(error),
            2,
            "wrac config shows the planner_ settings; WRAC_PLANNER_KEY is the key",
        )
    if isinstance(error, terminal):
        return _word(error), 2, ""
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return _FULL
    if isinstance(error, OperationalError):
        return _database(error)
    log.error("unexpected fault", exc_info=error)
    return "fault", 1, "WRAC_LOG_LEVEL=DEBUG shows where; please report it"


def _database(error: OperationalError) -> tuple[str, int, str]:
    """What the ledger's database said. Its words are SQLite's and PostgreSQL's own."""
    said = str(error.orig).lower()
    if "full" in said or "no space" in said:
        return _FULL
    if "readonly" in said or "read-only" in said:
        return "home", 2, "the ledger cannot be written: mend its mode, or choose another --home"
    return "service_missing", 3, "nothing is lost: run the command again when the ledger is back"


def _word(error: Exception) -> str:
    """`PolicyError` -> `policy`, `IndexBusyError` -> `index_busy`."""
    name = type(error).__name__.removesuffix("Error")
    return "".join("_" + c.lower() if c.isupper() else c for c in name).lstrip("_")
