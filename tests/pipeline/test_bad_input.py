"""Bad input gets a clear error that names the thing and the way out, and the right exit code."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tests.pipeline.command import WRAC, environment, wrac

pytestmark = pytest.mark.timeout(300)

PAGES = {
    "/empty/": (200, "text/html", b""),
    "/errors/": (500, "text/html", b"<p>broken</p>"),
    "/some/": (
        200,
        "text/html",
        b"<html><title>Some</title><main><h1>Some pages</h1><p>This page is whole and says that "
        b"the lighthouse opens at nine.</p><a href='good'>good</a> <a href='cut'>cut</a> "
        b"<a href='noise'>noise</a></main>",
    ),
    "/some/good": (200, "text/html", b"<main><h1>Good</h1><p>A page about good harbours.</p>"),
    "/some/cut": (200, "application/pdf", b"%PDF-1.7\n1 0 obj\n<< /Type /Cat"),
    "/some/noise": (200, "text/html", bytes(range(256)) * 20),
}


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        status, kind, body = PAGES.get(self.path, (404, "text/html", b"<p>no such page</p>"))
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize(
    ("arguments", "code", "word", "named"),
    [
        (["ingest", "ftp://a.example/", "--source", "x"], 2, "seed", "ftp://a.example/"),
        (["ingest", "https://a.example/", "--source", "A B"], 2, "usage", "'A B'"),
        (["ingest", "https://a.example/"], 2, "usage", "--source"),
        (["serach", "x"], 2, "usage", "serach"),
        (["status"], 2, "home", "no wrac home"),
        (["search", "x"], 2, "home", "no wrac home"),
        (["chunks", "no-such-file"], 2, "usage", "no-such-file"),
        (["parse", "https://127.0.0.1:1/"], 2, "usage", "forbidden_address"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else None,
)
def test_wrong_use_is_named(
    tmp_path: Path, arguments: list[str], code: int, word: str, named: str
) -> None:
    got, answer = wrac(tmp_path / "home", *arguments)
    assert got == code
    assert answer["error"]["code"] == word
    assert named in answer["error"]["message"]


@pytest.mark.parametrize(
    ("line", "named", "hint"),
    [
        ("max_token = 100", "unknown key max_token", "max_tokens"),
        ("max_tokens = 'many'", "max_tokens", "whole number"),
        ("drop = ['cooky']", "cooky", "cookie"),
        ("max_tokens = ", "not TOML", ""),
    ],
)
def test_a_policy_is_checked_by_key(tmp_path: Path, line: str, named: str, hint: str) -> None:
    (tmp_path / "p.toml").write_text(line)
    (tmp_path / "page.md").write_text("# A\n\nb\n")
    code, answer = wrac(tmp_path / "home", "chunks", "page.md", "--policy", "p.toml")
    said = answer["error"]["message"] + answer["error"]["hint"]
    assert code == 2
    assert named in said
    assert hint in said


def test_a_password_in_an_address_is_shown_to_nobody(tmp_path: Path) -> None:
    (tmp_path / "wrac.toml").write_text(
        'ledger_url = "postgresql://wrac:hidden@host/db"\ncache_url = "redis://:hidden@host/0"\n'
        'planner_url = "http://user:hid:d@en@host:8000/v1"\nindex_url = "http://host:6333"\n'
    )
    code, answer = wrac(tmp_path / "home", "config")
    shown = {name: setting["value"] for name, setting in answer["settings"].items()}
    assert code == 0 and "hidden" not in str(answer)
    assert shown["ledger_url"] == "postgresql://wrac:***@host/db"
    assert shown["cache_url"] == "redis://:***@host/0"
    assert shown["planner_url"] == "http://user:***@host:8000/v1"
    assert shown["index_url"] == "http://host:6333"


def test_a_misspelt_setting_is_named_with_the_nearest_right_one(tmp_path: Path) -> None:
    (tmp_path / "wrac.toml").write_text("embeder = 'minilm'\n")
    code, answer = wrac(tmp_path / "home", "config")
    assert code == 2
    assert "embeder" in answer["error"]["message"]
    assert "embedder" in answer["error"]["hint"]


def test_a_home_that_is_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("")
    code, answer = wrac(tmp_path / "home", "ingest", "https://a.example/", "--source", "x")
    assert (code, answer["error"]["code"]) == (2, "home")


def test_a_ledger_that_is_no_database_is_named(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "ledger.sqlite").write_bytes(b"no database at all " * 100)
    code, answer = wrac(tmp_path / "home", "status")
    assert (code, answer["error"]["code"]) == (2, "home")
    assert "no database" in answer["error"]["message"]


def test_an_empty_site_says_what_its_seed_answered(tmp_path: Path, url: str) -> None:
    code, answer = wrac(
        tmp_path / "home", "ingest", f"{url}/empty/", "--source", "x", "--allow-host", "127.0.0.1"
    )
    assert (code, answer["error"]["code"]) == (4, "empty_source")
    assert "/empty/" in answer["error"]["message"]


def test_an_address_inside_is_refused_with_the_way_to_let_it_in(tmp_path: Path, url: str) -> None:
    code, answer = wrac(tmp_path / "home", "ingest", f"{url}/some/", "--source", "x")
    assert code == 4
    assert "forbidden_address" in answer["error"]["message"]
    assert "--allow-host" in answer["error"]["hint"]


def test_pages_that_cannot_be_read_are_recorded_and_the_rest_goes_on(
    tmp_path: Path, url: str
) -> None:
    home = tmp_path / "home"
    seed = ["ingest", f"{url}/some/", "--source", "x", "--allow-host", "127.0.0.1"]
    code, answer = wrac(home, *seed, "--include", "/some/*")
    assert code == 4  # one of three failed
    assert answer["pages"]["indexed"] == 2
    _, listed = wrac(home, "pages", "--source", "x")
    states = {page["url"].rsplit("/", 1)[1]: page for page in listed["pages"]}
    assert states["good"]["state"] == "indexed"
    assert (states["cut"]["state"], states["cut"]["reason"]) == ("failed", "unreadable")
    assert states["noise"]["state"] != "indexed"
    assert wrac(home, *seed, "--include", "/some/*", "--fail-over", "0.9")[0] == 0


def test_a_full_disk_is_named_and_what_was_done_is_kept(tmp_path: Path, url: str, need) -> None:  # type: ignore[no-untyped-def]
    small = tmp_path / "small"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", str(small)]
    mounted = os.geteuid() == 0 and subprocess.run(mount, check=False).returncode == 0
    need("the right to mount a small disk", mounted)
    try:
        code, answer = wrac(
            small / "home", "ingest", f"{url}/some/", "--source", "x", "--allow-host", "127.0.0.1"
        )
    finally:
        subprocess.run(["umount", "-l", str(small)], check=True)
    assert (code, answer["error"]["code"]) == (3, "storage_full")


def test_a_source_in_work_is_refused_by_the_name_of_its_run(tmp_path: Path, url: str) -> None:
    home = tmp_path / "home"
    arguments = ["ingest", f"{url}/some/", "--source", "x", "--allow-host", "127.0.0.1"]
    first = subprocess.Popen(
        [WRAC, *arguments, "--json"],
        env=environment(home),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert first.stderr is not None
    while not (home / "ledger.sqlite").exists() or not _runner(home):
        assert first.poll() is None
    code, answer = wrac(home, *arguments)
    assert (code, answer["error"]["code"]) == (3, "source_busy")
    assert str(first.pid) in answer["error"]["message"]
    first.communicate(timeout=100)
    assert wrac(home, "status")[1]["sources"][0]["runner"] is None


def _runner(home: Path) -> str | None:
    _, answer = wrac(home, "status")
    return next((source["runner"] for source in answer.get("sources", [])), None)


def test_a_file_that_is_no_document_is_named(tmp_path: Path) -> None:
    picture = tmp_path / "picture.html"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n")
    code, answer = wrac(tmp_path / "home", "parse", str(picture))
    assert (code, answer["error"]["code"]) == (2, "unsupported_content")
    assert "picture.html" in answer["error"]["message"]
