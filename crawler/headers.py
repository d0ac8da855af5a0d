"""A limit on the bytes of a response's headers, which neither Scrapy nor Twisted has."""

from __future__ import annotations

from typing import Any

from scrapy.core.downloader.handlers.http11 import _LenientHTTP11ClientFactory
from twisted.python.failure import Failure
from twisted.web._newclient import HEADER, STATUS

from crawler import reasons
from crawler.errors import RefusedError

#: Status line and headers of a response together; servers' own limits on requests are far less.
MAX_BYTES = 256 * 1024


class BoundedHeadersFactory(_LenientHTTP11ClientFactory):
    """Scrapy's factory of connections, which gives up on one whose headers do not end."""

    def buildProtocol(self, addr: Any) -> Any:  # noqa: N802 (Twisted's interface)
        protocol: Any = super().buildProtocol(addr)
        deliver, read = protocol.dataReceived, 0

        def received(data: bytes) -> None:
            nonlocal read
            parser = protocol._parser
            in_headers = parser is not None and parser.state in (STATUS, HEADER)
            read = read + len(data) if in_headers else 0
            if read > MAX_BYTES:
                detail = f"headers of more than {MAX_BYTES} bytes"
                error = RefusedError(reasons.TOO_LARGE, detail)
                protocol._giveUp(Failure(error))  # type: ignore[no-untyped-call]
            else:
                deliver(data)

        protocol.dataReceived = received
        return protocol
