"""Errors of the chunker. Everything here is a function of its input, so all are terminal."""


class TransientError(Exception):
    """Trying again later can help. Raise a subclass that says what was unavailable."""


class TerminalError(Exception):
    """The same input fails the same way; trying again is of no use."""


class UnsupportedContentError(TerminalError):
    """The bytes are of no format that can be parsed; the message names what they look like."""


class BrokenDocumentError(TerminalError):
    """The bytes are of a known format and cannot be read (truncated, encrypted, empty)."""


class PolicyError(TerminalError):
    """A chunking policy has an unknown key or a value out of range; the message names it."""


class PlanError(TerminalError):
    """A plan breaks an invariant and no written rule repairs it."""
