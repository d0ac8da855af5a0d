"""Engines on a cluster as one `Completer`: order, batches, and what an engine's end costs."""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from typing import Protocol

from planner_serving.errors import EngineDiedError, PlannerModelError
from planner_serving.ports import Completion, Prompt

#: Prompts that travel together: what a call costs is shared, what is lost with an engine is small.
BATCH = 16
#: Batches on their way at a time; what more there is waits here and not at the engines.
IN_FLIGHT = 8
#: Seconds before each time that the prompts of an engine that ended are asked again. An engine
#: that ended is found out within seconds; the wait for the new one is part of the call.
AGAIN_AFTER = (1.0, 2.0, 4.0, 8.0, 16.0)


def interpreter() -> str:
    """The Python that runs the engines: this one, or that of `make install-vllm` beside it.

    Raises `PlannerModelError` where vLLM is in neither.
    """
    if importlib.util.find_spec("vllm"):
        return sys.executable
    beside = Path(sys.prefix).with_name(".venv-vllm") / "bin" / "python"
    if beside.exists():
        return str(beside)
    raise PlannerModelError(f"vLLM is not installed here, nor in {beside.parents[1]}")


class Replicas(Protocol):
    """Engines behind one door: `planner_serving.actor` has them on Ray Serve."""

    @property
    def identity(self) -> str: ...

    def ready(self) -> None:
        """Start the engines where there are none. Raises `PlannerModelError` where they cannot be,
        and `PlannerUnavailableError` where they were not in time."""
        ...

    def call(self, prompts: Sequence[Prompt]) -> list[Completion | Exception]:
        """One result for each prompt from one of the engines. Raises `EngineDiedError` where
        that engine ended, `PlannerUnavailableError` where none answers."""
        ...


class ServedCompleter:
    """A `Completer` over engines that come, go and end.

    Prompts are asked in the order of their text, so that those which begin alike reach an engine
    together and its prefix cache serves them. Prompts whose engine ended are asked again.
    """

    def __init__(self, replicas: Replicas, sleep: Callable[[float], None] = time.sleep) -> None:
        self._replicas = replicas
        self._sleep = sleep

    @property
    def identity(self) -> str:
        """As the engines say."""
        return self._replicas.identity

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion | Exception]:
        """One result for each prompt, in the order given."""
        if not prompts:
            return []
        try:
            self._replicas.ready()
        except Exception as error:
            return [error] * len(prompts)
        order = sorted(range(len(prompts)), key=lambda n: (prompts[n].prefix, prompts[n].body))
        batches = list(_cut([prompts[n] for n in order]))
        with ThreadPoolExecutor(IN_FLIGHT, "planner") as threads:
            answers = chain.from_iterable(threads.map(self._batch, batches))
            placed = dict(zip(order, answers, strict=True))
        return [placed[n] for n in range(len(prompts))]

    def _batch(self, prompts: Sequence[Prompt]) -> list[Completion | Exception]:
        results = self._call(prompts)
        size = BATCH
        for seconds in AGAIN_AFTER:
            lost = [n for n, result in enumerate(results) if isinstance(result, EngineDiedError)]
            if not lost:
                break
            self._sleep(seconds)
            # In ever smaller parts: a prompt that ends its engine each time is alone in the end,
            # and has taken no other with it.
            size = max(size // 2, 1)
            again = chain.from_iterable(
                self._call(some) for some in _cut([prompts[n] for n in lost], size)
            )
            for n, result in zip(lost, again, strict=True):
                results[n] = result
        return results

    def _call(self, prompts: Sequence[Prompt]) -> list[Completion | Exception]:
        try:
            return self._replicas.call(prompts)
        except Exception as error:
            # One call's fault is its prompts' result; the other batches go on.
            return [error] * len(prompts)


def _cut(prompts: Sequence[Prompt], size: int = BATCH) -> Iterator[Sequence[Prompt]]:
    for start in range(0, len(prompts), size):
        yield prompts[start : start + size]
