"""A fake of a language model for tests: it answers what it is told, and keeps what it was asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from planner_serving.ports import Completion, Prompt

Answer = str | Exception | Completion


class ToldCompleter:
    """A `Completer` that asks a function for each answer."""

    identity = "told"

    def __init__(self, answer: Callable[[Prompt], Answer] | Answer) -> None:
        self._answer = answer
        self.asked: list[Prompt] = []
        self.calls = 0

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion | Exception]:
        self.calls += 1
        self.asked.extend(prompts)
        return [self._one(prompt) for prompt in prompts]

    def _one(self, prompt: Prompt) -> Completion | Exception:
        told = self._answer(prompt) if callable(self._answer) else self._answer
        if not isinstance(told, str):
            return told
        return Completion(told, 100, 80, len(told), True)


def count_lines(prompt: Prompt) -> int:
    """How many lines a prompt asks about, by its grammar."""
    return int(prompt.regex.rsplit("{", 1)[1].rstrip("}"))
