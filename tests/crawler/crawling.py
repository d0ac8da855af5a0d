"""Starts crawls in processes of their own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.crawler.sqlite_frontier import SqliteFrontier

AGENT = "wrac/0.1 (+mailto:crawler@example.com)"
SCRIPT = Path(__file__).with_name("crawl_process.py")


def start(ledger: Path | None, seed: str, **options: Any) -> subprocess.Popen[str]:
    """Starts a crawl of loopback; options are fields of Scope and Politeness."""
    politeness = {"user_agent": AGENT}
    for name in ("obey_robots", "delay", "concurrency_per_host", "timeout", "max_body_bytes"):
        if name in options:
            politeness[name] = options.pop(name)
    scope = {"seeds": [seed], "allow_hosts": ["127.0.0.1"], **options}
    given = {"ledger": str(ledger), "dry_run": ledger is None}
    argument = json.dumps({**given, "scope": scope, "politeness": politeness})
    return subprocess.Popen(
        [sys.executable, str(SCRIPT), argument],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def crawl(ledger: Path | None, seed: str, **options: Any) -> Any:
    """A whole crawl; returns its tally, or the listings of a dry run where there is no ledger."""
    process = start(ledger, seed, **options)
    out, err = process.communicate(timeout=100)
    assert process.returncode == 0, err
    return json.loads(out)


def ledger_of(path: Path) -> SqliteFrontier:
    return SqliteFrontier(path, "the test")
