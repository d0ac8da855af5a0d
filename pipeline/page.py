"""One document to checked chunks. No network, no state: what `wrac chunks` shows."""

from __future__ import annotations

from dataclasses import dataclass, replace

from chunker.chunks import chunks
from chunker.errors import PlanError
from chunker.model import Chunk, Document, Outline, Plan, Usage
from chunker.outline import outline
from chunker.policy import Policy
from chunker.repair import repair
from chunker.tokens import Counter
from chunker.verify import verify
from planner_serving.errors import PlannerModelError, TerminalError
from planner_serving.ports import Planner
from planner_serving.structural import StructuralPlanner

STRUCTURAL = StructuralPlanner()

#: Begins what `Plan.repairs` says of a page, or a window of one, that was to be planned by a model
#: and has the structural plan.
FALL_BACK = "structural: "


@dataclass(frozen=True, slots=True)
class Chunked:
    """A document's plan and its chunks, all invariants checked."""

    plan: Plan
    chunks: tuple[Chunk, ...]


def chunk(
    document: Document, policy: Policy, count: Counter, planner: Planner = STRUCTURAL
) -> Chunked:
    """Plan a document, check the plan, resolve it to chunks, check those.

    `count` is the embedder's tokenizer, special tokens included. Raises the planner's
    `TransientError` and `PlannerModelError`, and `PlanError` as `checked` does.
    """
    view = outline(document, policy)
    proposed: Plan | Exception
    try:
        proposed = planner.plan(view, policy)
    except TerminalError as error:
        proposed = error
    return checked(document, view, proposed, policy, count)


def checked(
    document: Document,
    view: Outline,
    proposed: Plan | Exception,
    policy: Policy,
    count: Counter,
) -> Chunked:
    """The chunks of a document by the plan that was proposed for it, or why there is none.

    Agents propose, checks dispose: a plan that breaks a rule is repaired, one that cannot be is
    replaced by the structural one, and so is none. Raises `PlanError` where even that breaks an
    invariant, naming the first; and what was proposed, where that is an error that is not the
    page's: a model that is away or not there, a fault.
    """
    if isinstance(proposed, Plan):
        try:
            return _held(document, repair(document, proposed), policy, count)
        except PlanError:
            usage, why = proposed.usage, "broken plan"
    elif isinstance(proposed, TerminalError) and not isinstance(proposed, PlannerModelError):
        usage, why = Usage(), "no plan"
    else:
        raise proposed
    plan = replace(STRUCTURAL.plan(view, policy), usage=usage, repairs=(FALL_BACK + why,))
    return _held(document, repair(document, plan), policy, count)


def fell_back(plan: Plan) -> bool:
    """Whether the structural plan stands in for a model's, for the page or a part of it."""
    return any(one.startswith(FALL_BACK) for one in plan.repairs)


def from_cache(plan: Plan) -> bool:
    """Whether a model's plan was had without a call: all its answers came from the plan cache."""
    return plan.usage.calls == 0 < plan.usage.cached_calls and not fell_back(plan)


def _held(document: Document, plan: Plan, policy: Policy, count: Counter) -> Chunked:
    made = chunks(document, plan, policy, count)
    problems = verify(document, plan, made, policy, count)
    if problems:
        raise PlanError(f"{document.url}: {problems[0]}")
    return Chunked(plan, made)
