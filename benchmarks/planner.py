"""What asking a model costs: `make bench-planner`, or `python -m benchmarks.planner FOLDER`.

The model in FOLDER answers the real prompts of the example sites' pages on this machine's
processor, in vLLM's environment. A row is the same pages asked in another way, and its time a page
as a ratio to the first row's: the bare engine, prefix cache on, sixteen prompts at a time. The
seconds are those of the processors, this process's and its children's, since a busy machine makes
the clock's say little; both are shown. `--json` prints the rows as JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import psutil
from rich.console import Console
from rich.table import Table

from chunker.outline import outline
from chunker.parse import parse
from chunker.policy import Policy
from examples.site import read_site, site_names
from pipeline.caches import Bounds, open_cache
from pipeline.caches.plans import PlanCache
from pipeline.topology import cluster
from planner_serving.actor import ServeOptions, ServeReplicas
from planner_serving.engine import EngineOptions, VllmEngine
from planner_serving.errors import PlannerRefusedError
from planner_serving.model_planner import ModelPlanner
from planner_serving.plan_cache import CachedCompleter
from planner_serving.ports import Completer, Completion, Prompt
from planner_serving.serving import BATCH, ServedCompleter


@dataclass(frozen=True)
class Row:
    """One way of asking."""

    way: str
    pages: int
    seconds: float
    """By the clock."""
    worked: float
    """Processor seconds of all processes together."""
    read: float
    """Tokens a page that the model read: those of a cache left out."""
    written: float
    """Tokens a page that the model wrote."""


class Recorder:
    """A completer that keeps what it is asked and answers nothing."""

    identity = "Recorder@1"

    def __init__(self) -> None:
        self.prompts: list[Prompt] = []

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion | Exception]:
        self.prompts += prompts
        return [PlannerRefusedError("recorded")] * len(prompts)


def example_prompts() -> list[Prompt]:
    """What a model is asked about the pages of the example sites."""
    policy = Policy(planner="vllm")
    recorder = Recorder()
    for name in site_names():
        site = read_site(name, "https://example.org")
        documents = (parse(site.responses[page.path].body, page.path) for page in site.pages)
        views = [outline(document, policy) for document in documents]
        ModelPlanner(recorder).plan_many(views, policy)
    return recorder.prompts


def rows(model: Path, pages: int) -> Iterator[Row]:
    """All ways, one after the other; there is one engine at a time."""
    options = EngineOptions(model, context=4096, concurrency=BATCH, seconds=600)
    warm, *prompts = example_prompts()[: pages + 1]
    engine = VllmEngine(options)
    engine.complete([warm])
    yield row("engine", engine, prompts)
    yield row("engine, one at a time", engine, prompts[:BATCH], at_a_time=1)
    yield from kept(engine, prompts[:BATCH])
    engine.close()
    engine = VllmEngine(replace(options, prefix_caching=False))
    engine.complete([warm])
    yield row("engine without prefix cache", engine, prompts[:BATCH])
    engine.close()
    with cluster(""):
        replicas = ServeReplicas(options, ServeOptions())
        served = ServedCompleter(replicas)
        served.complete([warm])
        yield row("Ray Serve", served, prompts)
        replicas.stop()


def kept(engine: VllmEngine, prompts: Sequence[Prompt]) -> Iterator[Row]:
    """Through the plan cache in a file: nothing is there, then everything is."""
    with tempfile.TemporaryDirectory() as folder:
        cache = open_cache(f"sqlite:///{folder}/caches.sqlite", "plans", Bounds(1e9, 2**30))
        completer = CachedCompleter(engine, PlanCache(cache, "bench", engine.identity))
        yield row("plan cache, miss", completer, prompts, salt="miss")
        yield row("plan cache, hit", completer, prompts, salt="miss")


def row(
    way: str,
    completer: Completer,
    prompts: Sequence[Prompt],
    at_a_time: int = BATCH,
    salt: str = "",
) -> Row:
    """Ask, and take the time."""
    # Another first word: only what stands before the page is the same as in other rows.
    asked = [replace(prompt, body=f"{salt or way}\n{prompt.body}") for prompt in prompts]
    read = written = 0
    started, worked = time.perf_counter(), processor_seconds()
    for at in range(0, len(asked), at_a_time):
        for result in completer.complete(asked[at : at + at_a_time]):
            if isinstance(result, Exception):
                raise result
            if not result.cached:
                read += result.input_tokens - result.cached_input_tokens
                written += result.output_tokens
    seconds, worked = time.perf_counter() - started, processor_seconds() - worked
    made = Row(way, len(asked), seconds, worked, read / len(asked), written / len(asked))
    print(made, file=sys.stderr, flush=True)
    return made


def processor_seconds() -> float:
    """What this process and those that it started have worked."""
    me = psutil.Process()
    worked = 0.0
    for process in (me, *me.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):  # ended since
            times = process.cpu_times()
            worked += times.user + times.system
    return worked


def show(made: Sequence[Row]) -> None:
    """The rows as a table."""
    table = Table("", "pages", "s/page", "worked/page", "ratio", "read/page", "written/page")
    first = made[0].worked / made[0].pages
    for one in made:
        each = one.worked / one.pages
        numbers = (
            f"{one.seconds / one.pages:.4f}",
            f"{each:.4f}",
            f"{each / first:.3f}",
            f"{one.read:.0f}",
            f"{one.written:.1f}",
        )
        table.add_row(one.way, str(one.pages), *numbers)
    Console().print(table)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("--pages", type=int, default=2 * BATCH)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    load = os.getloadavg()[0]  # before this program's own
    made = list(rows(given.model, given.pages))
    if given.json:
        print(json.dumps({"load": load, "rows": [asdict(one) for one in made]}))
    else:
        show(made)
        print(f"load before: {load:.1f}")


if __name__ == "__main__":
    main()
