"""What share of real pages a policy sends to a model, and what that costs in prompt tokens.

    python -m benchmarks.escalation_pages DIR [--thresholds 0.5 0.6]

DIR is a folder of the extraction benchmark's form (`docs/parsing.md`): HTML pages by type. No model
is asked. Tokens are those of the prompts beyond the fixed prefix, o200k_base.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path

from chunker import parse
from chunker.outline import outline
from chunker.policy import Policy
from pipeline.evaluation.extraction import read
from pipeline.evaluation.tokens_count import count
from planner_serving.model_planner import draft

THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 1.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("--thresholds", nargs="*", type=float, default=THRESHOLDS)
    given = parser.parse_args()
    views = [
        (page.kind, outline(parse(page.body, page.url, "text/html"), Policy()))
        for page in read(given.directory)
    ]
    print("| threshold | pages asked | lines asked | tokens a page | longest prompt | by type |")
    print("|---|---|---|---|---|---|")
    for threshold in given.thresholds:
        asked: dict[str, list[bool]] = defaultdict(list)
        lines = there = 0
        prompts: list[int] = []
        for kind, view in views:
            question = draft(view, Policy(escalation_threshold=threshold))
            asked[kind].append(bool(question.prompts))
            lines += sum(window.end - window.start for window in question.windows)
            there += len(question.lines)
            prompts.extend(count(prompt.body) for prompt in question.prompts)
        shares = ", ".join(f"{kind} {sum(some) / len(some):.2f}" for kind, some in asked.items())
        pages = sum(sum(some) for some in asked.values())
        print(
            f"| {threshold:g} | {pages / len(views):.2f} | {lines / max(there, 1):.2f} "
            f"| {sum(prompts) / len(views):.0f} | {max(prompts, default=0)} | {shares} |"
        )


if __name__ == "__main__":
    main()
