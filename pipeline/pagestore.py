"""The page store: raw bodies, response metadata, parsed documents with their plans.

    <customer>/bodies/<hh>/<sha256>.zst            content-addressed inside the customer
    <customer>/sources/<source>/fetches/<hh>/<key>.zst      response metadata, by URL
    <customer>/sources/<source>/records/<hh>/<key>.zst      document, plan, origin of points, by URL
    <customer>/sources/<source>/records-<n>/<hh>/<key>.zst  the same of build n, after the first
    <customer>/sources/<source>/blocks/<hh>/<key>.zst       fingerprints of its blocks, by URL
    <customer>/sources/<source>/verdicts/<name>.zst         what the site's profile says of blocks

On any file system that fsspec reaches. Every path begins with the customer, so that removing a
customer is removing what is his.
"""

from __future__ import annotations

import errno
import hashlib
import json
import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import IO, Any

import fsspec
import zstandard
from fsspec.implementations.local import LocalFileSystem

from pipeline.errors import HomeError, StorageFullError, TerminalError, UsageError


class MissingBodyError(TerminalError):
    """The ledger names a body that the page store does not hold."""

    code = "missing_body"


class DamagedFileError(TerminalError):
    """A file of the page store does not hold what was written to it."""

    code = "damaged_file"


class MissingVerdictsError(TerminalError):
    """The ledger names verdicts that the page store does not hold."""

    code = "missing_verdicts"


