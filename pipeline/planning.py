"""The planner that a policy names, opened from the settings."""

from __future__ import annotations

from chunker.policy import Policy
from pipeline.caches import Cache
from pipeline.errors import PinnedError, UsageError
from pipeline.ledger import Pins
from pipeline.settings import Settings
from planner_serving.ports import BatchPlanner
from planner_serving.structural import StructuralPlanner


def check_supported(policy: Policy, settings: Settings) -> None:
    """Raises `UsageError` for what a policy asks and the settings, or this release, do not give."""
    asked = (
        (policy.planner != "structural", f"planner {policy.planner}", 'planner = "structural"'),
        (policy.escalation_threshold > 0, "escalation_threshold", "escalation_threshold = 0.0"),
        (policy.enrichment, "enrichment", "enrichment = false"),
    )
    for given, name, instead in asked:
        if given:
            raise UsageError(f"{name} is not part of this release", f"use {instead}")


def open_planner(
    settings: Settings, policy: Policy, customer: str, cache: Cache | None
) -> BatchPlanner | None:
    """The model planner that a policy names; None where it names the structural one.

    Nothing is contacted. What it is answered is kept in `cache` as the customer's.
    """
    return None


def pinned(settings: Settings, policy: Policy, known: Pins | None) -> str:
    """Identity of the planner that a source with this policy is to be pinned to.

    Where the structural planner was and stays, its pin stays: installing software moves none.
    """
    if policy.planner == "structural":
        if known is not None and known.policy.planner == "structural":
            return known.planner
        return StructuralPlanner.identity
    return StructuralPlanner.identity


def check_planner(settings: Settings, known: Pins, source: str) -> None:
    """Raises `PinnedError` where the settings name another model than the source's."""
    named = pinned(settings, known.policy, known)
    if named != known.planner:
        raise PinnedError(
            f"source {source} is planned by {known.planner}; the settings name {named}",
            "set the planner back, or apply the other: wrac rechunk --source NAME --policy FILE",
        )
