"""A prompt that a model never answers, though it answers others, does not wait for ever.

A model that is away makes pages wait, and that is right: it comes back. A prompt that takes too
long, or breaks the server each time, would wait in every run, and no run would end well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from planner_serving.errors import (
    PlannerBusyError,
    PlannerSilentError,
    PlannerUnavailableError,
)
from planner_serving.ports import Completer, Completion, Prompt

#: Times that a prompt may go without an answer, from a model that answered others meanwhile.
TRIES = 2


class PatientCompleter:
    """A `Completer` that tells a prompt's own fault from an outage.

    A prompt that is without an answer for the second time, while the model answers others, is
    `PlannerSilentError`. Where no other was asked, the last that was answered is asked again.
    A model that says it has too much to do (429, 503) is only waited for.
    """

    def __init__(self, completer: Completer) -> None:
        self._completer = completer
        self._unanswered: Counter[Prompt] = Counter()
        self._answered: Prompt | None = None

    @property
    def identity(self) -> str:
        return self._completer.identity

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion | Exception]:
        """See `Completer.complete`."""
        results = self._completer.complete(prompts)
        places = [place for place, result in enumerate(results) if _may_be_its_own(result)]
        if not self._is_there(prompts, results, [prompts[place] for place in places]):
            return results
        for place in places:
            self._unanswered[prompts[place]] += 1
            if self._unanswered[prompts[place]] >= TRIES:
                results[place] = PlannerSilentError(
                    f"no answer {TRIES} times, from a model that answers others: {results[place]}"
                )
        return results

    def _is_there(
        self,
        prompts: Sequence[Prompt],
        results: Sequence[Completion | Exception],
        unanswered: Sequence[Prompt],
    ) -> bool:
        answered = [
            prompt
            for prompt, result in zip(prompts, results, strict=True)
            if isinstance(result, Completion)
        ]
        if answered:
            self._answered = answered[0]
            for prompt in answered:
                self._unanswered.pop(prompt, None)
            return True
        if self._answered is None or not any(prompt in self._unanswered for prompt in unanswered):
            return False
        return isinstance(self._completer.complete([self._answered])[0], Completion)


def _may_be_its_own(result: Completion | Exception) -> bool:
    return isinstance(result, PlannerUnavailableError) and not isinstance(result, PlannerBusyError)
