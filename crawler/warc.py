"""Pages out of and into WARC files (ISO 28500, WARC 1.1), those of any crawler.

Only `response` records over HTTP are read. Their bodies are unpacked within the crawl's own limit,
and what they hold is judged as an answer to a crawl is; one that is cut or broken is a miss.
robots.txt is not asked: somebody has fetched the pages already.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import IO, Any

from fastwarc.stream_io import GzipWriter
from fastwarc.warc import ArchiveIterator, WarcRecord, WarcRecordType
from scrapy.http import Headers
from scrapy.responsetypes import responsetypes

from crawler import reasons
from crawler.discovery import Discovery
from crawler.errors import InvalidUrlError, SeedError, TerminalError
from crawler.model import Missed, Outcome, Scope, Task
from crawler.outcome import visit
from crawler.scope import Rules
from crawler.urls import canonical, origin

#: Field of the first record that holds the scope of the source that was exported.
SCOPE = "wrac-scope"
#: Depth of pages whose way from a seed is not known.
DEPTH = 1
#: Bytes of a response's headers that are read besides its body.
MAX_HEADERS = 256 * 1024


class WarcError(TerminalError):
    """A file is no WARC file, or is broken from some place on. The message names it."""


@dataclass(frozen=True, slots=True)
class Archived:
    """A page as it is written to a file."""

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes
    fetched_at: datetime


def write(file: IO[bytes], scope: Scope, pages: Iterator[Archived], packed: bool) -> int:
    """Writes pages, after a record that says whose they are; returns how many."""
    stream: Any = GzipWriter(file) if packed else file
    about = {key: value for key, value in asdict(scope).items() if key != "allow_hosts"}
    info = WarcRecord()
    info.init_headers(record_type=WarcRecordType.warcinfo)
    info.headers["Content-Type"] = "application/warc-fields"
    info.set_bytes_content(f"software: wrac\r\n{SCOPE}: {json.dumps(about)}\r\n".encode())
    info.write(stream)
    count = 0
    for page in pages:
        record = WarcRecord()
        record.init_headers(record_type=WarcRecordType.response)
        record.headers["WARC-Target-URI"] = page.url
        record.headers["WARC-Date"] = page.fetched_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        record.headers["Content-Type"] = "application/http; msgtype=response"
        record.set_bytes_content(_http(page))
        record.write(stream, checksum_data=True)
        count += 1
    if packed:
        stream.close()
    return count


def scope_of(path: Path) -> Scope:
    """The scope that a file names, or else that of all hosts in it. Raises `WarcError`."""
    hosts: dict[str, None] = {}
    for record in _records(path, WarcRecordType.warcinfo | WarcRecordType.response):
        if record.record_type == WarcRecordType.warcinfo:
            if named := _named_scope(record.reader.read()):
                return named
            continue
        try:
            hosts[origin(canonical(_target(record))) + "/"] = None
        except InvalidUrlError:
            continue
    if not hosts:
        raise WarcError(f"{path} holds no HTTP response")
    return Scope(seeds=tuple(hosts))


def read(path: Path, discovery: Discovery, agent: str, max_bytes: int) -> Iterator[Outcome]:
    """What each response in a file comes to, in the file's order. Raises `WarcError`.

    One of a URL that is not in scope is a miss with that reason.
    """
    for record in _records(path, WarcRecordType.response):
        if not record.is_http:
            continue
        try:
            url = discovery.rules.spelt(canonical(_target(record)))
        except InvalidUrlError:
            continue
        at = record.record_date or datetime.now(UTC)
        at = at if at.tzinfo else at.replace(tzinfo=UTC)
        task = Task(url, 0 if url in discovery.rules.seeds else DEPTH)
        if reason := discovery.rules.why_not(url, task.depth):
            yield Missed(url, reason, None, at)
            continue
        said, message = record.content_length, record.reader.read(max_bytes + MAX_HEADERS + 1)
        if len(message) > max_bytes + MAX_HEADERS:
            yield Missed(url, reasons.TOO_LARGE, None, at)
            continue
        if len(message) < said or "WARC-Truncated" in record.headers:
            detail = f"{len(message)} of {said} bytes are in {path.name}"
            yield Missed(url, reasons.TRUNCATED, None, at, transient=True, detail=detail)
            continue
        try:
            head, body = _unpacked(message, max_bytes)
        except (OSError, ValueError) as error:
            yield Missed(url, reasons.BROKEN_BODY, None, at, detail=str(error)[:500])
            continue
        if len(body) > max_bytes:
            yield Missed(url, reasons.TOO_LARGE, head.status_code, at)
            continue
        if head.status_code == HTTPStatus.NOT_MODIFIED:
            continue  # says nothing of a page that is asked for whole
        headers = Headers()
        for name, value in head.items():
            headers.appendlist(name, value.encode("latin-1", "replace"))
        kind = responsetypes.from_args(headers=headers, url=url, body=body)
        response = kind(url, status=head.status_code or 0, headers=headers, body=body)
        outcome = visit(task, response, discovery, agent)
        yield (
            replace(outcome, at=at)
            if isinstance(outcome, Missed)
            else replace(outcome, fetched_at=at)
        )


def _records(path: Path, kinds: WarcRecordType) -> Iterator[WarcRecord]:
    try:
        with path.open("rb") as file:
            yield from ArchiveIterator(file, record_types=kinds, parse_http=False)
    except (OSError, ValueError) as error:
        raise WarcError(f"{path} cannot be read as WARC: {error}") from error


def _target(record: WarcRecord) -> str:
    """The URL that a record is of; some writers put it in angle brackets (WARC 1.0's grammar)."""
    return str(record.headers.get("WARC-Target-URI", "")).strip("<>")


def _unpacked(message: bytes, max_bytes: int) -> tuple[Any, bytes]:
    """Headers and body of an HTTP response, at most a byte over the limit of the body.

    A record of its own: a body that cannot be unpacked must not end the reading of the file.
    Raises `OSError` and `ValueError`.
    """
    record = WarcRecord()
    record.init_headers(record_type=WarcRecordType.response)
    record.is_http = True
    record.set_bytes_content(message)
    record.parse_http(auto_decode="all")
    return record.http_headers, record.reader.read(max_bytes + 1)


def _named_scope(content: bytes) -> Scope | None:
    for line in content.decode("utf-8", "replace").splitlines():
        name, _, value = line.partition(":")
        if name.strip().lower() == SCOPE:
            try:
                known = json.loads(value).items()
                fields: dict[str, Any] = {
                    k: tuple(v) if isinstance(v, list) else v for k, v in known
                }
                scope = Scope(**fields)
                Rules(scope)  # must hold: the file may be anybody's
                return scope
            except (ValueError, TypeError, AttributeError, SeedError, InvalidUrlError):
                return None
    return None


def _http(page: Archived) -> bytes:
    try:
        phrase = HTTPStatus(page.status).phrase
    except ValueError:
        phrase = ""
    lines = [f"HTTP/1.1 {page.status} {phrase}"]
    lines += [f"{name}: {' '.join(value.split())}" for name, value in page.headers.items()]
    lines += [f"content-length: {len(page.body)}", "", ""]
    return "\r\n".join(lines).encode("latin-1", "replace") + page.body
