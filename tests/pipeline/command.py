"""Runs `wrac` as a user does: in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from indexer.backends import open_index
from pipeline.index_stage import slot_of
from pipeline.ledger import open_ledger

WRAC = str(Path(sys.executable).with_name("wrac"))


def environment(home: Path) -> dict[str, str]:
    """The test's own environment without any of the developer's settings."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("WRAC_")}
    return {**kept, "WRAC_HOME": str(home)}


def wrac(home: Path, *arguments: str, timeout: float = 110) -> tuple[int, dict[str, Any]]:
    """Exit code and JSON of a command. Fails where standard output is anything but one object."""
    done = subprocess.run(
        [WRAC, *arguments, "--json"],
        env=environment(home),
        cwd=home.parent,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    try:
        return done.returncode, json.loads(done.stdout)
    except json.JSONDecodeError:
        raise AssertionError(f"no JSON: {done.stdout!r}\n{done.stderr}") from None


def contents(home: Path, source: str) -> list[tuple[object, ...]]:
    """All that the index holds of a source, in a fixed order."""
    ledger = open_ledger(f"sqlite:///{home / 'ledger.sqlite'}")
    index = open_index(home)
    try:
        return sorted(
            (p.url, p.position, p.id, p.text, p.heading_path, p.unit_ids)
            for p in index.points(slot_of(ledger.sources.get(source)))
        )
    finally:
        index.close()
        ledger.close()
