"""A value that shows whether it is whole, and whether it is the one that was kept under its key."""

from __future__ import annotations

import hashlib

_MARK = b"w1"
_DIGEST = 8  # bytes: it finds damage, it is no defence against whoever can write to the cache


def seal(key: str, value: bytes) -> bytes:
    """What is stored of `value` under `key`."""
    return _MARK + _check(key, value) + value


def unseal(key: str, stored: bytes) -> bytes | None:
    """The value again. None where it is damaged, another key's, or of another version."""
    head = len(_MARK) + _DIGEST
    value = stored[head:]
    return value if stored[:head] == _MARK + _check(key, value) else None


def _check(key: str, value: bytes) -> bytes:
    name = key.encode()
    return hashlib.blake2b(
        len(name).to_bytes(4, "big") + name + value, digest_size=_DIGEST
    ).digest()
