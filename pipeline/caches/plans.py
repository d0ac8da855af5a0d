"""A planner's answers that were paid for once."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from pipeline.caches.cache import Cache
from pipeline.caches.stores import key
from planner_serving.ports import Completion, Prompt

#: What a kept answer holds. Another form has other keys, and is never read as this one.
_FORM = "answer-1"


class PlanCache:
    """`planner_serving.plan_cache.PlanCache` of one customer and one model, in a cache."""

    def __init__(self, cache: Cache, customer: str, identity: str) -> None:
        self._cache = cache
        self._customer = customer
        self._identity = identity

    def get_many(self, prompts: Sequence[Prompt]) -> dict[Prompt, Completion]:
        """The answers that are held."""
        prompt_of = {self._key(prompt): prompt for prompt in prompts}
        held = self._cache.get_many(list(prompt_of))
        return {prompt_of[key]: Completion(**json.loads(value)) for key, value in held.items()}

    def put_many(self, answers: Mapping[Prompt, Completion]) -> None:
        """Keep answers."""
        self._cache.put_many(
            {
                self._key(prompt): json.dumps(asdict(answer)).encode()
                for prompt, answer in answers.items()
            }
        )

    def claim(self, prompts: Sequence[Prompt], holder: str, seconds: float) -> list[Prompt]:
        """The prompts that nobody else is asking now, claimed by `holder`."""
        prompt_of = {self._key(prompt): prompt for prompt in prompts}
        return [prompt_of[key] for key in self._cache.claim(list(prompt_of), holder, seconds)]

    def release(self, prompts: Sequence[Prompt], holder: str) -> None:
        """End claims of `holder`."""
        self._cache.release([self._key(prompt) for prompt in prompts], holder)

    def _key(self, prompt: Prompt) -> str:
        """Everything that the answer depends on: the exact prompt, its grammar, and the model."""
        return key(
            self._customer,
            _FORM,
            self._identity,
            prompt.schema,
            prompt.prefix,
            prompt.body,
            prompt.regex,
            str(prompt.max_tokens),
        )
