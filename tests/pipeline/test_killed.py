"""`kill -9` at any moment: the next run ends where an undisturbed one does."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from examples.server import serve
from tests.pipeline.command import WRAC, contents, environment, wrac

pytestmark = pytest.mark.timeout(600)
PAGES = 40
KILLS = 5


def test_five_kills_leave_the_index_of_an_undisturbed_run(tmp_path: Path) -> None:
    seed = random.randrange(10**6)
    moments = random.Random(seed)
    with serve(pages=PAGES) as running:
        [url] = running.urls.values()
        arguments = ["ingest", f"{url}/", "--source", "docs", "--allow-host", "127.0.0.1"]
        started = time.monotonic()
        code, calm = wrac(tmp_path / "calm", *arguments)
        lasted = time.monotonic() - started
        assert (code, calm["pages"]["indexed"]) == (0, PAGES)
        home = tmp_path / "killed"
        for number in range(KILLS):
            # Not before the home is there, and spread over what a run lasts.
            _kill_after(home, arguments, moments.uniform(0.15, 0.95) * lasted)
            if number % 2:
                _kill_index_process(home)
        code, _ = wrac(home, *arguments)
        assert code == 0, f"seed {seed}"
        assert contents(home, "docs") == contents(tmp_path / "calm", "docs"), f"seed {seed}"
        code, verified = wrac(home, "verify")
        assert (code, verified["problems"]) == (0, []), f"seed {seed}"
        _, again = wrac(home, *arguments)
        assert again["embeddings"]["made"] == again["plans"]["made"] == 0


def test_a_worker_that_is_killed_is_replaced_and_its_pages_are_done_again(tmp_path: Path) -> None:
    with serve(pages=PAGES) as running:
        [url] = running.urls.values()
        home = tmp_path / "home"
        process = subprocess.Popen(
            [WRAC, "ingest", f"{url}/", "--source", "docs", "--allow-host", "127.0.0.1", "--json"],
            env=environment(home),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for name in ("ray::crawl", "ray::ParseActor", "ray::IndexActor"):
            _kill_worker(process, name)
        out, err = process.communicate()
        assert process.returncode == 0, err
        assert json.loads(out)["pages"]["indexed"] == PAGES
        assert wrac(home, "verify")[1]["problems"] == []


def test_an_interrupt_ends_the_run_and_gives_the_source_back(tmp_path: Path) -> None:
    with serve(pages=PAGES) as running:
        [url] = running.urls.values()
        home = tmp_path / "home"
        arguments = ["ingest", f"{url}/", "--source", "docs", "--allow-host", "127.0.0.1"]
        process = subprocess.Popen(
            [WRAC, *arguments, "--json"],
            env=environment(home),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        while not running.requests:
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
        assert process.returncode == 130, err
        assert json.loads(out)["error"]["code"] == "interrupted"
        assert "Traceback" not in err
        _, status = wrac(home, "status")
        assert status["sources"][0]["runner"] is None
        code, resumed = wrac(home, *arguments)
        assert (code, resumed["pages"]["failed"]) == (0, 0)
        assert wrac(home, "verify")[1]["problems"] == []


def _kill_worker(driver: subprocess.Popen[str], name: str) -> None:
    """Kill the first worker of that name, as soon as there is one."""
    while driver.poll() is None:
        for process in psutil.Process(driver.pid).children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                if process.cmdline()[:1] and process.cmdline()[0].startswith(name):
                    process.kill()
                    return


def _kill_after(home: Path, arguments: list[str], seconds: float) -> None:
    process = subprocess.Popen(
        [WRAC, *arguments], env=environment(home), stderr=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.communicate()


def _kill_index_process(home: Path) -> None:
    for process in psutil.process_iter(["cmdline"]):
        line = process.info["cmdline"] or []
        if "indexer.edge" in line and str(home) in line:
            process.kill()
            process.wait()
