"""The folders are the way that a page goes: imports run one way."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("crawler", "chunker", "planner_serving", "indexer")


def test_imports_run_one_way() -> None:
    # A process of its own: in this one other tests' imports are in the linter's way.
    program = str(Path(sys.executable).with_name("lint-imports"))
    done = subprocess.run([program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("package", PACKAGES)
def test_only_the_actor_knows_ray(package: str) -> None:
    knows = [
        path.name
        for path in (ROOT / package).rglob("*.py")
        if re.search(r"^\s*(import|from) ray\b", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert set(knows) <= {"actor.py"}


def test_the_command_line_loads_no_engine_before_a_command_asks_for_it() -> None:
    # Each takes a tenth of a second or more, which every command would pay.
    program = "import pipeline.cli, sys; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert loaded.isdisjoint({"scrapy", "ray", "onnxruntime", "qdrant_client", "vllm"})


LOCKS = ("requirements.lock", "requirements-vllm.lock")


@pytest.mark.parametrize("lock", LOCKS)
def test_no_address_of_a_package_index_is_in_the_lock(lock: str) -> None:
    assert "://" not in (ROOT / lock).read_text(encoding="utf-8")


def test_both_environments_have_the_same_ray() -> None:
    # Ray's processes understand each other only where its version is the same.
    locks = [(ROOT / lock).read_text(encoding="utf-8") for lock in LOCKS]
    assert len({line for lock in locks for line in lock.splitlines() if line[:5] == "ray=="}) == 1
