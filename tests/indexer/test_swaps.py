"""Readers beside swaps that are killed between their steps: a short run of the benchmark."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path


def test_no_reader_misses_a_page_wherever_a_swap_is_killed() -> None:
    command = [sys.executable, "-m", "benchmarks.swaps", "--swaps", "120", "--kills", "8"]
    done = subprocess.run(
        command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    answer = json.loads(done.stdout)
    assert answer["kills"] == dict.fromkeys(answer["kills"], 2)
    assert len(answer["kills"]) == 4
    assert answer["reads"] > 0
    assert answer["wrong"] == {}
