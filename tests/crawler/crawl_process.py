"""Crawls in a process of its own, as the product does: arguments and the tally are JSON."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from dataclasses import asdict
from pathlib import Path


def main() -> None:
    given = json.loads(sys.argv[1])
    from crawler.crawl import dry_run, run
    from crawler.model import Politeness, Scope

    scope = Scope(**{k: tuple(v) if isinstance(v, list) else v for k, v in given["scope"].items()})
    politeness = Politeness(**given["politeness"])
    if given.get("dry_run"):
        print(json.dumps([asdict(listing) for listing in dry_run("site", scope, politeness)]))
        return
    spec = importlib.util.spec_from_file_location(
        "sqlite_frontier", Path(__file__).with_name("sqlite_frontier.py")
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    frontier = module.SqliteFrontier(Path(given["ledger"]), str(os.getpid()), scope.max_pages)
    print(json.dumps(asdict(run("site", scope, politeness, frontier))))


if __name__ == "__main__":
    main()