class PageStore:
    """Bodies and records by customer. Writes are atomic: a reader sees a file whole or not."""

    def __init__(self, url: str) -> None:
        self._url = url
        options = {"auto_mkdir": True} if "://" not in url or url.startswith("file:") else {}
        try:
            self._fs, self._root = fsspec.core.url_to_fs(url, **options)
        except (ImportError, ValueError) as error:
            raise UsageError(
                f"the page store at {url} cannot be opened: {error}",
                "install the file system's package, or mend store_url",
            ) from error
        self._pack = zstandard.ZstdCompressor(level=3).compress

    def put_body(self, customer: str, body: bytes) -> str:
        """Store a body; returns its SHA-256. Storing it again writes nothing."""
        digest = hashlib.sha256(body).hexdigest()
        path = self._body(customer, digest)
        if not self._fs.exists(path):
            self._write(path, body)
        return digest

    def body(self, customer: str, digest: str) -> bytes:
        """A body by its hash. Raises `MissingBodyError` or `DamagedFileError`.

        A damaged file is put aside, so that the body can be stored again.
        """
        path = self._body(customer, digest)
        try:
            found = self._read(path)
        except DamagedFileError:
            self._put_aside(path)
            raise
        if found is None:
            raise MissingBodyError(
                f"body {digest[:12]} of customer {customer} is not in the page store",
                "the next crawl fetches the page again",
            )
        if hashlib.sha256(found).hexdigest() != digest:
            self._put_aside(path)
            raise _damaged(path)
        return found

    def has_body(self, customer: str, digest: str) -> bool:
        """Whether a body is there, damaged or not."""
        return bool(self._fs.exists(self._body(customer, digest)))

    def keep_bodies(
        self, customer: str, digests: Collection[str], before: datetime | None = None
    ) -> int:
        """Remove all of a customer's bodies but these, and what writing left half done.

        `before`: only those that were written before that moment.
        """
        kept = {f"{digest}.zst" for digest in digests}
        gone = [
            path
            for path in self._fs.find(f"{self._root}/{customer}/bodies")
            if path.rpartition("/")[2] not in kept
        ]
        if before is not None:
            gone = [path for path in gone if self._fs.modified(path) < before]
        for path in gone:
            self._delete(path)
        return len(gone)

    def put_fetch(self, customer: str, source: str, url: str, metadata: Mapping[str, Any]) -> None:
        """Store what the server said of a page, beside its body."""
        self._write(self._page(customer, source, "fetches", url), _encode(metadata))

    def fetch(self, customer: str, source: str, url: str) -> dict[str, Any] | None:
        return _decode(self._read(self._page(customer, source, "fetches", url)))

    def put_record(
        self, customer: str, source: str, build: int, url: str, record: Mapping[str, Any]
    ) -> None:
        """Store a page's document and plan: they explain its chunks for as long as they live."""
        self._write(self._page(customer, source, _records(build), url), _encode(record))

    def record(self, customer: str, source: str, build: int, url: str) -> dict[str, Any] | None:
        return _decode(self._read(self._page(customer, source, _records(build), url)))

    def put_blocks(self, customer: str, source: str, url: str, fingerprints: Sequence[str]) -> None:
        """Store the fingerprints of a page's blocks, 16 hexadecimal digits each."""
        path = self._page(customer, source, "blocks", url)
        self._write(path, bytes.fromhex("".join(sorted(set(fingerprints)))))

    def blocks(self, customer: str, source: str, url: str) -> frozenset[str]:
        """The fingerprints of a page's blocks; none where none were stored."""
        packed = (self._read(self._page(customer, source, "blocks", url)) or b"").hex()
        return frozenset(packed[i : i + 16] for i in range(0, len(packed), 16))

    def put_verdicts(
        self, customer: str, source: str, name: str, verdicts: Mapping[str, bool]
    ) -> None:
        """Store verdicts of the site's profile under a name that their content gives."""
        self._write(self._verdicts(customer, source, name), _encode(verdicts))

    def verdicts(self, customer: str, source: str, name: str) -> dict[str, bool]:
        """Verdicts by name. Raises `MissingVerdictsError`."""
        found = _decode(self._read(self._verdicts(customer, source, name)))
        if found is None:
            raise MissingVerdictsError(
                f"verdicts {name} of source {source} are not in the page store",
                "wrac ingest makes them again at its end",
            )
        return found

    def delete_record(self, customer: str, source: str, build: int, url: str) -> None:
        self._delete(self._page(customer, source, _records(build), url))

    def delete_records(self, customer: str, source: str, build: int) -> int:
        """Remove the records of a whole build; returns their number."""
        return self._delete_tree(f"{self._root}/{customer}/sources/{source}/{_records(build)}")

    def forget_source(self, customer: str, source: str) -> int:
        """Remove all of a source but its bodies; returns the number of files removed."""
        return self._delete_tree(f"{self._root}/{customer}/sources/{source}")

    def forget_customer(self, customer: str) -> int:
        """Remove all that is a customer's; returns the number of files removed."""
        return self._delete_tree(f"{self._root}/{customer}")

    def count(self, customer: str, source: str | None = None) -> int:
        """Files of a customer, or of one of his sources without its bodies."""
        below = f"/sources/{source}" if source is not None else ""
        return len(self._fs.find(f"{self._root}/{customer}{below}"))

    def count_bodies(self, customer: str) -> int:
        """Bodies of a customer, whichever of his sources they are of."""
        return len(self._fs.find(f"{self._root}/{customer}/bodies"))

    def size(self, customer: str) -> int:
        """Bytes that a customer's files take."""
        held = self._fs.find(f"{self._root}/{customer}", detail=True)
        return sum(int(one["size"]) for one in held.values())

    def save(self, folder: Path) -> tuple[int, int]:
        """Copy all files to a local folder; returns their number and bytes.

        A file that is replaced meanwhile is copied as it was or as it is; one that goes is left
        out.
        """
        files = total = 0
        for path in self._fs.find(self._root):
            if path.endswith(".part"):
                continue  # being written: it counts when it is there whole
            to = folder / path[len(self._root.rstrip("/")) + 1 :]
            to.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileNotFoundError):
                self._fs.get_file(path, str(to))
                files, total = files + 1, total + to.stat().st_size
        return files, total

    def load(self, folder: Path) -> int:
        """Copy all files of a local folder into the store; returns their number."""
        files = 0
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                to = f"{self._root}/{path.relative_to(folder).as_posix()}"
                with _named(self._url), self._whole(to) as file:
                    file.write(path.read_bytes())
                files += 1
        return files

    @property
    def empty(self) -> bool:
        """Whether nothing is stored."""
        return not self._fs.exists(self._root) or not self._fs.find(self._root)

    def _body(self, customer: str, digest: str) -> str:
        return f"{self._root}/{customer}/bodies/{digest[:2]}/{digest}.zst"

    def _verdicts(self, customer: str, source: str, name: str) -> str:
        return f"{self._root}/{customer}/sources/{source}/verdicts/{name}.zst"

    def _page(self, customer: str, source: str, kind: str, url: str) -> str:
        key = hashlib.sha256(url.encode()).hexdigest()[:32]
        return f"{self._root}/{customer}/sources/{source}/{kind}/{key[:2]}/{key}.zst"

    def _write(self, path: str, content: bytes) -> None:
        with _named(self._url), self._whole(path) as file:
            file.write(self._pack(content))

    @contextmanager
    def _whole(self, path: str) -> Iterator[IO[bytes]]:
        """A file that is there when all is written, or not at all."""
        if not isinstance(self._fs, LocalFileSystem):
            with self._fs.open(path, "wb", autocommit=False) as file:
                yield file
            file.commit()
            return
        # fsspec would write to the system's folder for temporary files: moving from there is a
        # copy where it is another disk, and a process that is killed leaves the body there.
        part = f"{path}.{uuid.uuid4().hex}.part"
        try:
            with self._fs.open(part, "wb") as file:
                yield file
            Path(part).replace(path)
        except BaseException:
            Path(part).unlink(missing_ok=True)
            raise

    def _read(self, path: str) -> bytes | None:
        try:
            packed = self._fs.cat_file(path)
        except FileNotFoundError:
            return None
        try:
            return zstandard.ZstdDecompressor().decompress(packed)
        except zstandard.ZstdError as error:
            raise _damaged(path) from error

    def _put_aside(self, path: str) -> None:
        with suppress(OSError):
            self._fs.mv(path, f"{path}.damaged")

    def _delete(self, path: str) -> None:
        with suppress(FileNotFoundError):
            self._fs.rm_file(path)

    def _delete_tree(self, path: str) -> int:
        files = len(self._fs.find(path))
        with suppress(FileNotFoundError):
            self._fs.rm(path, recursive=True)
        return files


@contextmanager
def _named(url: str) -> Iterator[None]:
    """Turns what an operating system says of a write into an error that names the store."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise StorageFullError(
                f"the page store at {url} is full", "make room and run the command again"
            ) from error
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise HomeError(
                f"the page store at {url} cannot be written: {error.strerror}",
                "mend its mode, or choose another with --home DIR",
            ) from error
        raise


def _records(build: int) -> str:
    """The folder of a build's records."""
    return "records" if build == 1 else f"records-{build}"


def _damaged(path: str) -> DamagedFileError:
    return DamagedFileError(f"{path} is damaged", "put it back from a backup")


def _encode(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()


def _decode(packed: bytes | None) -> dict[str, Any] | None:
    return None if packed is None else json.loads(packed)
