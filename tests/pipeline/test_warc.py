"""Pages out of and into WARC files: the same index, whoever fetched them."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from fastwarc.warc import WarcRecord, WarcRecordType

from crawler.discovery import Discovery
from crawler.model import Fetched, Missed, Scope
from crawler.scope import Rules
from crawler.warc import Archived, WarcError, read, scope_of, write
from tests.pipeline.command import contents, wrac

SITE = "https://site.example"
SCOPE = Scope(seeds=(f"{SITE}/",), exclude=("*/private/*",), allow_hosts=("site.example",))
AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
TEXT = (
    "<h1>{0}</h1><p>The {0} is a thing of which this page says more than one sentence. "
    "It is kept in the shed, and it is taken out when the weather allows it.</p>"
)


def page(path: str, text: str, **headers: str) -> Archived:
    named = {"content-type": "text/html; charset=utf-8", **headers}
    return Archived(f"{SITE}{path}", 200, named, f"<title>{path}</title>{text}".encode(), AT)


PAGES = [
    page("/", TEXT.format("barrow") + '<a href="/spade">spade</a><a href="/moved">moved</a>'),
    page("/spade", TEXT.format("spade"), etag='"s"'),
    Archived(f"{SITE}/moved", 301, {"location": "/spade"}, b"", AT),
    page("/private/keys", TEXT.format("key")),
    page("/hidden", '<meta name="robots" content="noindex">' + TEXT.format("secret")),
    page("/rake?a=1&utm_source=x", TEXT.format("rake")),
]


def put(path: Path, pages: list[Archived], packed: bool = False) -> Path:
    with path.open("wb") as file:
        assert write(file, SCOPE, iter(pages), packed) == len(pages)
    return path


def outcomes(path: Path, limit: int = 10**6) -> dict[str, object]:
    found = read(path, Discovery(Rules(SCOPE), None), "wrac", limit)
    return {one.url.removeprefix(SITE): one for one in found}


@pytest.mark.parametrize("packed", [False, True])
def test_what_is_written_is_read(tmp_path: Path, packed: bool) -> None:
    path = put(tmp_path / "a.warc", PAGES, packed)
    assert (path.read_bytes()[:2] == b"\x1f\x8b") is packed
    found = outcomes(path)
    spade = found["/spade"]
    assert isinstance(spade, Fetched)
    assert (spade.body, spade.etag, spade.fetched_at) == (PAGES[1].body, '"s"', AT)
    assert isinstance(found["/rake?a=1"], Fetched)
    moved = found["/moved"]
    assert isinstance(moved, Missed)
    assert (moved.reason, moved.target, moved.at) == ("redirect", f"{SITE}/spade", AT)


def test_the_scope_holds_for_files_too_and_what_private_hosts_it_allows_is_not_in_them(
    tmp_path: Path,
) -> None:
    path = put(tmp_path / "a.warc", PAGES)
    kept = outcomes(path)["/private/keys"]
    assert isinstance(kept, Missed) and kept.reason == "excluded"
    named = scope_of(path)
    assert (named.seeds, named.exclude, named.allow_hosts) == (SCOPE.seeds, SCOPE.exclude, ())


def foreign(path: Path, *answers: bytes) -> Path:
    """As another crawler writes it: packed bodies, no scope, records that are no pages."""
    with path.open("wb") as file:
        for kind, content in [(WarcRecordType.request, b"GET / HTTP/1.1\r\n\r\n")] + [
            (WarcRecordType.response, answer) for answer in answers
        ]:
            record = WarcRecord()
            record.init_headers(record_type=kind)
            record.headers["WARC-Target-URI"] = f"{SITE}/page"
            record.headers["WARC-Date"] = "2026-01-02T03:04:05Z"
            record.headers["Content-Type"] = "application/http"
            record.set_bytes_content(content)
            record.write(file)
    return path


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


def test_a_packed_answer_of_another_crawler_is_unpacked(tmp_path: Path) -> None:
    body = gzip.compress(b"<p>text</p>")
    path = foreign(tmp_path / "a.warc", HEAD + b"Content-Encoding: gzip\r\n\r\n" + body)
    found = outcomes(path)["/page"]
    assert isinstance(found, Fetched) and found.body == b"<p>text</p>"
    assert scope_of(path).seeds == (f"{SITE}/",)


def test_a_bomb_in_a_file_is_cut(tmp_path: Path) -> None:
    body = gzip.compress(b"<p>text</p>" * 100_000)
    path = foreign(tmp_path / "a.warc", HEAD + b"Content-Encoding: gzip\r\n\r\n" + body)
    found = outcomes(path, limit=10_000)["/page"]
    assert isinstance(found, Missed) and found.reason == "too_large"


@pytest.mark.parametrize(
    "broken",
    [
        b"Content-Encoding: gzip\r\n\r\n\x1f\x8bgarbage",
        b"Content-Encoding: gzip\r\n\r\n<p>packed in name only</p>",
        b"Content-Encoding: br\r\n\r\nzzzzzzzzzzzzzzzz",
        b"Transfer-Encoding: chunked\r\n\r\n<p>no chunks</p>",
    ],
)
def test_an_answer_that_cannot_be_unpacked_ends_nothing(tmp_path: Path, broken: bytes) -> None:
    path = foreign(tmp_path / "a.warc", HEAD + broken)
    with path.open("ab") as file:
        write(file, SCOPE, iter([page("/after", TEXT.format("rake"))]), packed=False)
    assert scope_of(path).seeds == (f"{SITE}/",)
    found = outcomes(path)
    missed = found["/page"]
    assert isinstance(missed, Missed) and missed.reason == "broken_body"
    assert isinstance(found["/after"], Fetched)


def test_an_answer_that_is_cut_is_no_page(tmp_path: Path) -> None:
    path = put(tmp_path / "a.warc", PAGES)
    path.write_bytes(path.read_bytes()[:-60])
    cut = outcomes(path)["/rake?a=1"]
    assert isinstance(cut, Missed) and (cut.reason, cut.transient) == ("truncated", True)
    path = foreign(tmp_path / "b.warc", HEAD + b"\r\n<p>text</p>")
    path.write_bytes(
        path.read_bytes().replace(b"WARC-Date", b"WARC-Truncated: length\r\nWARC-Date")
    )
    cut = outcomes(path)["/page"]
    assert isinstance(cut, Missed) and cut.reason == "truncated"


def test_an_address_in_angle_brackets_is_read(tmp_path: Path) -> None:
    path = foreign(tmp_path / "a.warc", HEAD + b"\r\n<p>text</p>")
    path.write_bytes(path.read_bytes().replace(f"{SITE}/page".encode(), f"<{SITE}/page>".encode()))
    assert isinstance(outcomes(path)["/page"], Fetched)
    assert scope_of(path).seeds == (f"{SITE}/",)


@pytest.mark.parametrize("seeds", [[1, 2], ["ftp://x"]])
def test_a_scope_that_is_none_is_not_taken(tmp_path: Path, seeds: list[object]) -> None:
    path = put(tmp_path / "a.warc", PAGES)
    whole = path.read_bytes()
    said = json.dumps([f"{SITE}/"]).encode()
    forged = json.dumps(seeds).encode().ljust(len(said))
    path.write_bytes(whole.replace(said, forged, 1))
    assert scope_of(path).seeds == (f"{SITE}/",)


@pytest.mark.parametrize("content", [b"", b"no warc at all\n" * 50])
def test_what_is_no_warc_file_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(WarcError, match=r"notes\.txt"):
        scope_of(path)
    code, answer = wrac(tmp_path / "home", "import", "--warc", str(path), "--source", "site")
    assert (code, answer["error"]["code"]) == (2, "usage")


@pytest.mark.timeout(300)
def test_a_round_trip_gives_the_same_index(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    made = put(tmp_path / "made.warc.gz", PAGES, packed=True)
    code, answer = wrac(first, "import", "--warc", str(made), "--source", "site")
    assert code == 0, answer
    assert answer["pages"]["indexed"] == 3
    assert answer["usage"]["requests"] == 0
    exported = tmp_path / "exported.warc.gz"
    code, answer = wrac(first, "export", "--warc", str(exported), "--source", "site")
    assert (code, answer["pages"], answer["lost"]) == (0, 5, 0)
    code, answer = wrac(second, "import", "--warc", str(exported), "--source", "site")
    assert code == 0, answer
    assert contents(first, "site") == contents(second, "site") != []
    _, listed = wrac(second, "pages", "--source", "site")
    aliases = {one["url"]: one["aliases"] for one in listed["pages"]}
    assert aliases[f"{SITE}/spade"] == [f"{SITE}/moved"]
    _, verified = wrac(second, "verify")
    assert verified["ok"]
