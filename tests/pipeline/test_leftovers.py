"""What a killed run left outside of the home goes; what lives stays."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pipeline import leftovers


def test_the_folders_of_dead_processes_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    alive = Path(leftovers.make_folder())
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    left = tmp_path / f"wrac-ray-{dead.pid}-abc"
    left.mkdir()
    (left / "spilled").write_text("a page")
    (tmp_path / "wrac-ray-other").mkdir()
    assert leftovers.sweep() == 1
    assert not left.exists()
    assert alive.exists()
    assert (tmp_path / "wrac-ray-other").exists()
