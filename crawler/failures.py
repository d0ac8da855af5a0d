"""What an exception of the download means for a page."""

from __future__ import annotations

from collections.abc import Sequence

from OpenSSL import SSL
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    IgnoreRequest,
    ResponseDataLossError,
    StopDownload,
    UnsupportedURLSchemeError,
)
from twisted.internet.error import ConnectError, ConnectionLost
from twisted.python.failure import Failure

from crawler import reasons
from crawler.errors import RefusedError, UnavailableError

#: Exception, reason, whether trying again later can help. The first that fits holds.
KINDS: tuple[tuple[type[BaseException], str, bool], ...] = (
    (CannotResolveHostError, reasons.DNS, True),
    (DownloadConnectionRefusedError, reasons.CONNECT, True),
    (DownloadTimeoutError, reasons.TIMEOUT, True),
    (ResponseDataLossError, reasons.TRUNCATED, True),
    # Scrapy cancels a download when it has grown over its limit, and only then.
    (DownloadCancelledError, reasons.TOO_LARGE, False),
    # Raised on purpose, by the extension that stops images and the like at their headers.
    (StopDownload, reasons.FILE_TYPE, False),
    (UnsupportedURLSchemeError, reasons.BAD_SCHEME, False),
    (DownloadFailedError, reasons.CONNECTION_LOST, True),
    (ConnectionLost, reasons.CONNECTION_LOST, True),
    (ConnectError, reasons.CONNECT, True),
    (SSL.Error, reasons.TLS, True),
    (IgnoreRequest, reasons.ERROR, False),
)


def classify(error: BaseException) -> tuple[str, bool, str]:
    """Reason, whether it is transient, and a line of detail."""
    if isinstance(error, RefusedError):
        return error.reason, False, error.detail
    if isinstance(error, UnavailableError):
        return error.reason, True, error.detail
    for failure in _wrapped(error):
        if isinstance(failure.value, RefusedError):
            return classify(failure.value)
    detail = f"{type(error).__name__}: {error}"[:500]
    if _is_tls(error):
        return reasons.TLS, True, detail
    for kind, reason, transient in KINDS:
        if isinstance(error, kind):
            return reason, transient, detail
    return reasons.ERROR, False, detail


def _is_tls(error: BaseException) -> bool:
    return any(isinstance(failure.value, SSL.Error) for failure in _wrapped(error))


def _wrapped(error: BaseException) -> Sequence[Failure]:
    """Twisted wraps what broke a connection in lists of failures."""
    return getattr(error.__cause__, "reasons", None) or ()
