"""`wrac run` as its users run it: many sources, stopped, killed, gone on with."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from examples.server import serve
from pipeline.cli.run import exit_code
from tests.pipeline.command import WRAC, contents, environment, wrac

pytestmark = pytest.mark.timeout(600)
PAGES = 20


def add(home: Path, name: str, url: str, **more: object) -> None:
    folder = home.parent / "sources.d"
    folder.mkdir(exist_ok=True)
    values = {"seeds": [f"{url}/"], "allow_hosts": ["127.0.0.1"], **more}
    lines = [f"{key} = {json.dumps(value)}" for key, value in values.items()]
    (folder / f"{name}.toml").write_text("\n".join([f"[sources.{name}]", *lines, ""]))


def start(home: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [WRAC, "run", *arguments],
        env=environment(home),
        cwd=home.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(process: subprocess.Popen[str], seen: Callable[[], bool]) -> None:
    """Until it is seen; fails with what the process said where that ends before."""
    while not seen():
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.05)  # a busy wait would take the processor that is waited for


def test_many_sources_are_done_once_and_one_that_fails_is_named(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with serve(["harrier"]) as running:
        for name, url in running.urls.items():
            add(home, name, url)
        add(home, "away", "http://127.0.0.1:1")
        code, value = wrac(home, "run", "--once")
        came_to = {one["source"]: one for one in value["sources"]}
        assert code == came_to["away"]["error"]["exit_code"] == 4
        assert all(came_to[name]["pages"]["indexed"] for name in running.urls)
        assert wrac(home, "verify")[1]["problems"] == []
        _, listed = wrac(home, "sources", "list")
        states = {one["source"]: one["state"] for one in listed["sources"]}
        assert states == {**dict.fromkeys(running.urls, "active"), "away": "failing"}
        asked = len(running.requests)
        assert wrac(home, "run", "--once") == (0, {"sources": []})  # nothing is due
        assert len(running.requests) == asked
        [name, *_] = running.urls
        wrac(home, "sources", "pause", name, "--why", "relaunch")
        code, refused = wrac(home, "ingest", running.urls[name], "--source", name)
        assert (code, refused["error"]["message"]) == (2, f"{name} is paused: relaunch")
        assert wrac(home, "run", "--once") == (0, {"sources": []})
        wrac(home, "sources", "resume", name)
        code, value = wrac(home, "run", "--once")
        [again] = value["sources"]
        assert (code, again["source"]) == (0, name), value
        assert (again["pages"]["fetched"], again["embeddings"]["made"]) == (0, 0)


def test_a_run_is_stopped_killed_and_gone_on_with(tmp_path: Path) -> None:
    home, calm = tmp_path / "a" / "home", tmp_path / "b" / "home"
    for one in (home, calm):
        one.parent.mkdir()
    with serve(pages=PAGES) as running:
        [url] = running.urls.values()
        for one in (home, calm):
            add(one, "docs", url)
        for number in (signal.SIGTERM, signal.SIGKILL):
            asked = len(running.requests)
            process = start(home)
            wait_for(process, lambda asked=asked: len(running.requests) > asked)  # type: ignore[misc]
            process.send_signal(number)
            _, err = process.communicate()
            if number == signal.SIGTERM:
                assert process.returncode == 0, err
                _, status = wrac(home, "status")
                assert status["sources"][0]["runner"] is None
        for one in (home, calm):
            assert wrac(one, "run", "--once")[0] == 0
        assert contents(home, "docs") == contents(calm, "docs")
        assert len(contents(home, "docs")) > PAGES
        assert wrac(home, "verify")[1]["problems"] == []


def test_a_source_that_is_declared_while_the_run_lasts_has_its_turn(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with serve(["harrier", "larder"]) as running:
        (first, one), (second, other) = running.urls.items()
        add(home, first, one)
        process = start(home)
        wait_for(process, lambda: any(one.site == first for one in running.requests))
        add(home, second, other)
        wait_for(process, lambda: any(one.site == second for one in running.requests))
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
        assert process.returncode == 0, err


def test_a_folder_without_sources_is_named(tmp_path: Path) -> None:
    code, value = wrac(tmp_path / "home", "run")
    assert (code, value["error"]["code"]) == (2, "usage")
    assert "wrac sources add" in value["error"]["hint"]


def test_the_exit_code_is_that_of_the_source_that_came_off_worst() -> None:
    well, ill = {"failed_share": 0.05}, {"failed_share": 0.06}
    away = {"error": {"exit_code": 3}}
    assert [exit_code(came_to, 0.05) for came_to in ([], [well], [well, away], [away, ill])] == [
        *(0, 0),
        *(3, 4),
    ]
