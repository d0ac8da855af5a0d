"""What an error of a package below means to whoever ran the command."""

from __future__ import annotations

import errno

import structlog

import chunker.errors
import crawler.errors
import indexer.errors

log = structlog.get_logger()


def classify(error: Exception) -> tuple[str, int, str]:
    """A fixed word, the exit code, and the way out."""
    transient = (
        chunker.errors.TransientError,
        crawler.errors.TransientError,
        indexer.errors.TransientError,
    )
    terminal = (
        chunker.errors.TerminalError,
        crawler.errors.TerminalError,
        indexer.errors.TerminalError,
    )
    if isinstance(error, transient):
        return _word(error), 3, "nothing is lost: run the command again when it is back"
    if isinstance(error, terminal):
        return _word(error), 2, ""
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "storage_full", 3, "make room and run the command again"
    log.error("unexpected fault", exc_info=error)
    return "fault", 1, "WRAC_LOG_LEVEL=DEBUG shows where; please report it"


def _word(error: Exception) -> str:
    """`PolicyError` -> `policy`, `IndexBusyError` -> `index_busy`."""
    name = type(error).__name__.removesuffix("Error")
    return "".join("_" + c.lower() if c.isupper() else c for c in name).lstrip("_")
