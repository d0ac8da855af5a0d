"""A language model behind any OpenAI-compatible endpoint: vLLM elsewhere, or a hosted model.

Follows the OpenAI API reference, "Create chat completion". The instructions are the system's
words, the page the user's. The grammar goes as vLLM takes it, `structured_outputs` at the top
level; a server that refuses it is asked without, and what any server answers is checked by whoever
asked: one that does not know the field leaves it out without a word. The key, where one is needed,
is read from `WRAC_PLANNER_KEY`.
"""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final

import httpx

from chunker.tokens import count
from planner_serving.errors import (
    PlannerAnswerError,
    PlannerBusyError,
    PlannerModelError,
    PlannerRefusedError,
    PlannerUnavailableError,
    PromptTooLongError,
    TerminalError,
    TransientError,
)
from planner_serving.ports import Completion, Prompt

ATTEMPTS: Final = 4
TIMEOUT: Final = 60.0  # seconds for one request, from its start to the last byte of the answer
MAX_WAIT: Final = 30.0  # seconds between two attempts, whatever Retry-After says
CONCURRENCY: Final = 16  # requests at a time
MOST_BYTES: Final = 1 << 20  # of an answer; one symbol a line takes some hundreds

#: Of the 5xx also those that only gateways know (520 to 529).
_TRY_AGAIN: Final = {408, 409, 425, 429, *range(500, 600)}
#: What a server with too much to do says.
_BUSY: Final = {"status 429", "status 503", "status 529"}
#: The key is not taken or has no money left, the model is not known, or this is no such server's
#: address (a redirection, another method): the same for every prompt.
_NOT_OURS: Final = {*range(300, 400), 401, 402, 403, 404, 405, 407, 410}
#: What some servers refuse with 400 or 422, and are asked without from then on: how it is called
#: here, and the words by which a refusal names it.
_REFUSED: Final = {
    "own fields": ("structured_outputs", "chat_template_kwargs"),
    "system role": ("system role", "role system", "'system'", '"system"'),
    "max_tokens": ("max_completion_tokens",),
}


