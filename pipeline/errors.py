"""Errors of the pipeline. Each carries the way out as `hint`, and the exit code it ends in."""

from __future__ import annotations


class PipelineError(Exception):
    """Base of the two kinds. `code` is a fixed word for programs, `hint` the way out."""

    code = "error"
    exit_code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (str(self), self.hint)


class TransientError(PipelineError):
    """Trying again later can help."""


class TerminalError(PipelineError):
    """The same call fails the same way."""


class UsageError(TerminalError):
    """A flag, a setting or a file is wrong. The message names it."""

    code = "usage"
    exit_code = 2


class UnknownSourceError(UsageError):
    """No source, customer or page of that name is in the home folder."""

    code = "unknown_source"


class HomeError(UsageError):
    """The home folder cannot be used: not writable, not a folder, of a newer schema."""

    code = "home"


class StorageFullError(TransientError):
    """A write failed because the disk is full or its quota is used up."""

    code = "storage_full"
    exit_code = 3


class SourceBusyError(TransientError):
    """Another run holds the source; the message names it."""

    code = "source_busy"
    exit_code = 3


class ServiceMissingError(TransientError):
    """A service that the command needs (database, index, planner) does not answer."""

    code = "service_missing"
    exit_code = 3


class CacheUnavailableError(TransientError):
    """A cache cannot be reached or read. It may be lost: what runs goes on without it."""

    code = "cache_unavailable"
    exit_code = 3


class CacheSpecError(UsageError):
    """A cache's address names no known kind; the hint lists the kinds."""

    code = "cache_spec"


class PinnedError(UsageError):
    """The settings ask for a model other than the one that the source's index was built with."""

    code = "pinned"


class EmptySourceError(TerminalError):
    """The crawl ended without a single page; the message says what the seeds answered."""

    code = "empty_source"
    exit_code = 4
