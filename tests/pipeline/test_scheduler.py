"""Turns of many sources: who is due, in fairness, whatever fails; on every database."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event

import pytest

from pipeline import scheduler as module
from pipeline.errors import ServiceMissingError, SourceBusyError
from pipeline.ledger import Ledger
from pipeline.ledger.schedules import FIRST_WAIT, Schedule
from pipeline.scheduler import Scheduler
from pipeline.sources import Declared, edit
from pipeline.sources.watched import WatchedFiles
from tests.pipeline.test_ledger import declare

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


@dataclass
class CameTo:
    """A turn's result, as the scheduler sees it."""

    whole: bool


@dataclass
class Scripted:
    """Stands in for crawling and indexing: each source's turns come to what the test says."""

    ledger: Ledger
    script: dict[str, list[CameTo | Exception]]
    at: datetime = NOW
    seen: list[str] = field(default_factory=list)

    def work(self, declared: Declared, stopping: Callable[[], bool]) -> CameTo:
        self.at += timedelta(seconds=1)
        self.seen.append(declared.name)
        self.ledger.schedules.begin_turn(declared.name, self.at, None)
        left = self.script[declared.name]
        came_to = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(came_to, Exception):
            raise came_to
        due_at = self.at + declared.spec.every if came_to.whole else self.at
        self.ledger.schedules.ended(declared.name, due_at)
        return came_to


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TICK", 0.001)


def take_turns(
    ledger: Ledger, root: Path, script: dict[str, list[CameTo | Exception]], **options: object
) -> Scripted:
    for name in script:
        edit.add(name, {"seeds": [f"https://{name}.example/"], "every": "1h"}, root)
    scripted = Scripted(ledger, script)
    files = WatchedFiles(root)
    Scheduler(ledger, files, scripted.work, 1, once=True, now=lambda: scripted.at, **options).run(
        Event()
    )  # type: ignore[arg-type]
    return scripted


def test_a_large_source_keeps_no_other_from_its_turn(ledger: Ledger, tmp_path: Path) -> None:
    part, whole = CameTo(False), CameTo(True)
    done = take_turns(
        ledger, tmp_path, {"large": [part, part, part, whole], "a": [whole], "b": [part, whole]}
    )
    assert done.seen == ["a", "b", "large", "b", "large", "large", "large"]


def test_a_source_that_fails_waits_longer_each_time_and_the_rest_go_on(
    ledger: Ledger, tmp_path: Path
) -> None:
    away = ServiceMissingError("the index is away")
    ended: dict[str, object] = {}
    done = take_turns(
        ledger,
        tmp_path,
        {"bad": [away], "good": [CameTo(True)]},
        on_end=lambda name, came_to: ended.update({name: came_to}),
    )
    assert done.seen == ["bad", "good"]
    assert ended["bad"] is away
    standing = ledger.schedules.get("bad")
    assert standing is not None
    assert (standing.failures, standing.error) == (1, "the index is away")
    assert not standing.is_due(done.at)
    waits = [ledger.schedules.failed("bad", "x", NOW) - NOW for _ in range(6)]
    assert waits[:2] == [2 * FIRST_WAIT, 4 * FIRST_WAIT]
    assert waits[-1] == timedelta(hours=1)  # never more seldom than when all is well
    ledger.schedules.resume("bad")
    standing = ledger.schedules.get("bad")
    assert standing is not None
    assert standing.is_due(NOW)
    assert standing.failures == 0


def test_a_busy_source_is_no_failure(ledger: Ledger, tmp_path: Path) -> None:
    take_turns(ledger, tmp_path, {"docs": [SourceBusyError("held by another")]})
    standing = ledger.schedules.get("docs")
    assert standing is not None
    assert standing.failures == 0
    assert not standing.is_due(NOW)


def test_a_paused_source_has_no_turn(ledger: Ledger, tmp_path: Path) -> None:
    ledger.schedules.pause("docs", "relaunch")
    done = take_turns(ledger, tmp_path, {"docs": [CameTo(True)], "other": [CameTo(True)]})
    assert done.seen == ["other"]


def test_only_the_named_sources_have_turns(ledger: Ledger, tmp_path: Path) -> None:
    script: dict[str, list[CameTo | Exception]] = {"a": [CameTo(True)], "b": [CameTo(True)]}
    assert take_turns(ledger, tmp_path, script, only=("b",)).seen == ["b"]


def test_a_run_that_is_told_to_stop_waits_for_the_ends_of_its_turns(
    ledger: Ledger, tmp_path: Path
) -> None:
    for name in ("a", "b"):
        edit.add(name, {"seeds": [f"https://{name}.example/"]}, tmp_path)
    stop, ended = Event(), []

    def work(declared: Declared, stopping: Callable[[], bool]) -> CameTo:
        while not stopping():
            stop.set()
        ended.append(declared.name)
        return CameTo(False)

    Scheduler(ledger, WatchedFiles(tmp_path), work, 2).run(stop)
    assert "a" in ended


def test_a_changed_rhythm_makes_a_source_due(ledger: Ledger) -> None:
    ledger.schedules.declare("docs", Schedule(every=7))
    ledger.schedules.ended("docs", NOW + timedelta(days=7))
    ledger.schedules.declare("docs", Schedule(every=7, requests_per_day=5))
    standing = ledger.schedules.get("docs")
    assert standing is not None
    assert not standing.is_due(NOW)
    ledger.schedules.declare("docs", Schedule(every=1))
    standing = ledger.schedules.get("docs")
    assert standing is not None
    assert standing.is_due(NOW)


def test_a_crawl_is_held_to_its_turn_its_day_and_its_run(ledger: Ledger) -> None:
    declare(ledger)
    schedules = ledger.schedules
    assert schedules.allows("docs", None, NOW) is None
    assert schedules.allows("docs", "another run", NOW) == 0
    assert schedules.allows("none", None, NOW) == 0
    schedules.declare("docs", Schedule(every=1, requests_per_day=10, bytes_per_day=100))
    schedules.spend("docs", 4, 50, NOW)
    schedules.spend("docs", 3, 49, NOW)
    assert (schedules.allows("docs", None, NOW), schedules.spent("docs", NOW)) == (3, False)
    schedules.spend("docs", 0, 1, NOW)
    assert (schedules.allows("docs", None, NOW), schedules.spent("docs", NOW)) == (0, True)
    tomorrow = NOW + timedelta(days=1)
    assert (schedules.allows("docs", None, tomorrow), schedules.spent("docs", tomorrow)) == (
        10,
        False,
    )
    schedules.begin_turn("docs", tomorrow, tomorrow + timedelta(minutes=1))
    assert schedules.allows("docs", None, tomorrow + timedelta(minutes=1)) == 0
    schedules.begin_turn("docs", tomorrow, None)
    schedules.pause("docs", "by hand")
    assert schedules.allows("docs", None, tomorrow) == 0
