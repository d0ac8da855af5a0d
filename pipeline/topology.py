"""The stages on Ray: the only file of the pipeline that knows it.

A batch goes from a parse actor straight to the index actor; the driver sees only results. Long-
lived actors with a bounded number of batches in flight were chosen by measurement over Ray Data
(see docs/design.md). Actors are restarted when they die, their batches are the loop's to repeat.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from math import ceil
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError, WorkerCrashedError

from crawler.access import Access
from crawler.actor import crawl
from crawler.model import Politeness, Tally
from pipeline import crawling, leftovers
from pipeline.caches.embeddings import EmbeddingCache
from pipeline.index_stage import IndexStage
from pipeline.ledger import Job, Source
from pipeline.pages import Parsed, Result
from pipeline.parse_stage import Limits, ParseStage, limit_memory
from pipeline.parts import Parts
from pipeline.planning import open_planner
from pipeline.reconcile import Batch
from pipeline.settings import Settings

#: Bytes of Ray's object store on one machine: a few batches of parsed pages.
OBJECT_STORE = 256 * 2**20
#: Times that a crawl whose process died is started again.
RESTARTS = 3
#: What each kind of worker asks of Ray's processors; most of the time it waits for another.
CRAWL_SHARE, PARSE_SHARE, INDEX_SHARE = 0.3, 0.5, 0.5
#: Batches in flight for each parse actor: one that it works on, one that waits.
AHEAD = 2


@contextlib.contextmanager
def cluster(address: str, workers: float = 1.0) -> Iterator[None]:
    """Ray, at `address` or started for as long as the context lasts.

    `workers`: what those that run at a time ask of its processors together. A machine of its own
    gives as much, or one source would wait for a worker that another does not give back.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    leftovers.sweep()
    folder = None if address else leftovers.make_folder()
    where: dict[str, Any] = (
        {"address": address}
        if address
        else {
            "num_cpus": max(os.cpu_count() or 1, ceil(workers)),
            "include_dashboard": False,
            "object_store_memory": OBJECT_STORE,
            "_temp_dir": folder,
        }
    )
    # Ray's remark on its token comes with every start; that a token guards the cluster is right.
    logging.getLogger("ray").setLevel(logging.ERROR)
    # Standard output is the command's answer; Ray prints there what its workers suffer, also
    # while it shuts down.
    with contextlib.redirect_stdout(sys.stderr):
        try:
            ray.init(
                log_to_driver=False, configure_logging=False, logging_level=logging.ERROR, **where
            )
            yield
        finally:
            ray.shutdown()
            if folder:
                shutil.rmtree(folder, ignore_errors=True)


def asked(settings: Settings, sources: int = 1) -> tuple[str, float]:
    """`cluster`'s arguments for what the workers of so many sources at a time ask for."""
    source = CRAWL_SHARE + PARSE_SHARE * settings.parse_workers + INDEX_SHARE
    return settings.ray_address, source * sources


class ParseActor:
    """A shell over `ParseStage`."""

    def __init__(self, parts: Parts, source: Source) -> None:
        from indexer.embedders import open_counter

        limit_memory(parts.settings.page_memory)
        self._limits = Limits(parts.settings.page_seconds, parts.settings.page_memory)
        policy = source.pins.policy
        planner = (
            functools.cache(
                functools.partial(
                    open_planner, parts.settings, policy, source.customer, parts.caches["plans"]
                )
            )
            if policy.asks_model
            else None
        )
        counter = open_counter(parts.settings.embedder)
        self._stage = ParseStage(source, parts.store, counter, planner)

    def run(self, jobs: Sequence[Job]) -> list[Parsed]:
        return self._stage.run(jobs, self._limits)

    def marks(self, pages: Sequence[tuple[str, str, str]]) -> list[tuple[str, Sequence[str]]]:
        return self._stage.marks(pages, self._limits)


class IndexActor:
    """A shell over `IndexStage`."""

    def __init__(self, parts: Parts, source: Source) -> None:
        cache = EmbeddingCache(parts.caches["embeddings"])
        self._stage = IndexStage(source, parts.store, parts.embedder, cache, parts.index)

    def run(self, pages: list[Parsed]) -> list[Result]:
        return self._stage.run(pages)


