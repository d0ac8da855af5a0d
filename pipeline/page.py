"""One document to checked chunks. No network, no state: what `wrac chunks` shows."""

from __future__ import annotations

from dataclasses import dataclass

from chunker.chunks import chunks
from chunker.errors import PlanError
from chunker.model import Chunk, Document, Plan
from chunker.outline import outline
from chunker.policy import Policy
from chunker.repair import repair
from chunker.tokens import Counter
from chunker.verify import verify
from pipeline.errors import UsageError
from planner_serving.errors import TerminalError
from planner_serving.ports import Planner
from planner_serving.structural import StructuralPlanner

STRUCTURAL = StructuralPlanner()


@dataclass(frozen=True, slots=True)
class Chunked:
    """A document's plan and its chunks, all invariants checked."""

    plan: Plan
    chunks: tuple[Chunk, ...]
    replaced: bool
    """The plan is the structural one in place of one that could not be repaired."""


def check_supported(policy: Policy) -> None:
    """Raises `UsageError` for what a policy may ask and this release does not do."""
    asked = (
        (policy.planner != "structural", f"planner {policy.planner}", 'planner = "structural"'),
        (policy.escalation_threshold > 0, "escalation_threshold", "escalation_threshold = 0.0"),
        (policy.enrichment, "enrichment", "enrichment = false"),
    )
    for given, name, instead in asked:
        if given:
            raise UsageError(f"{name} is not part of this release", f"use {instead}")


def chunk(
    document: Document, policy: Policy, count: Counter, planner: Planner = STRUCTURAL
) -> Chunked:
    """Plan a document, check the plan, resolve it to chunks, check those.

    Agents propose, checks dispose: a plan that breaks a rule is repaired, one that cannot be is
    replaced by the structural one. `count` is the embedder's tokenizer, special tokens included.
    Raises `PlanError` where even that breaks an invariant, naming the first.
    """
    view = outline(document, policy)
    try:
        plan = repair(document, planner.plan(view, policy))
        return _checked(document, plan, policy, count, replaced=False)
    except (PlanError, TerminalError):
        if planner is STRUCTURAL:
            raise
    plan = repair(document, STRUCTURAL.plan(view, policy))
    return _checked(document, plan, policy, count, replaced=True)


def _checked(
    document: Document, plan: Plan, policy: Policy, count: Counter, *, replaced: bool
) -> Chunked:
    made = chunks(document, plan, policy, count)
    problems = verify(document, plan, made, policy, count)
    if problems:
        raise PlanError(f"{document.url}: {problems[0]}")
    return Chunked(plan, made, replaced)
