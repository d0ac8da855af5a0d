"""The folders are the way that a page goes: imports run one way."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from importlinter.cli import EXIT_STATUS_SUCCESS, lint_imports

ROOT = Path(__file__).parents[1]
PACKAGES = ("crawler", "chunker", "planner_serving", "indexer")


def test_imports_run_one_way() -> None:
    assert lint_imports(str(ROOT / "pyproject.toml")) == EXIT_STATUS_SUCCESS


@pytest.mark.parametrize("package", PACKAGES)
def test_only_the_actor_knows_ray(package: str) -> None:
    knows = [
        path.name
        for path in (ROOT / package).rglob("*.py")
        if re.search(r"^\s*(import|from) ray\b", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert set(knows) <= {"actor.py"}


def test_no_address_of_a_package_index_is_in_the_lock() -> None:
    assert "://" not in (ROOT / "requirements.lock").read_text(encoding="utf-8")
