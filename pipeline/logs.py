"""Structured logs, on standard error: readable on a terminal, JSON lines elsewhere."""

from __future__ import annotations

import logging
import sys

import structlog


def configure(level: str = "WARNING") -> None:
    """Set up logging for this process: DEBUG, INFO, WARNING or ERROR and above is shown."""
    number = logging.getLevelNamesMapping().get(level.upper(), logging.WARNING)
    renderer: structlog.typing.Processor
    if sys.stderr.isatty():
        renderer = structlog.dev.ConsoleRenderer()
    else:
        renderer = structlog.processors.JSONRenderer()
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            *_trace(number),
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )


def _trace(level: int) -> list[structlog.typing.Processor]:
    """Tracebacks are for whoever asked for them."""
    if level <= logging.DEBUG:
        return [structlog.processors.format_exc_info]
    return [_without_traceback]


def _without_traceback(
    _logger: object, _name: str, event: structlog.typing.EventDict
) -> structlog.typing.EventDict:
    error = event.pop("exc_info", None)
    if isinstance(error, BaseException):
        event["error"] = f"{type(error).__name__}: {error}"
    return event