class EndpointCompleter:
    """A `Completer` over HTTP.

    A prompt's result is `PlannerUnavailableError` where no attempt was answered in time,
    `PlannerModelError` where the server does not take the key or know the model, or is none,
    `PlannerRefusedError` for any other status, `PromptTooLongError` where the server says so, and
    `PlannerAnswerError` for an answer that is no completion.
    """

    def __init__(
        self,
        url: str,
        model: str,
        key: str | None = None,
        timeout: float = TIMEOUT,
        wait: Callable[[float], object] = time.sleep,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        """`url`: `http://host:8000/v1`. Nothing is contacted yet. `transport`: another than
        httpx's own."""
        try:
            address = httpx.URL(url)
        except httpx.InvalidURL as error:
            raise PlannerModelError(f"the planner's address is none: {error}") from error
        if address.scheme not in ("http", "https") or not address.host:
            raise PlannerModelError(
                f"the planner's address is {url!r}; it must begin with http:// or https://"
            )
        key = (key or "").strip()  # a file's line end is no part of it
        if not (key.isascii() and key.isprintable()):
            raise PlannerModelError("WRAC_PLANNER_KEY is no key: it holds what no header can carry")
        self._secrets = tuple(filter(None, (key, address.password)))
        path = address.path.rstrip("/").removesuffix("/chat/completions")
        # Without the user's name and password: what is asked stands in logs and errors.
        self._url = address.copy_with(path=f"{path}/chat/completions", userinfo=b"")
        self._shown = str(self._url.copy_with(query=None))
        self._model = model
        self._timeout = timeout
        self._wait = wait
        self._without: frozenset[str] = frozenset()
        self._client = httpx.Client(
            headers={"Authorization": f"Bearer {key}"} if key else {},
            auth=(address.username, address.password) if address.userinfo and not key else None,
            timeout=timeout,
            limits=httpx.Limits(max_connections=CONCURRENCY),
            transport=transport,
        )

    @property
    def identity(self) -> str:
        """An endpoint has no digest to show: its model's name stands for it."""
        return f"endpoint:{self._model}"

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion | Exception]:
        """See `Completer`."""
        if len(prompts) < 2:
            return [self._one(prompt) for prompt in prompts]
        with ThreadPoolExecutor(min(len(prompts), CONCURRENCY)) as pool:
            return list(pool.map(self._one, prompts))

    def _one(self, prompt: Prompt) -> Completion | Exception:
        try:
            return self._asked(prompt)
        except (TransientError, TerminalError) as error:
            return error

    def _asked(self, prompt: Prompt) -> Completion:
        for attempt in range(1, ATTEMPTS + 1):
            without, pause = self._without, None
            try:
                status, headers, body = self._post(self._request(prompt, without))
            except httpx.TransportError as error:
                problem = f"{type(error).__name__}: {error}"
            else:
                if status == 200:
                    return self._completion(prompt, body)
                refused = _refused(body) - without if status in (400, 422) else frozenset()
                if refused:
                    self._without = without | refused
                    continue
                if status not in _TRY_AGAIN:
                    raise self._refusal(status, body)
                problem, pause = f"status {status}", headers.get("retry-after")
            if attempt < ATTEMPTS:
                self._wait(_pause(attempt, pause))
        kind = PlannerBusyError if problem in _BUSY else PlannerUnavailableError
        raise kind(f"{self._shown} failed {ATTEMPTS} times, last: {problem}")

    def _request(self, prompt: Prompt, without: frozenset[str]) -> dict[str, Any]:
        parts = [("system", prompt.prefix), ("user", prompt.body)]
        if "system role" in without:
            parts = [("user", f"{prompt.prefix}\n{prompt.body}")]
        bound = "max_completion_tokens" if "max_tokens" in without else "max_tokens"
        asked = {
            "model": self._model,
            "messages": [{"role": role, "content": text} for role, text in parts],
            bound: prompt.max_tokens,
            "temperature": 0,
        }
        if "own fields" not in without:  # vLLM's: the grammar, and no thinking aloud before it
            asked["structured_outputs"] = {"regex": prompt.regex}
            asked["chat_template_kwargs"] = {"enable_thinking": False}
        return asked

    def _post(self, asked: Mapping[str, Any]) -> tuple[int, httpx.Headers, str]:
        """Status, headers and text of an answer, in time and not without end."""
        end = time.monotonic() + self._timeout
        late = PlannerUnavailableError(f"{self._shown} gave no answer within {self._timeout:g} s")
        received = bytearray()
        try:
            with self._client.stream("POST", self._url, json=asked) as response:
                for piece in response.iter_bytes():
                    received += piece
                    if time.monotonic() > end:
                        raise late
                    if len(received) > MOST_BYTES:
                        raise PlannerAnswerError(f"{self._shown} answers without end")
                return response.status_code, response.headers, received.decode(errors="replace")
        except httpx.TimeoutException as error:
            raise late from error
        except httpx.DecodingError as error:
            raise PlannerAnswerError(f"{self._shown} answered with a damaged body") from error

    def _refusal(self, status: int, body: str) -> TerminalError:
        for secret in self._secrets:  # some servers quote what they do not take
            body = body.replace(secret, "***")
        if status in _NOT_OURS:
            return PlannerModelError(f"{self._shown} refused with {status}: {body[:300]}")
        if status in (400, 413) and "context length" in body.replace("_", " "):
            return PromptTooLongError(f"{self._shown}: {body[:300]}")
        return PlannerRefusedError(f"{self._shown} refused with {status}: {body[:300]}")

    def _completion(self, prompt: Prompt, body: str) -> Completion:
        try:
            answer = json.loads(body)
            choice = answer["choices"][0]
            text = choice["message"]["content"] or ""
            usage = answer.get("usage") or {}
            if not isinstance(text, str):
                raise TypeError("the content is no text")
            details = usage.get("prompt_tokens_details") or {}
            return Completion(
                text=text,
                input_tokens=int(usage.get("prompt_tokens") or count(prompt.prefix + prompt.body)),
                cached_input_tokens=int(details.get("cached_tokens") or 0),
                output_tokens=int(usage.get("completion_tokens") or count(text)),
                finished=choice.get("finish_reason") != "length",
            )
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise PlannerAnswerError(f"{self._shown} did not answer with a completion") from error


def open_endpoint(url: str, model: str, timeout: float = TIMEOUT) -> EndpointCompleter:
    """The model of this name behind `url`, with the key of the environment."""
    return EndpointCompleter(url, model, os.environ.get("WRAC_PLANNER_KEY"), timeout)


def _refused(body: str) -> frozenset[str]:
    """What a refusal names, of all that a server may be asked without."""
    said = body.casefold()
    return frozenset(
        name for name, words in _REFUSED.items() if any(word in said for word in words)
    )


def _pause(attempt: int, retry_after: str | None) -> float:
    """Seconds before the next attempt: what the server asks (RFC 9110, 10.2.3), else doubling."""
    if retry_after is not None:
        try:
            if retry_after.strip().isdecimal():
                return min(float(retry_after), MAX_WAIT)
            date = parsedate_to_datetime(retry_after)
            return min(max((date - datetime.now(UTC)).total_seconds(), 0.0), MAX_WAIT)
        except (ValueError, TypeError):
            pass  # a header that says nothing
    return min(2.0 ** (attempt - 1), MAX_WAIT) * random.uniform(0.5, 1.0)
