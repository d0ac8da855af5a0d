"""What a visit to a site costs that has not changed: requests, bodies, plans, embeddings.

    .venv/bin/python -m benchmarks.unchanged [--pages 1000] [--home DIR --port PORT] [--json FILE]

A generated site is indexed and then ingested again. With a home and a port a run that was cut short
is gone on with.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from examples.server import Running, serve

#: What is asked besides pages: robots.txt and the usual sitemap.
FILES = ("/robots.txt", "/sitemap.xml")


def ingest(home: Path, site: Running) -> dict[str, Any]:
    (url,) = site.urls.values()
    wrac = str(Path(sys.executable).with_name("wrac"))
    command = [wrac, "ingest", f"{url}/", "--source", "site"]
    done = subprocess.run(
        [*command, "--allow-host", "127.0.0.1", "--home", str(home), "--json"],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def measure(pages: int, home: Path, port: int) -> dict[str, Any]:
    """What the second ingest of a site cost."""
    with serve(pages=pages, port_base=port) as site:
        first = ingest(home, site)
        site.requests.clear()
        again = ingest(home, site)
        asked = [one for one in site.requests if one.path not in FILES]
    return {
        "pages": pages,
        "indexed": first["pages"]["indexed"] + first["pages"]["unchanged"],
        "first_seconds": first["seconds"],
        "seconds": again["seconds"],
        "requests_for_pages": len(asked),
        "conditional": sum(one.conditional for one in asked),
        "not_modified": sum(one.status == 304 for one in asked),
        "other_requests": len(site.requests) - len(asked),
        "bodies": again["pages"]["fetched"],
        "plans_made": again["plans"]["made"],
        "embeddings_made": again["embeddings"]["made"],
        "chunks": again["chunks"],
    }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="wrac-unchanged-") as folder:
        result = measure(given.pages, given.home or Path(folder) / "home", given.port)
    for key, value in result.items():
        print(f"{key.replace('_', ' '):22} {value}")
    if given.json:
        given.json.write_text(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
