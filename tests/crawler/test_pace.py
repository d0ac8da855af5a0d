"""When a host may be asked again, by a clock that the test holds."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest

from crawler.errors import UnavailableError
from crawler.model import HostPace
from crawler.pace import MAX_WAIT, Pace, retry_after

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120.0),
        (" 0 ", 0.0),
        ("Fri, 02 Jan 2026 03:04:35 GMT", 30.0),
        ("Fri, 02 Jan 2026 03:04:00 GMT", 0.0),
        ("soon", None),
        ("-5", None),
        ("", None),
    ],
)
def test_retry_after_in_both_forms(value: str, seconds: float | None) -> None:
    assert retry_after(value, NOW) == seconds


@pytest.mark.parametrize("status", [429, 503])
def test_a_host_is_held_for_as_long_as_it_asks(status: int) -> None:
    clock = Clock()
    pace = Pace(0.0, clock)
    pace.answered("h", status, "30")
    assert pace.wait_for("h") == 30.0
    assert pace.wait_for("other") == 0.0
    clock.now += 31
    assert pace.wait_for("h") == 0.0


def test_back_off_doubles_until_the_host_answers_well() -> None:
    clock = Clock()
    pace = Pace(0.0, clock)
    waits = []
    for _ in range(4):
        pace.answered("h", 503, "")
        waits.append(pace.wait_for("h"))
        clock.now += waits[-1]
    assert waits == [1.0, 2.0, 4.0, 8.0]
    pace.answered("h", 200, "")
    pace.answered("h", 503, "")
    assert pace.wait_for("h") == 1.0


def test_a_host_that_asks_for_hours_is_left_alone() -> None:
    pace = Pace(0.0, Clock())
    pace.answered("h", 429, str(int(MAX_WAIT) + 60))
    with pytest.raises(UnavailableError) as error:
        pace.wait_for("h")
    assert error.value.reason == "rate_limited"


def test_other_errors_hold_nobody() -> None:
    pace = Pace(0.0, Clock())
    for status in (200, 404, 500, 502):
        pace.answered("h", status, "60")
    assert pace.wait_for("h") == 0.0


def test_the_larger_of_our_delay_and_the_sites_holds() -> None:
    pace = Pace(2.0)
    pace.crawl_delay("slow", 5.0)
    pace.crawl_delay("fast", 0.5)
    assert (pace.gap("slow"), pace.gap("fast"), pace.gap("other")) == (5.0, 2.0, 2.0)


class Memory:
    """Remembers paces in memory, as a frontier does for longer."""

    def __init__(self, **known: HostPace | None) -> None:
        self.known = known
        self.asked: list[str] = []

    async def pace(self, host: str) -> HostPace | None:
        self.asked.append(host)
        return self.known.get(host, HostPace())

    async def keep_pace(self, host: str, pace: HostPace) -> None:
        self.known[host] = pace


def test_what_earlier_crawls_heard_holds_for_the_first_request() -> None:
    clock = Clock()
    memory = Memory(held=HostPace(5.0, MAX_WAIT + 60), taken=None)

    async def ask() -> None:
        pace = Pace(0.0, clock, memory)
        await pace.turn("free")
        await pace.turn("free")
        for host in ("held", "taken"):
            with pytest.raises(UnavailableError) as error:
                await pace.turn(host)
            assert error.value.reason == "rate_limited"
        memory.known["taken"] = HostPace()
        await pace.turn("taken")

    asyncio.run(ask())
    assert memory.asked == ["free", "held", "taken", "taken"]


def test_what_a_host_asks_for_is_remembered() -> None:
    memory = Memory()

    async def hear() -> None:
        pace = Pace(2.0, Clock(), memory)
        pace.crawl_delay("slow", 5.0)
        pace.crawl_delay("none", 0.0)
        pace.answered("busy", 429, "30")
        await asyncio.sleep(0)

    asyncio.run(hear())
    assert memory.known == {
        "slow": HostPace(5.0),
        "none": HostPace(2.0),
        "busy": HostPace(2.0, 30.0),
    }
