"""Errors of planning: whether trying again can help."""


class TransientError(Exception):
    """Trying again later can help. Raise a subclass that says what was unavailable."""


class TerminalError(Exception):
    """The same outline fails the same way; trying again is of no use."""
