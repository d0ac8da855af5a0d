"""Order, batches and lost engines, over a fake of the cluster that ends its engines as told."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from threading import Lock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_serving.errors import (
    EngineDiedError,
    PlannerModelError,
    PlannerRefusedError,
    PlannerUnavailableError,
)
from planner_serving.ports import Completion, Prompt
from planner_serving.serving import AGAIN_AFTER, BATCH, ServedCompleter, interpreter


def prompt(body: str) -> Prompt:
    return Prompt("instructions", body, "[a-z]{1}", 2, "test-1")


class FakeReplicas:
    """Answers a prompt with its own body; before that it ends, `dies` times a body."""

    identity = "Fake@1"

    refusal: Exception | None = None

    def __init__(self, dies: dict[str, int] | None = None) -> None:
        self.calls: list[list[str]] = []
        self._dies = dict(dies or {})
        self._lock = Lock()

    def ready(self) -> None:
        if self.refusal:
            raise self.refusal

    def call(self, prompts: Sequence[Prompt]) -> list[Completion | Exception]:
        with self._lock:
            self.calls.append([prompt.body for prompt in prompts])
            for one in prompts:
                if self._dies.get(one.body, 0) > 0:
                    self._dies[one.body] -= 1
                    raise EngineDiedError("ended")
        return [self._one(prompt) for prompt in prompts]

    def _one(self, prompt: Prompt) -> Completion | Exception:
        if prompt.body.startswith("refused"):
            return PlannerRefusedError("no")
        if prompt.body.startswith("slow"):
            return PlannerUnavailableError("not in time")
        return Completion(prompt.body, 1, 0, 1, True)


def no_wait(seconds: float) -> None:
    pass


@given(st.lists(st.text(max_size=3), max_size=70))
def test_each_prompt_gets_its_own_answer(bodies: list[str]) -> None:
    completer = ServedCompleter(FakeReplicas(), no_wait)
    results = completer.complete([prompt(body) for body in bodies])
    assert [r.text if isinstance(r, Completion) else r for r in results] == bodies


def test_what_begins_alike_travels_together() -> None:
    replicas = FakeReplicas()
    bodies = [f"site {n % 4} page {n}" for n in range(4 * BATCH)]
    ServedCompleter(replicas, no_wait).complete([prompt(body) for body in bodies])
    assert [len(call) for call in replicas.calls] == [BATCH] * 4
    assert sorted({body[:6] for body in call} for call in replicas.calls) == [
        {f"site {n}"} for n in range(4)
    ]


def test_prompts_of_an_engine_that_ended_are_asked_again() -> None:
    waited: list[float] = []
    bodies = [f"page {n:02}" for n in range(3 * BATCH)]
    replicas = FakeReplicas({"page 20": 2})
    results = ServedCompleter(replicas, waited.append).complete([prompt(b) for b in bodies])
    assert [r.text for r in results if isinstance(r, Completion)] == bodies
    assert waited == list(AGAIN_AFTER[:2])
    assert len(replicas.calls) == 7  # the batches that were not hit are asked once


def test_a_prompt_that_ends_every_engine_takes_no_other_with_it() -> None:
    bodies = [f"page {n:02}" for n in range(BATCH)]
    replicas = FakeReplicas({"page 05": 10**6})
    results = ServedCompleter(replicas, no_wait).complete([prompt(b) for b in bodies])
    lost = [n for n, result in enumerate(results) if isinstance(result, EngineDiedError)]
    assert lost == [5]


def test_only_an_engine_s_end_is_tried_again() -> None:
    replicas = FakeReplicas()
    results = ServedCompleter(replicas, no_wait).complete(
        [prompt("refused"), prompt("fine"), prompt("slow")]
    )
    assert [type(r) for r in results] == [PlannerRefusedError, Completion, PlannerUnavailableError]
    assert len(replicas.calls) == 1


def test_an_engine_that_ends_every_time_is_given_up() -> None:
    replicas = FakeReplicas({"page": 10**6})
    (result,) = ServedCompleter(replicas, no_wait).complete([prompt("page")])
    assert isinstance(result, EngineDiedError)
    assert len(replicas.calls) == 1 + len(AGAIN_AFTER)


def test_engines_that_do_not_start_are_tried_once_for_all_prompts() -> None:
    replicas = FakeReplicas()
    replicas.refusal = PlannerModelError("no GPU")
    results = ServedCompleter(replicas, no_wait).complete([prompt("a")] * 3 * BATCH)
    assert results == [replicas.refusal] * 3 * BATCH
    assert replicas.calls == []


def test_nothing_asked_is_nothing_called() -> None:
    replicas = FakeReplicas()
    assert ServedCompleter(replicas, no_wait).complete([]) == []
    assert replicas.calls == []


def test_the_interpreter_of_the_engines_is_named_or_missed_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr(sys, "prefix", f"{tmp_path}/.venv")
    with pytest.raises(PlannerModelError, match=r"\.venv-vllm"):
        interpreter()
