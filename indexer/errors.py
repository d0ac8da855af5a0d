"""Errors of the indexer. A retry policy is one `isinstance`: transient or terminal.

Every class takes one message, so that errors survive pickling between processes.
"""


class TransientError(Exception):
    """Trying again later can help. Raise a subclass that says what was unavailable."""


class TerminalError(Exception):
    """The same call fails the same way until somebody changes something."""


# embedding


class EmbedderSpecError(TerminalError):
    """An embedder's specification names no known kind; the message lists the kinds."""


class ModelNotFoundError(TerminalError):
    """A model's files, or the package that carries or runs it, are not installed."""


class ModelDigestError(TerminalError):
    """A model's file is not the one that is pinned; the message names both digests."""


class ModelUnsupportedError(TerminalError):
    """A model's files are there and cannot be run (pooling, inputs, damaged file)."""


class EmbedderUnavailableError(TransientError):
    """An embedding endpoint did not answer, is overloaded, or is failing (429, 5xx)."""


class EmbedderRefusedError(TerminalError):
    """An embedding endpoint refused the request (4xx); the message quotes the status."""


class EmbedderAnswerError(TerminalError):
    """An embedding endpoint answered with a wrong count or size of vectors."""


# index


class IndexUnavailableError(TransientError):
    """The vector index cannot be reached or went away, and restarting it did not help."""


class IndexBusyError(TransientError):
    """The index's files are held by another process that does not answer on its socket."""


class IndexFullError(TransientError):
    """The disk that holds the index is full; what was acknowledged before is kept."""


class HomeNotWritableError(TerminalError):
    """The home folder cannot be created or written."""


class IndexDamagedError(TerminalError):
    """A slot's files cannot be read; dropping the slot removes them."""


class IndexRefusedError(TerminalError):
    """The Qdrant server will not do what was asked (too old, no access, a fault of ours)."""


class PointError(TerminalError):
    """A point does not fit its slot or its page (dimensions, URL, repeated id)."""


class SlotError(TerminalError):
    """Slots that cannot be searched or stored together (another embedder, unsafe names)."""
