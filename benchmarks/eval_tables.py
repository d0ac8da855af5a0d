"""The tables and plots of docs/evaluation.md, from one benchmark folder.

    python -m benchmarks.eval_tables DIR [--plots FOLDER] [--forms FORM ...] [--only METHOD ...]

Writes `retrieval.json` and `tokens.json` to `benchmarks/out/`, prints the tables as Markdown.
Embedding is what takes time: about 30 texts a second on two cores, each text once
(`WRAC_EVAL_CACHE` names the folder of the vectors).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pipeline.evaluation import plots, retrieval, retrieval_tables, tokens
from pipeline.evaluation.retrieval_forms import FORMS
from pipeline.evaluation.retrieval_run import SIDES

OUT = Path(__file__).parent / "out"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("--plots", type=Path, default=OUT)
    parser.add_argument("--forms", nargs="*", default=[], choices=[f for f in FORMS if f != "md"])
    parser.add_argument("--only", nargs="*", default=None)
    given = parser.parse_args()
    result = retrieval.evaluate(
        given.directory,
        only=given.only,
        forms=given.forms,
        progress=lambda line: print(line, file=sys.stderr),
    )
    usage = tokens.evaluate(given.directory)
    OUT.mkdir(exist_ok=True)
    for name, value in (("retrieval", result), ("tokens", usage)):
        (OUT / f"{name}.json").write_text(json.dumps(value, indent=1), encoding="utf-8")
    _print(result, usage)
    plots.draw(result, usage, given.plots)


def _print(result: Mapping[str, Any], usage: Mapping[str, Any]) -> None:
    views = {"": result, "one index for all": result["together"]}
    views["path hidden from the judge"] = result["path_hidden"]
    views |= result["forms"]
    for name, view in views.items():
        for side in SIDES if not name else ("dense", "fused"):
            print(f"\n{name or 'one index an organisation'}\n")
            print(retrieval_tables.methods(view, side).markdown())
    for table in (
        retrieval_tables.differences(result, "fused"),
        retrieval_tables.differences(result, "dense"),
        retrieval_tables.parts(result),
        retrieval_tables.parts(result, "search"),
        tokens.cells(usage),
    ):
        print(f"\n{table.markdown()}")


if __name__ == "__main__":
    main()
