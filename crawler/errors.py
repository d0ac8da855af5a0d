"""Errors of the crawler. A page that fails is a `Missed` outcome; these never end a crawl alone."""


class TransientError(Exception):
    """Trying again later can help."""


class TerminalError(Exception):
    """The same input fails the same way; trying again is of no use."""


class SeedError(TerminalError):
    """A seed is no http(s) URL; the message names it."""


class InvalidUrlError(TerminalError):
    """A string cannot be read as a URL (no host, a malformed IPv6 address, a bad port)."""


class AccessError(TerminalError):
    """A site does not let the crawler in: it could not log in, or its log-in has expired."""


class BrowserError(TerminalError):
    """Pages are to be rendered and there is no browser that starts; the message says what lacks."""


class RefusedError(TerminalError):
    """A request was not made, or its response not kept, by a rule. `reason` is the fixed word."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(reason, detail)
        self.reason = reason
        self.detail = detail


class UnavailableError(TransientError):
    """A request was not made because of the state that its host is in."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(reason, detail)
        self.reason = reason
        self.detail = detail
