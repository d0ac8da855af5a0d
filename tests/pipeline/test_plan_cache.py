"""No answer is paid for twice, on every store, whoever asks at once and whatever is lost."""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from multiprocessing.synchronize import Event
from pathlib import Path

import pytest
import redis
from hypothesis import given
from hypothesis import strategies as st

from pipeline.caches import open_cache
from pipeline.caches.plans import PlanCache
from planner_serving.errors import PlannerUnavailableError
from planner_serving.plan_cache import CLAIM, CachedCompleter
from planner_serving.ports import Completion, Prompt

PROMPT = Prompt("rules", "page", "[ab]{2}", 2, "grammar-1")
ANSWER = Completion("ab", 100, 80, 2, True)


class CountingCompleter:
    """Stands for a model: answers what the test says, and counts what it was asked."""

    identity = "model@1"

    def __init__(self, answer: Callable[[Prompt], Completion | Exception] = lambda _: ANSWER):
        self.asked: list[Prompt] = []
        self._answer = answer

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion | Exception]:
        self.asked += prompts
        return [self._answer(prompt) for prompt in prompts]


@pytest.fixture(params=["sqlite", "redis"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'caches.sqlite'}"
        return
    server = request.getfixturevalue("redis_server")
    redis.Redis.from_url(server.url).flushall()
    yield server.url


def opened(url: str, customer: str = "acme", identity: str = "model@1") -> PlanCache:
    return PlanCache(open_cache(url, "plans"), customer, identity)


def prompts(*bodies: str) -> list[Prompt]:
    return [replace(PROMPT, body=body) for body in bodies]


def test_the_second_time_costs_nothing_and_says_so(url: str) -> None:
    model = CountingCompleter()
    [first] = CachedCompleter(model, opened(url)).complete([PROMPT])
    [second] = CachedCompleter(model, opened(url)).complete([PROMPT])
    assert first == ANSWER
    assert second == replace(ANSWER, cached=True)
    assert isinstance(second, Completion)
    assert (second.usage.calls, second.usage.input_tokens, second.usage.cached_calls) == (0, 0, 1)
    assert model.asked == [PROMPT]


def test_only_what_is_missing_is_asked_in_order_and_once(url: str) -> None:
    model = CountingCompleter()
    cached = CachedCompleter(model, opened(url))
    cached.complete(prompts("b"))
    found = cached.complete(prompts("c", "b", "a", "c"))
    assert [one.cached for one in found if isinstance(one, Completion)] == [
        False,
        True,
        False,
        True,
    ]
    assert model.asked == prompts("b", "c", "a")
    assert cached.complete([]) == []


@pytest.mark.parametrize(
    "other",
    [
        replace(PROMPT, prefix="rule", body="spage"),
        replace(PROMPT, body="page "),
        replace(PROMPT, regex="[abc]{2}"),
        replace(PROMPT, max_tokens=3),
        replace(PROMPT, schema="grammar-2"),
    ],
)
def test_another_prompt_is_another_answer(tmp_path: Path, other: Prompt) -> None:
    cache = opened(f"sqlite:///{tmp_path}/c.sqlite")
    cache.put_many({PROMPT: ANSWER})
    assert cache.get_many([other]) == {}


def test_no_customer_and_no_model_has_another_s_answers(url: str) -> None:
    opened(url).put_many({PROMPT: ANSWER})
    assert opened(url, customer="acme2").get_many([PROMPT]) == {}
    assert opened(url, identity="model@2").get_many([PROMPT]) == {}
    assert opened(url).get_many([PROMPT]) == {PROMPT: ANSWER}


@pytest.mark.parametrize(
    "bad",
    [
        PlannerUnavailableError("503"),
        Completion("Sure! Here are the groups:", 100, 0, 2, True),
        Completion("ab", 100, 0, 2, False),
        Completion("ab ab", 100, 0, 2, True),
    ],
    ids=["error", "prose", "cut", "more"],
)
def test_what_is_no_answer_is_passed_on_and_not_kept(url: str, bad: Completion | Exception) -> None:
    model = CountingCompleter(lambda prompt: bad if prompt.body == "bad" else ANSWER)
    cached = CachedCompleter(model, opened(url))
    for _ in range(2):
        assert cached.complete(prompts("good", "bad"))[1] == bad
    assert model.asked == prompts("good", "bad", "bad")


def test_a_thousand_that_want_one_answer_make_one_call(url: str) -> None:
    workers, waiting = 1000, threading.Semaphore(0)

    def answer(_: Prompt) -> Completion:
        for _ in range(workers - 1):  # not before all the others wait
            assert waiting.acquire(timeout=60)
        return ANSWER

    model, waited = CountingCompleter(answer), threading.local()
    answered = threading.Event()

    def wait(_: float) -> None:
        if not getattr(waited, "once", False):
            waited.once = True
            waiting.release()
        answered.wait(1.0)

    caches = [opened(url) for _ in range(10)]

    def ask(number: int) -> Completion | Exception:
        [result] = CachedCompleter(model, caches[number % 10], wait).complete([PROMPT])
        answered.set()
        return result

    with ThreadPoolExecutor(workers) as pool:
        results = list(pool.map(ask, range(workers)))
    assert len(model.asked) == 1
    assert results.count(ANSWER) == 1
    assert results.count(replace(ANSWER, cached=True)) == workers - 1


def _ask_in_a_process(url: str, asked: Event, go_on: Event) -> None:
    def answer(_: Prompt) -> Completion:
        asked.set()
        go_on.wait(60)
        return ANSWER

    CachedCompleter(CountingCompleter(answer), opened(url)).complete([PROMPT])


@pytest.mark.parametrize("dies", [False, True], ids=["answers", "is killed"])
def test_who_asks_in_another_process_is_waited_for_unless_it_dies(url: str, dies: bool) -> None:
    context = multiprocessing.get_context("spawn")
    asked, go_on = context.Event(), context.Event()
    other = context.Process(target=_ask_in_a_process, args=(url, asked, go_on))
    other.start()
    assert asked.wait(60)
    model, store = CountingCompleter(), opened(url)

    def wait(_: float) -> None:
        if dies:
            other.kill()
            other.join()
            _let_claims_end(url)
        else:
            go_on.set()
            other.join()

    [result] = CachedCompleter(model, store, wait).complete([PROMPT])
    assert result == replace(ANSWER, cached=not dies)
    assert len(model.asked) == dies


def _let_claims_end(url: str) -> None:
    """As if `CLAIM` seconds had gone by."""
    if url.startswith("sqlite"):
        import sqlite3

        with sqlite3.connect(url.removeprefix("sqlite:///")) as connection:
            connection.execute("UPDATE claims SET until = until - ?", (CLAIM,))
    else:
        client = redis.Redis.from_url(url)
        for name in client.scan_iter("wrac:plan-claim:*"):
            client.pexpire(name, max(client.pttl(name) - round(CLAIM * 1000), 0))


def test_a_claim_lasts_as_long_as_the_call(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planner_serving.plan_cache.CLAIM", 0.3)
    prolonged = threading.Semaphore(0)

    class Watched(PlanCache):
        def claim(self, prompts: Sequence[Prompt], holder: str, seconds: float) -> list[Prompt]:
            mine = super().claim(prompts, holder, seconds)
            prolonged.release()
            return mine

    def answer(_: Prompt) -> Completion:
        for _ in range(5):
            assert prolonged.acquire(timeout=60)
        assert opened(url).claim([PROMPT], "other", 1.0) == []
        return ANSWER

    cache = Watched(open_cache(url, "plans"), "acme", "model@1")
    assert CachedCompleter(CountingCompleter(answer), cache).complete([PROMPT]) == [ANSWER]
    assert opened(url).claim([PROMPT], "other", 1.0) == [PROMPT]


def test_an_error_of_the_model_s_code_ends_the_claim(url: str) -> None:
    def answer(_: Prompt) -> Completion:
        raise RuntimeError("a fault")

    with pytest.raises(RuntimeError):
        CachedCompleter(CountingCompleter(answer), opened(url)).complete([PROMPT])
    assert CachedCompleter(CountingCompleter(), opened(url)).complete([PROMPT]) == [ANSWER]


@given(
    st.lists(st.lists(st.sampled_from("abcde"), max_size=6), max_size=6),
    st.sets(st.integers(0, 29)),
)
def test_whatever_fails_what_was_answered_is_not_asked_again(
    batches: list[list[str]], fails: set[int]
) -> None:
    """Batches of pages, of which the calls of these numbers fail: an answer is paid for once."""
    answered: list[str] = []

    def answer(prompt: Prompt) -> Completion | Exception:
        if len(model.asked) + len(answered) in fails:
            return PlannerUnavailableError("503")
        answered.append(prompt.body)
        return replace(ANSWER, text="ab", input_tokens=ord(prompt.body))

    model, cache = CountingCompleter(answer), HeldInMemory()
    for bodies in batches:
        found = CachedCompleter(model, cache).complete(prompts(*bodies))
        for body, result in zip(bodies, found, strict=True):
            assert isinstance(result, PlannerUnavailableError) or result.input_tokens == ord(body)
        costs = [one for one in found if isinstance(one, Completion) and not one.cached]
        assert len(costs) == len({one.input_tokens for one in costs})
    assert len(answered) == len(set(answered))
    assert cache.claimed == set()


class HeldInMemory:
    """A plan cache of one process."""

    def __init__(self) -> None:
        self.answers: dict[Prompt, Completion] = {}
        self.claimed: set[Prompt] = set()

    def get_many(self, prompts: Sequence[Prompt]) -> dict[Prompt, Completion]:
        return {prompt: self.answers[prompt] for prompt in prompts if prompt in self.answers}

    def put_many(self, answers: Mapping[Prompt, Completion]) -> None:
        self.answers.update(answers)

    def claim(self, prompts: Sequence[Prompt], holder: str, seconds: float) -> list[Prompt]:
        self.claimed.update(prompts)
        return list(prompts)

    def release(self, prompts: Sequence[Prompt], holder: str) -> None:
        self.claimed.difference_update(prompts)


def test_a_cache_that_is_away_costs_the_call_and_no_answer(tmp_path: Path) -> None:
    model = CountingCompleter()
    for away in (f"unix://{tmp_path}/none.sock", f"sqlite:///{tmp_path}"):
        assert CachedCompleter(model, opened(away)).complete([PROMPT]) == [ANSWER]
    assert model.asked == [PROMPT, PROMPT]
