"""No answer is paid for twice: a completer that asks the plan cache first.

The cache holds a model's answers by the exact prompt, not plans: which ids an answer means follows
from the page's own outline, and two pages may have equal prompts.
"""

from __future__ import annotations

import re
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Protocol

from chunker.tokens import count
from planner_serving.errors import NotAskedError
from planner_serving.ports import Completer, Completion, Prompt

#: Seconds for which a caller that does not prolong it, since it died, keeps others waiting.
CLAIM = 15.0
#: Seconds between two looks for an answer that another caller is asking for: first and longest.
FIRST_LOOK, LONGEST_LOOK = 0.05, 1.0


class PlanCache(Protocol):
    """Answers of one model for one customer, by prompt. May be lost: no call raises for that."""

    def get_many(self, prompts: Sequence[Prompt]) -> dict[Prompt, Completion]:
        """The answers that are held."""

    def put_many(self, answers: Mapping[Prompt, Completion]) -> None:
        """Keep answers."""

    def claim(self, prompts: Sequence[Prompt], holder: str, seconds: float) -> list[Prompt]:
        """The prompts that `holder` shall ask: those that nobody else is asking now.

        Claiming what one has prolongs it; a claim that is not prolonged ends by itself.
        """

    def release(self, prompts: Sequence[Prompt], holder: str) -> None:
        """End claims of `holder`."""


class CachedCompleter:
    """A `Completer` that asks the model only for what no cache knows and nobody is asking.

    Of many callers that want one missing answer, in whichever process, one asks and the others
    wait for what it gets. An answer outside the grammar, or cut, is passed on and not kept.
    """

    def __init__(
        self,
        completer: Completer,
        cache: PlanCache,
        wait: Callable[[float], object] = time.sleep,
    ) -> None:
        self._completer = completer
        self._cache = cache
        self._wait = wait

    @property
    def identity(self) -> str:
        return self._completer.identity

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion | Exception]:
        """See `Completer.complete`. What did not cost anything now says so (`cached`)."""
        holder = uuid.uuid4().hex
        results: dict[Prompt, Completion | Exception] = {}
        missing = list(dict.fromkeys(prompts))
        pause = FIRST_LOOK
        while missing:
            results |= self._held(missing)
            missing = [prompt for prompt in missing if prompt not in results]
            claimed = self._cache.claim(missing, holder, CLAIM)
            if claimed:
                results |= self._asked(claimed, holder)
                missing = [prompt for prompt in missing if prompt not in results]
            elif missing:
                self._wait(pause)
                pause = min(2 * pause, LONGEST_LOOK)
        return _in_order(prompts, results)

    def _held(self, prompts: Sequence[Prompt]) -> dict[Prompt, Completion]:
        held = self._cache.get_many(prompts)
        return {prompt: replace(answer, cached=True) for prompt, answer in held.items()}

    def _asked(
        self, claimed: Sequence[Prompt], holder: str
    ) -> dict[Prompt, Completion | Exception]:
        """Answers to claimed prompts. The claims end with it, whatever happens."""
        with self._claims(claimed, holder):
            # Whoever had the claim before may have put the answer after the last look.
            results: dict[Prompt, Completion | Exception] = dict(self._held(claimed))
            rest = [prompt for prompt in claimed if prompt not in results]
            answers = self._completer.complete(rest) if rest else []
            results.update(zip(rest, answers, strict=True))
            self._cache.put_many(
                {
                    prompt: answer
                    for prompt, answer in zip(rest, answers, strict=True)
                    if isinstance(answer, Completion) and _is_whole(prompt, answer)
                }
            )
        return results

    @contextmanager
    def _claims(self, claimed: Sequence[Prompt], holder: str) -> Iterator[None]:
        """Prolongs claims for as long as the context lasts, then ends them."""
        ended = threading.Event()

        def prolong() -> None:
            while not ended.wait(CLAIM / 3):
                self._cache.claim(claimed, holder, CLAIM)

        prolonging = threading.Thread(target=prolong, daemon=True)
        prolonging.start()
        try:
            yield
        finally:
            ended.set()
            prolonging.join()
            self._cache.release(claimed, holder)


class CacheOnlyCompleter:
    """A `Completer` of what the cache holds; what it would have to ask it only counts."""

    def __init__(self, identity: str, cache: PlanCache) -> None:
        self.identity = identity
        self.input_tokens = 0
        """Of all prompts that would be asked, counted with the one fixed tokenizer."""
        self._cache = cache
        self._counted: set[Prompt] = set()

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion | Exception]:
        """See `Completer.complete`; `NotAskedError` for what the cache does not hold."""
        held = self._cache.get_many(prompts)
        for prompt in set(prompts) - held.keys() - self._counted:
            self._counted.add(prompt)
            self.input_tokens += count(prompt.prefix + prompt.body)
        return [
            replace(held[prompt], cached=True) if prompt in held else NotAskedError("not asked")
            for prompt in prompts
        ]


def _is_whole(prompt: Prompt, answer: Completion) -> bool:
    # A server that does not know the grammar may end its line: what it says is as good.
    return answer.finished and re.fullmatch(prompt.regex, answer.text.strip()) is not None


def _in_order(
    prompts: Sequence[Prompt], results: Mapping[Prompt, Completion | Exception]
) -> list[Completion | Exception]:
    """A result a prompt. A prompt that is asked twice is paid for once."""
    seen: set[Prompt] = set()
    ordered: list[Completion | Exception] = []
    for prompt in prompts:
        result = results[prompt]
        if prompt in seen and isinstance(result, Completion):
            result = replace(result, cached=True)
        seen.add(prompt)
        ordered.append(result)
    return ordered
