"""A planner over a language model: the structural plan first, the model for what is unclear in it.

A page whose structural plan is sure costs no call. Of the others the unclear windows are asked,
and the answers take the place of the structural planner's tree there; chunks are then made of the
tree by the same seams as ever, so that a model says what stands under what, and never a size.

A window without a usable answer keeps the structural plan. Why is in `Plan.repairs`:

`answer ...`            see `planner_serving.answer`; `answer cut`: it ended at the token cap
`structural: answer`    the answer was none
`structural: too long`  the prompt is longer than the model reads
`structural: refused`   the model's server refuses, or its client broke
`structural: silent`    never an answer, from a model that answers others

A page that the model could not be reached for, or for which there is none, is not planned with
less: that is an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import islice
from typing import Final

from chunker.model import Boundary, Outline, OutlineRow, Plan, Usage
from chunker.policy import Policy
from planner_serving import structural
from planner_serving.answer import read
from planner_serving.decisions import Decisions, decide
from planner_serving.errors import (
    PlannerAnswerError,
    PlannerModelError,
    PlannerSilentError,
    PromptTooLongError,
    TransientError,
)
from planner_serving.escalation import unclear
from planner_serving.ports import Completer, Completion, Prompt
from planner_serving.prompt import SCHEMA, Line, lines, prompt
from planner_serving.structural_headings import Heading
from planner_serving.structural_seams import Tree, heading_chains
from planner_serving.windows import Window, reconciled, windows

#: How sure a boundary is that a model alone stands for: F1 of the headings that a model of 1.5
#: billion parameters found where all structure was taken away (docs/planning.md).
MODEL_SURE: Final = 0.94

_Result = Completion | Exception


def identity(model: str) -> str:
    """Identity of the planner over the model of that identity: model, question and the structural
    planner. Equal outlines and policies give equal prompts under it."""
    return f"model:{model}/{SCHEMA}/{structural.StructuralPlanner.identity}"


class ModelPlanner:
    """The `BatchPlanner` over a `Completer`. Only a model that is away is an error."""

    def __init__(self, completer: Completer) -> None:
        self._completer = completer

    @property
    def identity(self) -> str:
        """See `identity`."""
        return identity(self._completer.identity)

    def plan(self, outline: Outline, policy: Policy) -> Plan:
        """See `Planner`."""
        (result,) = self.plan_many([outline], policy)
        if isinstance(result, Exception):
            raise result
        return result

    def plan_many(self, outlines: Sequence[Outline], policy: Policy) -> list[Plan | Exception]:
        """See `BatchPlanner`; all that the outlines ask of the model is asked at once."""
        drafts = [draft(outline, policy) for outline in outlines]
        prompts = [prompt for page in drafts for prompt in page.prompts]
        results = self._completer.complete(prompts) if prompts else []
        rest = iter(results)
        return [
            _finished(page, list(islice(rest, len(page.prompts))), self._completer.identity)
            for page in drafts
        ]


@dataclass(frozen=True, slots=True)
class Draft:
    """A page with its structural plan, and what is to be asked of it."""

    plan: Plan
    policy: Policy
    rows: Sequence[OutlineRow]
    found: structural.Findings
    lines: Sequence[Line]
    windows: Sequence[Window]
    prompts: Sequence[Prompt]


def draft(outline: Outline, policy: Policy) -> Draft:
    """A page's structural plan, and the prompts for what the policy finds unclear in it."""
    rows = structural.kept(outline, policy)
    found = structural.findings(outline, rows)
    shown = lines(outline, rows)
    asked = windows(unclear(shown, found.sure, policy.escalation_threshold), len(shown))
    return Draft(
        plan=structural.planned(outline, rows, found, policy),
        policy=policy,
        rows=rows,
        found=found,
        lines=shown,
        windows=asked,
        prompts=_prompts(outline, rows, found.headings, [shown[w.start : w.end] for w in asked]),
    )


def _prompts(
    outline: Outline,
    rows: Sequence[OutlineRow],
    headings: Mapping[str, Heading],
    asked: Sequence[Sequence[Line]],
) -> list[Prompt]:
    """A prompt for the lines of each window, under the headings that the first of them is under."""
    levels = {id: heading.level for id, heading in headings.items()}
    chains = heading_chains(rows, Tree(levels))
    return [
        prompt(
            outline,
            some,
            [(levels[rows[i].id], rows[i].text or "") for i in chains[some[0].index]],
        )
        for some in asked
    ]


def _finished(page: Draft, results: Sequence[_Result], model: str) -> Plan | Exception:
    """A page's plan with the model's answers in it, or why the page has to wait."""
    if not results:
        return page.plan
    usage = sum((one.usage for one in results if isinstance(one, Completion)), Usage())
    for result in results:
        if isinstance(result, TransientError | PlannerModelError):
            waits = copy(result)  # other pages may have the same one
            waits.usage = usage
            return waits
    repairs: list[str] = []
    answers: list[tuple[Window, Sequence[str | None]]] = []
    for window, result in zip(page.windows, results, strict=True):
        symbols = _symbols(result, window.end - window.start, repairs)
        if symbols is not None:
            answers.append((window, symbols))
    levels = {id: heading.level for id, heading in page.found.headings.items()}
    decisions = decide(page.rows, page.lines, reconciled(answers), levels, page.policy)
    rows = [row for row in page.rows if row.id not in decisions.dropped]
    groups = structural.grouped(rows, decisions.tree, page.policy)
    return Plan(
        planner=model if answers else page.plan.planner,
        groups=groups,
        dropped={**page.plan.dropped, **decisions.dropped},
        boundaries=tuple(_boundaries(page, decisions, groups, model)),
        usage=usage,
        repairs=tuple(dict.fromkeys([*repairs, *decisions.repairs])),
        headings=structural.unmarked(rows, decisions.tree.levels),
        under=decisions.tree.under,
    )


def _symbols(result: _Result, lines: int, repairs: list[str]) -> Sequence[str | None] | None:
    """What a window's answer says; None where the structural plan has to do."""
    try:
        if isinstance(result, Exception):
            raise result
        if not result.finished:
            repairs.append("answer cut")
        answer = read(result.text, lines)
    except PlannerAnswerError:
        repairs.append("structural: answer")
    except PromptTooLongError:
        repairs.append("structural: too long")
    except PlannerSilentError:
        repairs.append("structural: silent")
    except Exception:  # of a completer's own making: the page goes on, and it is seen
        repairs.append("structural: refused")
    else:
        repairs.extend(answer.repairs)
        return answer.symbols
    return None


def _boundaries(
    page: Draft, decisions: Decisions, groups: Sequence[Sequence[str]], model: str
) -> Iterator[Boundary]:
    """Who proposed each boundary, and why."""
    marked = {row.id for row in page.rows if row.level is not None}
    tree = decisions.tree
    for place, ids in enumerate(groups):
        id = ids[0]
        if id in tree.levels:
            why = "heading" if id in marked else "implied heading"
        else:
            why = "new subject" if id in tree.begins else "outer section"
        by_model = id in decisions.counted and (
            id in tree.levels or id in tree.begins or id in tree.under
        )
        if place == 0 or not by_model:
            yield structural.boundary(id, place == 0, page.found)
            continue
        agreed = id in page.found.headings and id in tree.levels
        sure = 1 - (1 - MODEL_SURE) * (1 - page.found.sure[id] if agreed else 1)
        yield Boundary(id, model, why, round(sure, 2))
