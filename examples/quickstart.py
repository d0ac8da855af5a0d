"""The main job, shown: example sites (or one of your own) go in, questions are answered.

Run by `make quickstart`. Every step is a `wrac` command, printed before it runs.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import shutil
import socket
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from examples.questions import read_questions
from examples.server import serve
from examples.site import site_names

HOME = Path(".wrac-quickstart")
#: Fixed, so that a second run finds the sites of the first where they were.
PORT_BASE = 8800
WIDTH = 96


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seed", help="ingest this site instead of the examples")
    seed = options.parse_args().seed
    return own_site(seed) if seed else examples()


def examples() -> int:
    """Three small customers' sites, three questions."""
    say("Three example sites, of three customers, are served on this machine.")
    with serve(port_base=_free(PORT_BASE)) as running:
        for name, url in running.urls.items():
            code = wrac(
                ["ingest", f"{url}/", "--source", name, "--allow-host", urlsplit(url).hostname]
            )
            if code:
                return code
        say("One question to each. A search is over one customer; nothing is shared.")
        asked = {question.site: question for question in reversed(read_questions())}
        for name in running.urls:
            ask(asked[name].text, name)
    say("What is where, and whether store, ledger and index agree:")
    code = wrac(["status"]) or wrac(["verify"])
    say(
        "Now your own site:\n\n"
        "  make quickstart SEED=https://docs.example.com\n\n"
        "or, with the pages you want and where you want them,\n\n"
        "  .venv/bin/wrac ingest https://docs.example.com --source docs --max-pages 200\n"
        '  .venv/bin/wrac search "How do I ...?" --source docs'
    )
    return code


def _free(first: int) -> int:
    """`first` where its ports are free; else 0, for any; what an earlier run stored is then of use
    no more."""
    for port in range(first, first + len(site_names())):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                shutil.rmtree(HOME, ignore_errors=True)
                return 0
    return first


def own_site(seed: str) -> int:
    """One site of the reader's, politely and not too much of it."""
    name = re.sub(r"[^a-z0-9]+", "-", (urlsplit(seed).hostname or "site").lower()).strip("-")
    code = wrac(["ingest", seed, "--source", name, "--max-pages", "100", "--delay", "0.5"])
    if code not in (0, 4):
        return code
    command = f'.venv/bin/wrac --home {HOME} search "How do I ...?" --source {name}'
    say(f"Ask it something:\n\n  {command}")
    return code


def wrac(arguments: Sequence[str | None]) -> int:
    """Run a command as a reader would; returns its exit code."""
    words = ["wrac", "--home", str(HOME), *(word for word in arguments if word)]
    print(f"\n$ {shlex.join(words)}", flush=True)
    return subprocess.run([program(), *words[1:]], check=False).returncode


def ask(question: str, source: str) -> None:
    """Show the best two hits for a question."""
    words = ["--home", str(HOME), "search", question, "--source", source, "-k", "2"]
    print(f"\n$ {shlex.join(['wrac', *words])}", flush=True)
    done = subprocess.run([program(), *words, "--json"], check=True, capture_output=True, text=True)
    for number, hit in enumerate(json.loads(done.stdout)["hits"], 1):
        print(f"\n  {number}. {hit['title']}   ({hit['url']})")
        if hit["heading_path"]:
            print(f"     {' > '.join(hit['heading_path'])}")
        for line in hit["text"].strip().splitlines()[:8]:
            print(textwrap.indent(textwrap.shorten(line, WIDTH, placeholder=" ..."), "     | "))


def program() -> str:
    """The `wrac` that is installed beside the interpreter that runs this."""
    beside = Path(sys.executable).with_name("wrac")
    return str(beside) if beside.exists() else shutil.which("wrac") or "wrac"


def say(text: str) -> None:
    print(f"\n{text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
