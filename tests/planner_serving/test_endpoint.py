from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from chunker.outline import outline
from chunker.parse import parse
from chunker.policy import Policy
from planner_serving.endpoint import ATTEMPTS, EndpointCompleter, open_endpoint
from planner_serving.errors import (
    PlannerAnswerError,
    PlannerBusyError,
    PlannerModelError,
    PlannerRefusedError,
    PlannerUnavailableError,
    PromptTooLongError,
    TransientError,
)
from planner_serving.model_planner import ModelPlanner
from planner_serving.ports import Completer, Completion, Prompt
from tests.planner_serving.openai_server import MODEL, FakeOpenAI, serve

PROMPT = Prompt("Sort the lines.", "1 h1 5 Ferry\n2 t 3 Fares\nAnswer:", "[1-6.]{2}", 3, "test-1")
SECRET = "sk-a-key-that-nobody-may-see"


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    with serve() as running:
        yield running


def opened(server: FakeOpenAI, **more: Any) -> tuple[EndpointCompleter, list[float]]:
    waited: list[float] = []
    return EndpointCompleter(server.url, MODEL, wait=waited.append, **more), waited


def test_it_is_a_completer_and_sends_the_grammar_at_the_top_level(server: FakeOpenAI) -> None:
    completer: Completer = opened(server)[0]
    (answer,) = completer.complete([PROMPT])
    assert isinstance(answer, Completion) and answer.text == "11" and answer.finished
    assert (answer.input_tokens, answer.cached_input_tokens, answer.output_tokens) == (12, 3, 2)
    (asked,) = server.requests
    assert asked["structured_outputs"] == {"regex": PROMPT.regex}
    assert [message["content"] for message in asked["messages"]] == [PROMPT.prefix, PROMPT.body]
    assert (asked["max_tokens"], asked["temperature"], asked["model"]) == (3, 0, MODEL)


def test_many_prompts_are_asked_at_once_and_answered_in_order(server: FakeOpenAI) -> None:
    prompts = [
        Prompt(PROMPT.prefix, str(n), f"[1-6]{{{n}}}", n + 1, PROMPT.schema) for n in range(1, 9)
    ]
    answers = opened(server)[0].complete(prompts)
    assert [a.text for a in answers if isinstance(a, Completion)] == ["1" * n for n in range(1, 9)]


@pytest.mark.parametrize(
    ("behaviour", "error", "asked"),
    [
        ("429", PlannerBusyError, ATTEMPTS),
        ("500", PlannerUnavailableError, ATTEMPTS),
        ("half", PlannerUnavailableError, ATTEMPTS),
        ("silence", PlannerUnavailableError, 1),
        ("nonsense", PlannerAnswerError, 1),
        ("400", PlannerRefusedError, 1),
    ],
)
def test_each_fault_has_its_error(
    server: FakeOpenAI, behaviour: Any, error: type[Exception], asked: int
) -> None:
    server.always(behaviour)
    completer, waited = opened(server, timeout=0.3 if behaviour == "silence" else 60)
    (answer,) = completer.complete([PROMPT])
    assert type(answer) is error and "127.0.0.1" in str(answer)
    assert len(server.requests) == asked and len(waited) == asked - 1
    assert all(0 <= seconds <= 30 for seconds in waited)


def test_what_a_server_asks_to_wait_is_waited(server: FakeOpenAI) -> None:
    server.always("429")
    completer, waited = opened(server)
    completer.complete([PROMPT])
    assert waited == [0.0] * (ATTEMPTS - 1)


def test_a_server_that_comes_back_is_enough(server: FakeOpenAI) -> None:
    server.behave = lambda _: "500" if len(server.requests) < 3 else "answer"
    (answer,) = opened(server)[0].complete([PROMPT])
    assert isinstance(answer, Completion)


def test_one_fault_does_not_take_the_others_with_it(server: FakeOpenAI) -> None:
    other = Prompt("x", "other", "[1-6]{3}", 4, "test-1")
    server.behave = lambda r: "400" if r["messages"][1]["content"] == "other" else "answer"
    first, second, third = opened(server)[0].complete([PROMPT, other, PROMPT])
    assert isinstance(first, Completion) and first == third
    assert isinstance(second, PlannerRefusedError)


def test_nobody_listens() -> None:
    completer = EndpointCompleter("http://127.0.0.1:9/v1", "m", wait=lambda _: None)
    (answer,) = completer.complete([PROMPT])
    assert isinstance(answer, TransientError) and "127.0.0.1:9" in str(answer)


@pytest.mark.parametrize("url", ["", "localhost:8000", "ftp://host/v1", "http://", "http://[::1"])
def test_an_address_that_is_none_is_said_at_once(url: str) -> None:
    with pytest.raises(PlannerModelError, match="address"):
        EndpointCompleter(url, "m")


