"""What a planner is, whoever plans."""

from __future__ import annotations

from typing import Protocol

from chunker.model import Outline, Plan
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
