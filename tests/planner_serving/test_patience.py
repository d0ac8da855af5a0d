"""A prompt's own fault is told from an outage."""

from __future__ import annotations

from planner_serving.errors import (
    EngineDiedError,
    PlannerBusyError,
    PlannerUnavailableError,
)
from planner_serving.patience import PatientCompleter
from planner_serving.ports import Prompt
from tests.planner_serving.told import Answer, ToldCompleter

AWAY = PlannerUnavailableError("no answer within 60 s")


def prompt(body: str) -> Prompt:
    return Prompt("rules", body, "[.]{1}", 2, "test-1")


class Model:
    """Answers each page, but those that it is told not to."""

    def __init__(self) -> None:
        self.faults: dict[str, Exception] = {}
        self.told = ToldCompleter(self._answer)
        self.patient = PatientCompleter(self.told)

    def _answer(self, asked: Prompt) -> Answer:
        return self.faults.get(asked.body, self.faults.get("all", "."))

    def ask(self, *bodies: str) -> list[str]:
        results = self.patient.complete([prompt(body) for body in bodies])
        return [type(result).__name__ for result in results]


GIVEN, WAITS, SILENT = "Completion", "PlannerUnavailableError", "PlannerSilentError"


def test_a_prompt_that_is_never_answered_is_given_up_the_second_time() -> None:
    model = Model()
    model.faults["slow"] = AWAY
    assert model.ask("a", "slow", "b") == [GIVEN, WAITS, GIVEN]
    assert model.ask("c", "slow") == [GIVEN, SILENT]
    assert str(AWAY) in str(model.patient.complete([prompt("slow")])[0])


def test_alone_it_is_given_up_where_what_was_answered_before_is_answered_again() -> None:
    model = Model()
    model.faults["kills"] = EngineDiedError("ended")
    assert model.ask("a", "kills") == [GIVEN, "EngineDiedError"]
    assert model.ask("kills") == [SILENT]
    assert model.told.asked[-1] == prompt("a")


def test_an_outage_is_nobody_s_fault_however_long() -> None:
    model = Model()
    model.faults["b"] = AWAY
    assert model.ask("a", "b") == [GIVEN, WAITS]  # the outage begins
    model.faults["all"] = AWAY
    for _ in range(5):
        assert model.ask("b") == [WAITS]
        assert model.ask("b", "c") == [WAITS, WAITS]
    model.faults.clear()
    assert model.ask("b", "c") == [GIVEN, GIVEN]
    model.faults["b"] = AWAY
    assert model.ask("b", "c") == [WAITS, GIVEN]  # that it once had no answer is forgotten


def test_a_model_with_too_much_to_do_is_waited_for() -> None:
    model = Model()
    model.faults["b"] = PlannerBusyError("429")
    for _ in range(5):
        assert model.ask("a", "b") == [GIVEN, "PlannerBusyError"]


def test_a_model_that_never_answered_is_not_asked_more_than_it_has_to() -> None:
    model = Model()
    model.faults["all"] = AWAY
    for _ in range(3):
        assert model.ask("a") == [WAITS]
    assert len(model.told.asked) == 3
