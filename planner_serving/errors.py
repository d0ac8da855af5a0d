"""Errors of planning. A retry policy is one `isinstance`: transient or terminal.

Every class takes one message, so that errors survive pickling between processes.
"""

from chunker.model import Usage


class PlanningError(Exception):
    """Base of the two kinds."""

    usage = Usage()
    """What was paid for parts of the page before this ended it."""


class TransientError(PlanningError):
    """Trying again later can help. Raise a subclass that says what was unavailable."""


class TerminalError(PlanningError):
    """The same outline fails the same way; trying again is of no use."""


class PlannerUnavailableError(TransientError):
    """The model cannot be reached, is overloaded or failing (429, 5xx), or did not answer in
    time."""


class PlannerBusyError(PlannerUnavailableError):
    """The model has too much to do (429, 503): every prompt waits alike."""


class EngineDiedError(PlannerUnavailableError):
    """An engine or its replica ended while it had the prompt: another one can answer."""


class PlannerRefusedError(TerminalError):
    """The model's server refused the request (4xx); the message quotes the status."""


class PlannerAnswerError(TerminalError):
    """What came back is no completion, or not in the grammar that was asked for."""


class PromptTooLongError(TerminalError):
    """A prompt is longer than the model reads; counted before it is sent."""


class PlannerModelError(TerminalError):
    """A model's folder, its device or the package that runs it is not there or does not fit, or its
    server does not know the model or the key. No page can do anything for it."""


class PlannerSilentError(TerminalError):
    """The model answers others, and this prompt never: too slow for it, or it breaks there."""


class NotAskedError(TerminalError):
    """What would cost something was only to be foreseen."""
