"""Frames between the index process and its clients: a length, then MessagePack. No pickle."""

from __future__ import annotations

import errno
import socket
import struct
from typing import Any

import msgpack  # type: ignore[import-untyped]

from indexer import errors

#: A page's points come in one frame. A longer one is a fault of the other side.
MAX_FRAME = 1 << 30

_LENGTH = struct.Struct(">I")


def send(connection: socket.socket, message: Any) -> None:
    """Write one message. Raises `OSError` where the other side is gone."""
    body = msgpack.packb(message, use_bin_type=True)
    connection.sendall(_LENGTH.pack(len(body)) + body)


def receive(connection: socket.socket) -> Any:
    """Read one message. Raises `EOFError` at the end of the stream, or in the middle of a frame."""
    (length,) = _LENGTH.unpack(_exactly(connection, _LENGTH.size))
    if length > MAX_FRAME:
        raise EOFError(f"a frame of {length} bytes")
    return msgpack.unpackb(_exactly(connection, length), raw=False)


def _exactly(connection: socket.socket, size: int) -> bytearray:
    data = bytearray(size)
    view = memoryview(data)
    while view:
        got = connection.recv_into(view)
        if not got:
            raise EOFError("the connection ended")
        view = view[got:]
    return data


def fault(error: Exception) -> dict[str, str]:
    """An error as it is sent; anything but the indexer's own becomes one of them."""
    if getattr(error, "errno", None) == errno.ENOSPC or "No space left" in str(error):
        error = errors.IndexFullError(str(error))
    known = isinstance(error, errors.TransientError | errors.TerminalError)
    name = type(error).__name__ if known else errors.IndexUnavailableError.__name__
    return {"error": name, "message": str(error) if known else f"{type(error).__name__}: {error}"}


def raised(message: dict[str, str]) -> Exception:
    """The error that `fault` described."""
    kind = getattr(errors, message["error"], errors.IndexUnavailableError)
    error: Exception = kind(message["message"])
    return error
