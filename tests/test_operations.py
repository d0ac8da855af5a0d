"""The commands of docs/operations.md work as they stand there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from examples.server import serve
from indexer.backends import open_index
from tests.pipeline.command import environment

PAGE = Path(__file__).parents[1] / "docs" / "operations.md"
SITE = "https://docs.example.com/"


@pytest.mark.timeout(600)
def test_every_command_of_the_page_works_in_its_order(tmp_path: Path) -> None:
    commands = "\n".join(
        re.findall(r"^```sh\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    )
    home = tmp_path / "home"
    environ = environment(home)
    environ["PATH"] = f"{Path(sys.executable).parent}:{environ['PATH']}"
    with serve(["port-auben"]) as site:
        here = f"{site.urls['port-auben']}/ --allow-host 127.0.0.1"
        script = "set -eux\n" + commands.replace(SITE, here)
        try:
            done = subprocess.run(
                ["bash", "-c", script],
                cwd=tmp_path,
                env=environ,
                capture_output=True,
                text=True,
                check=False,
            )
        finally:
            for name in ("home", "restored", "again", "third"):
                if (tmp_path / name).exists():
                    open_index(tmp_path / name).stop()  # type: ignore[attr-defined]
    assert done.returncode == 0, done.stderr[-3000:]
    assert (tmp_path / "usage.csv").read_text().count("\n") >= 2
    assert "forgotten, and so not brought back: blog" in done.stdout