class Crawl:
    """A crawl that runs in a worker of its own."""

    def __init__(
        self,
        parts: Parts,
        source: Source,
        runner: str,
        asked: Politeness,
        open_access: Callable[[], Access | None] = lambda: None,
    ) -> None:
        self._parts, self._source, self._runner, self._asked = parts, source, runner, asked
        self._open_access = open_access
        self._ref = self._start()
        self._left = RESTARTS
        self._closed = False

    @property
    def running(self) -> bool:
        """Whether it still crawls. A crawl whose process died is started again, a few times."""
        ready, _ = ray.wait([self._ref], timeout=0)
        if not ready:
            return True
        if self._left and self._died():
            self._left -= 1
            self._ref = self._start()
            return True
        return False

    def result(self) -> Tally:
        """What the crawl did; waits for it. Raises what ended it.

        What a crawl counted that was closed before its end is not known.
        """
        try:
            tally: Tally = ray.get(self._ref)
            return tally
        except RayTaskError as error:
            raise error.cause from None  # without the worker's traceback in its message
        except RayError:
            if not self._closed:
                raise
            return Tally()

    def close(self) -> None:
        """End it at once if it still runs: what it has recorded stays."""
        self._left, self._closed = 0, True
        ray.cancel(self._ref, force=True)

    def _start(self) -> Any:
        task: Any = crawl
        return task.options(num_cpus=CRAWL_SHARE).remote(
            self._source.name,
            self._source.scope,
            self._asked,
            crawling.OpenFrontier(self._parts, self._source, self._runner),
            None,
            self._open_access,
        )

    def _died(self) -> bool:
        try:
            ray.get(self._ref)
        except WorkerCrashedError:
            return True
        except RayError:
            return False
        return False


class RayPool:
    """`pipeline.reconcile.Pool` over Ray actors, which start with the first batch."""

    def __init__(self, parts: Parts, source: Source) -> None:
        self._parts = parts
        self._source = source
        self._flight: dict[Any, tuple[int, Sequence[Job]]] = {}

    @functools.cached_property
    def _parsers(self) -> list[Any]:
        make = ray.remote(num_cpus=PARSE_SHARE, max_restarts=-1)(ParseActor)
        return [make.remote(self._parts, self._source) for _ in range(self._workers)]

    @functools.cached_property
    def _index(self) -> Any:
        make = ray.remote(num_cpus=INDEX_SHARE, max_restarts=-1)(IndexActor)
        return make.remote(self._parts, self._source)

    @property
    def _workers(self) -> int:
        return self._parts.settings.parse_workers

    def close(self) -> None:
        """End the actors that were started; what they were at is to be done again."""
        started = vars(self)
        for actor in [*started.get("_parsers", ()), started.get("_index")]:
            if actor is not None:
                ray.kill(actor)

    def marks(self, pages: Sequence[tuple[str, str, str]]) -> list[tuple[str, Sequence[str]]]:
        """`ParseStage.marks` in a worker; none where a page kills it."""
        try:
            found: list[tuple[str, Sequence[str]]] = ray.get(self._parsers[0].marks.remote(pages))
            return found
        except RayError:
            return []

    @property
    def room(self) -> bool:
        return len(self._flight) < AHEAD * self._workers

    @property
    def idle(self) -> bool:
        return not self._flight

    def submit(self, jobs: Sequence[Job]) -> None:
        held = [number for number, _ in self._flight.values()]
        number = min(range(self._workers), key=held.count)
        parsed = self._parsers[number].run.remote(jobs)
        self._flight[self._index.run.remote(parsed)] = number, jobs

    def collect(self, timeout: float) -> list[Batch]:
        if not self._flight:
            return []
        ready, _ = ray.wait(list(self._flight), num_returns=len(self._flight), timeout=0)
        if not ready:
            ready, _ = ray.wait(list(self._flight), num_returns=1, timeout=timeout)
        return [self._batch(ref) for ref in ready]

    def _batch(self, ref: Any) -> Batch:
        _, jobs = self._flight.pop(ref)
        try:
            return Batch(jobs, ray.get(ref))
        except RayError as error:
            return Batch(jobs, None, str(error).strip().splitlines()[0])
