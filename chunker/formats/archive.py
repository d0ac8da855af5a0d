"""Office files are ZIP archives of XML: what they may cost is checked before they are read."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from chunker.errors import BrokenDocumentError

#: Bytes that all parts of a file may have when unpacked, and one part of XML.
_LARGEST = 512 * 1024 * 1024
_LARGEST_PART = 128 * 1024 * 1024
#: Unpacked over packed size, for files over 100 kB; real documents stay under 100.
_RATIO = 200
_SMALL = 100_000
_PARTS = 20_000
_DTD = re.compile(rb"<!(?:DOCTYPE|ENTITY)", re.I)


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Turn whatever a library raises over `what` into `BrokenDocumentError`.

    The readers of Office files have no error class of their own: any fault is the file's, except
    a want of memory.
    """
    try:
        yield
    except (BrokenDocumentError, MemoryError):
        raise
    except Exception as error:
        said = str(error) or type(error).__name__
        raise BrokenDocumentError(f"{what} cannot be read: {said}") from error


def check(body: bytes) -> None:
    """Raise `BrokenDocumentError` for a file that is damaged, encrypted, or made to explode."""
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            parts = archive.infolist()
            _check_sizes(parts, len(body))
            for part in parts:
                if part.filename.lower().endswith((".xml", ".rels", ".vml")):
                    with archive.open(part) as stream:
                        if _DTD.search(stream.read(2048)):
                            raise BrokenDocumentError(f"{part.filename} declares entities")
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError) as error:
        raise BrokenDocumentError(f"the archive is damaged: {error}") from error
    except NotImplementedError as error:  # a way of packing that zipfile does not know
        raise BrokenDocumentError(f"the archive cannot be unpacked: {error}") from error
    except RuntimeError as error:  # zipfile's error for a part with a password
        raise BrokenDocumentError("the archive is encrypted") from error


def _check_sizes(parts: list[zipfile.ZipInfo], packed: int) -> None:
    if len(parts) > _PARTS:
        raise BrokenDocumentError(f"the archive has {len(parts)} parts")
    if any(part.flag_bits & 1 for part in parts):
        raise BrokenDocumentError("the archive is encrypted")
    total = sum(part.file_size for part in parts)
    largest = max((p.file_size for p in parts if p.filename.lower().endswith(".xml")), default=0)
    if total > _LARGEST or largest > _LARGEST_PART or total > max(packed, _SMALL) * _RATIO:
        raise BrokenDocumentError(f"the archive unpacks to {total:,} bytes")