def test_the_key_is_sent_and_never_shown(
    server: FakeOpenAI, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("WRAC_PLANNER_KEY", SECRET)
    server.always("400")
    caplog.set_level("DEBUG")
    url = server.url.replace("//", f"//user:{SECRET}@")
    completer = open_endpoint(server.url, MODEL)
    (answer,) = completer.complete([PROMPT])
    (other,) = open_endpoint(url, MODEL).complete([PROMPT])
    assert server.headers[0]["Authorization"] == f"Bearer {SECRET}"
    shown = f"{answer} {answer!r} {other} {completer.identity} {caplog.text}"
    assert SECRET not in shown


@pytest.mark.parametrize(
    ("status", "error"), [(522, PlannerUnavailableError), (529, PlannerBusyError)]
)
def test_a_gateway_s_own_words_for_an_outage_are_one(status: int, error: type[Exception]) -> None:
    answer, asked = answered([(status, "")] * ATTEMPTS)
    assert type(answer) is error and len(asked) == ATTEMPTS
    answer, asked = answered([(status, ""), (200, GOOD)])
    assert isinstance(answer, Completion)


@pytest.mark.parametrize("end", ["\n", "\r\n", " "])
def test_what_stands_around_a_key_is_no_part_of_it(server: FakeOpenAI, end: str) -> None:
    (answer,) = opened(server, key=SECRET + end)[0].complete([PROMPT])
    assert isinstance(answer, Completion)
    assert server.headers[0]["Authorization"] == f"Bearer {SECRET}"


@pytest.mark.parametrize("wrong", ["\n", "\x00", "\u00e9"])
def test_a_key_that_no_header_can_carry_is_refused_unseen(wrong: str) -> None:
    with pytest.raises(PlannerModelError, match="WRAC_PLANNER_KEY") as refused:
        EndpointCompleter("http://host/v1", "m", f"{SECRET}{wrong}x")
    assert SECRET not in str(refused.value)


def test_a_server_that_quotes_the_key_shows_it_to_nobody() -> None:
    answer, _ = answered([(401, f"no such key: {SECRET}")])
    assert isinstance(answer, PlannerModelError) and "no such key: ***" in str(answer)


def test_a_server_that_counts_no_tokens_has_them_counted() -> None:
    said = {**json.loads(GOOD), "usage": {"prompt_tokens": None, "completion_tokens": None}}
    answer, _ = answered([(200, json.dumps(said))])
    assert isinstance(answer, Completion) and answer.input_tokens > 0 < answer.output_tokens


def test_prose_is_noticed_and_the_page_has_its_structural_plan(server: FakeOpenAI) -> None:
    server.always("prose")
    document = parse(b"# Ferry\n\nIt sails.\n\nFares\n\nLow.", "https://e.org/", "text/markdown")
    plan = ModelPlanner(opened(server)[0]).plan(outline(document, Policy()), Policy())
    assert plan.repairs == ("structural: answer",) and plan.planner == "structural"
    assert plan.usage.calls == 1


OWN = {"structured_outputs", "chat_template_kwargs"}


@pytest.mark.parametrize(
    ("status", "body", "gone"),
    [
        (400, "Unrecognized request argument supplied: structured_outputs", OWN),
        (422, "extra fields not permitted: chat_template_kwargs", OWN),
        (400, "System role not supported", {"system"}),
        (400, "Use 'max_completion_tokens' instead of 'max_tokens'", {"max_tokens"}),
    ],
)
def test_a_server_that_does_not_take_a_field_is_asked_without_it(
    status: int, body: str, gone: set[str]
) -> None:
    answer, asked = answered([(status, body), (200, GOOD), (200, GOOD)], times=2)
    said = [{*request, *(m["role"] for m in request["messages"])} for request in asked]
    assert said[0] - said[1] == gone and said[1] == said[2]
    assert isinstance(answer, Completion) and answer.text == "12" and answer.output_tokens > 0


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (400, "This model's maximum context length is 4096 tokens", PromptTooLongError),
        (401, "no such key", PlannerModelError),
        (302, "", PlannerModelError),
        (402, "no money left", PlannerModelError),
        (405, "", PlannerModelError),
        (418, "a teapot", PlannerRefusedError),
        (200, '{"choices": []}', PlannerAnswerError),
        (200, '{"choices": [{"message": {"content": 7}}]}', PlannerAnswerError),
        (200, "[]", PlannerAnswerError),
    ],
)
def test_a_refusal_is_said(status: int, body: str, error: type[Exception]) -> None:
    answer, asked = answered([(status, body)])
    assert type(answer) is error and len(asked) == 1


GOOD = '{"choices": [{"message": {"content": "12"}, "finish_reason": "stop"}]}'


def answered(
    answers: list[tuple[int, str]], times: int = 1
) -> tuple[Completion | Exception, list[dict[str, Any]]]:
    """The last result of asking so many times, with these answers, and all that was sent."""
    sent: list[dict[str, Any]] = []

    def reply(request: httpx.Request) -> httpx.Response:
        sent.append(json.loads(request.content))
        status, body = answers[len(sent) - 1]
        return httpx.Response(status, text=body)

    transport = httpx.MockTransport(reply)
    completer = EndpointCompleter(
        "http://host/v1", "m", SECRET, wait=lambda _: None, transport=transport
    )
    for _ in range(times):
        (answer,) = completer.complete([PROMPT])
    return answer, sent
