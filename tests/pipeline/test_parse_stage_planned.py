"""The first stage with a model: pages are planned together, over real HTTP to a fake of a model."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chunker import tokens
from chunker.model import Outline, Plan
from chunker.policy import Policy
from pipeline.caches import open_cache
from pipeline.page import fell_back, from_cache
from pipeline.pages import Failed, Parsed, Prepared, Removal
from pipeline.pagestore import PageStore
from pipeline.parse_stage import Limits, ParseStage
from pipeline.planning import open_planner
from pipeline.settings import Settings
from planner_serving.ports import BatchPlanner
from planner_serving.structural import StructuralPlanner
from tests.pipeline.test_parse_stage import SOURCE, job
from tests.planner_serving.openai_server import MODEL, FakeOpenAI, serve

POLICY = Policy(planner="endpoint")
PLANNED = replace(SOURCE, pins=replace(SOURCE.pins, policy=POLICY))
LIMITS = Limits(seconds=60, memory=0)


@pytest.fixture
def store(tmp_path: Path) -> PageStore:
    return PageStore(str(tmp_path))


@pytest.fixture
def model() -> Iterator[FakeOpenAI]:
    with serve() as fake:
        yield fake


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planner_serving.endpoint._pause", lambda attempt, header: 0.0)


def stage(store: PageStore, model: FakeOpenAI, cache: str) -> ParseStage:
    settings = Settings(planner_url=model.url, planner_model=MODEL)
    planner = open_planner(settings, POLICY, "acme", open_cache(cache, "plans"))
    return ParseStage(PLANNED, store, tokens.count, lambda: planner)


def page(name: str) -> bytes:
    return (
        f"<main><h1>Boat {name}</h1><p>It sails at nine, and comes back when it is late.</p>"
        f"<p>Fares of {name}</p><p>Ten crowns for all, and nothing for children.</p></main>"
    ).encode()


def run(stage: ParseStage, store: PageStore, names: Sequence[str]) -> list[Parsed]:
    return stage.run([job(store, page(name), name) for name in names], LIMITS)


NAMES = [f"b{number}" for number in range(16)]


def test_a_batch_is_asked_at_once_and_the_next_time_not_at_all(
    store: PageStore, model: FakeOpenAI, tmp_path: Path
) -> None:
    cache = f"sqlite:///{tmp_path}/caches.sqlite"
    gone = replace(job(store, page("x")), body_hash=None, wanted=None)
    first = stage(store, model, cache).run(
        [gone, *(job(store, page(name), name) for name in NAMES)], LIMITS
    )
    assert first[0] == Removal(gone)
    assert all(isinstance(one, Prepared) and one.plan.usage.calls == 1 for one in first[1:])
    assert [one.job.url[-2:] for one in first[1:]] == [name[-2:] for name in NAMES]
    assert len(model.requests) == len(NAMES)
    again = run(stage(store, model, cache), store, NAMES)
    assert all(isinstance(one, Prepared) and from_cache(one.plan) for one in again)
    assert len(model.requests) == len(NAMES)


@pytest.mark.parametrize("behaviour", ["429", "500", "half"])
def test_a_model_that_is_away_makes_its_page_wait_and_no_other(
    store: PageStore, model: FakeOpenAI, tmp_path: Path, behaviour: Any
) -> None:
    model.behave = lambda request: behaviour if "Boat b3" in str(request) else "answer"
    planned = stage(store, model, f"sqlite:///{tmp_path}/caches.sqlite")
    found = run(planned, store, NAMES[:6])
    waits = found.pop(3)
    assert isinstance(waits, Failed)
    assert (waits.reason, waits.transient) == ("planner_unavailable", True)
    assert all(isinstance(one, Prepared) and not fell_back(one.plan) for one in found)
    model.always("answer")
    assert isinstance(run(planned, store, NAMES[3:4])[0], Prepared)


def test_a_page_that_a_model_never_answers_is_planned_without_it_in_the_end(
    store: PageStore, model: FakeOpenAI, tmp_path: Path
) -> None:
    model.behave = lambda request: "500" if "Boat b3" in str(request) else "answer"
    planned = stage(store, model, f"sqlite:///{tmp_path}/caches.sqlite")
    assert isinstance(run(planned, store, NAMES[:6])[3], Failed)
    [page] = run(planned, store, NAMES[3:4])  # alone, as the loop does when all else is done
    assert isinstance(page, Prepared)
    assert page.plan.repairs == ("structural: silent",)


def test_what_a_page_paid_before_it_had_to_wait_is_said(
    store: PageStore, model: FakeOpenAI, tmp_path: Path
) -> None:
    lines = "".join(f"<p>Opening hours of boat {n}</p><p>It is open.</p>" for n in range(100))
    long = job(store, f"<main><h1>Boats</h1>{lines}</main>".encode())
    model.behave = lambda request: "500" if "of boat 99" in str(request) else "answer"
    planned = stage(store, model, f"sqlite:///{tmp_path}/caches.sqlite")
    [waits] = planned.run([long], LIMITS)
    assert isinstance(waits, Failed) and waits.transient
    calls = waits.usage.calls
    assert calls > 0 < waits.usage.input_tokens
    model.always("answer")
    [done] = planned.run([long], LIMITS)
    assert isinstance(done, Prepared)
    assert (done.plan.usage.calls, done.plan.usage.cached_calls) == (1, calls)


@pytest.mark.parametrize("behaviour", ["prose", "400", "nonsense"])
def test_what_is_no_answer_gives_its_page_the_structural_plan(
    store: PageStore, model: FakeOpenAI, tmp_path: Path, behaviour: Any
) -> None:
    model.behave = lambda request: behaviour if "Boat b3" in str(request) else "answer"
    planned = stage(store, model, f"sqlite:///{tmp_path}/caches.sqlite")
    found = run(planned, store, NAMES[:6])
    assert [isinstance(one, Prepared) and fell_back(one.plan) for one in found] == [
        name == "b3" for name in NAMES[:6]
    ]


def test_a_cache_that_dies_while_the_model_is_asked_costs_no_plan(
    store: PageStore, model: FakeOpenAI, redis_server: Any
) -> None:
    planned = stage(store, model, redis_server.url)
    first = run(planned, store, NAMES[:1])

    def kill(_: object) -> str:
        redis_server.kill()
        return "answer"

    model.behave = kill  # type: ignore[assignment]
    try:
        found = run(planned, store, NAMES[:6])
    finally:
        redis_server.start()
    assert all(isinstance(one, Prepared) for one in (*first, *found))
    assert [from_cache(one.plan) for one in found if isinstance(one, Prepared)] == [
        True,
        *[False] * 5,
    ]


class WatchingPlanner(StructuralPlanner):
    """Plans as the structural planner does; fails where a page's deadline runs meanwhile."""

    def plan_many(self, outlines: Sequence[Outline], policy: Policy) -> list[Plan | Exception]:
        assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
        return [self.plan(outline, policy) for outline in outlines]


def test_while_a_model_plans_no_deadline_runs(store: PageStore) -> None:
    planner: BatchPlanner = WatchingPlanner()
    planned = ParseStage(PLANNED, store, tokens.count, lambda: planner)
    assert all(isinstance(one, Prepared) for one in run(planned, store, NAMES))


def test_a_planner_that_breaks_costs_its_pages_and_not_the_worker(store: PageStore) -> None:
    def broken() -> BatchPlanner:
        raise RuntimeError("a fault")

    planned = ParseStage(PLANNED, store, tokens.count, broken)
    [failed] = run(planned, store, NAMES[:1])
    assert isinstance(failed, Failed)
    assert (failed.reason, failed.transient) == ("fault", False)
