"""What a planner is, whoever plans, and what it asks a language model through."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from chunker.model import Outline, Plan, Usage
from chunker.policy import Policy


class Planner(Protocol):
    """Groups the units of an outline. Sees ids, sizes and headings, writes ids."""

    @property
    def identity(self) -> str:
        """Name and revision: plans of one identity for equal outlines may be shared."""
        ...

    def plan(self, outline: Outline, policy: Policy) -> Plan:
        """A plan for `outline`, not yet repaired.

        Raises `TransientError` where trying again can help and `TerminalError` where the
        structural plan has to take its place (`planner_serving.errors`).
        """
        ...


class BatchPlanner(Planner, Protocol):
    """A planner that asks a model for many pages at once, so that the model can batch them."""

    def plan_many(self, outlines: Sequence[Outline], policy: Policy) -> list[Plan | Exception]:
        """One result for each outline, in order.

        What `plan` would raise is in its place as a value. A `TransientError`, or a
        `PlannerModelError`, for a page that the model was to be asked about and could not be: the
        page waits, and is not planned with less; what was answered for it stays in the plan cache.
        """
        ...


@dataclass(frozen=True, slots=True)
class Prompt:
    """One question to a language model, and the only form that its answer may have."""

    prefix: str
    """Instructions and examples: the same for every page, so that a prefix cache serves them."""
    body: str
    """What is asked about, directly after the prefix."""
    regex: str
    """The answer matches it from end to end. Built from counts, never from a page's text."""
    max_tokens: int
    """Most tokens that the answer can have, computed from the counts."""
    schema: str
    """Name and revision of instructions and grammar: part of every cache key."""


@dataclass(frozen=True, slots=True)
class Completion:
    """A language model's answer, as it came: whoever asked checks it against the grammar."""

    text: str
    input_tokens: int
    """All tokens of the prompt, those that a prefix cache served included."""
    cached_input_tokens: int
    output_tokens: int
    finished: bool
    """False where the answer was cut at `Prompt.max_tokens`."""
    cached: bool = False
    """From the plan cache: nothing was paid for it, its counts are those of the first time."""

    @property
    def usage(self) -> Usage:
        """What this answer cost now."""
        if self.cached:
            return Usage(cached_calls=1)
        return Usage(self.input_tokens, self.cached_input_tokens, self.output_tokens, calls=1)


class Completer(Protocol):
    """A language model that answers in a grammar."""

    @property
    def identity(self) -> str:
        """The model and its digest or revision: equal answers may be shared under it."""
        ...

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion | Exception]:
        """One result for each prompt, in order.

        What went wrong with a prompt is in its place as a value: a `TransientError` where trying
        again can help, else a `TerminalError` (`planner_serving.errors`).
        """
        ...
