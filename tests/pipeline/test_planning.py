"""Which planner a source is pinned to, and what is refused before anything runs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from chunker.model import Outline, Plan
from chunker.policy import Policy
from chunker.tokens import count
from pipeline.errors import PinnedError, UsageError
from pipeline.evaluation.methods import Original
from pipeline.evaluation.methods_product import product_method
from pipeline.ledger import Pins
from pipeline.ledger.model import FIRST_PLANNER
from pipeline.page import STRUCTURAL
from pipeline.planning import check_planner, check_supported, pinned
from pipeline.settings import Settings
from pipeline.topology import CRAWL_SHARE, INDEX_SHARE, PARSE_SHARE, asked
from planner_serving.errors import PlannerUnavailableError
from planner_serving.structural import StructuralPlanner

PINS = Pins(policy=Policy(), parser="1", embedder="m@1", dimensions=4, sparse="bm25@1")
ASKING = Policy(planner="endpoint")
SETTINGS = Settings(planner_url="http://model.example/v1", planner_model="m1")


def test_pins_from_before_planners_were_pinned_are_the_same_pins() -> None:
    written = {
        "policy": json.loads(Policy().canonical),
        "parser": "1",
        "embedder": "m@1",
        "dimensions": 4,
        "sparse": "bm25@1",
    }
    read = Pins.from_json(written)
    assert read == PINS
    assert read.planner == FIRST_PLANNER
    assert read.to_json() == written
    canonical = json.dumps(written, sort_keys=True, separators=(",", ":"))
    assert read.fingerprint == hashlib.sha256(canonical.encode()).hexdigest()[:16]


def test_another_planner_is_a_difference() -> None:
    other = replace(PINS, planner="model:m@2/outline-1")
    assert Pins.from_json(other.to_json()) == other
    assert other.fingerprint != PINS.fingerprint


def test_installing_software_moves_no_structural_pin() -> None:
    old = replace(PINS, planner="structural-0")
    assert pinned(SETTINGS, Policy(max_tokens=100), old) == "structural-0"
    assert pinned(SETTINGS, Policy(), None) == STRUCTURAL.identity
    by_model = replace(PINS, policy=ASKING, planner="model:m1")
    assert pinned(SETTINGS, Policy(), by_model) == STRUCTURAL.identity


def test_a_model_s_pin_is_what_the_settings_name() -> None:
    first = pinned(SETTINGS, ASKING, None)
    assert "m1" in first
    second = SETTINGS.model_copy(update={"planner_model": "m2"})
    known = replace(PINS, policy=ASKING, planner=first)
    check_planner(SETTINGS, known, "docs")
    with pytest.raises(PinnedError, match="docs"):
        check_planner(second, known, "docs")
    # Where it is served from is not what it is.
    elsewhere = SETTINGS.model_copy(update={"planner_url": "http://other.example/v1"})
    check_planner(elsewhere, known, "docs")


@pytest.mark.parametrize(
    ("policy", "named"),
    [
        (ASKING, "planner_url and planner_model"),
        (Policy(escalation_threshold=0.5), "escalation_threshold"),
        (Policy(enrichment=True), "enrichment"),
    ],
)
def test_what_cannot_be_done_is_named(policy: Policy, named: str) -> None:
    with pytest.raises(UsageError, match=named):
        check_supported(policy, Settings())
    check_supported(Policy(), Settings())


def test_a_folder_that_is_no_model_is_named_before_anything_starts(tmp_path: Path) -> None:
    settings = Settings(planner_model_dir=str(tmp_path), ray_address="ray.example:6379")
    asking = Policy(planner="vllm")
    with pytest.raises(UsageError, match="planner_model_dir"):
        check_supported(asking, Settings())
    with pytest.raises(UsageError, match=r"config\.json"):
        check_supported(asking, settings)
    (tmp_path / "config.json").write_text('{"architectures": ["LlamaForCausalLM"]}')
    (tmp_path / "tokenizer.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    check_supported(asking, settings)
    first = pinned(settings, asking, None)
    assert "LlamaForCausalLM@" in first and first != pinned(SETTINGS, ASKING, None)
    # What runs the engines is looked for where they run: here only without a cluster.
    missing = {"planner_python": str(tmp_path / "python")}
    check_supported(asking, settings.model_copy(update=missing))
    with pytest.raises(UsageError, match="planner_python"):
        check_supported(asking, settings.model_copy(update={**missing, "ray_address": ""}))


def test_a_policy_is_planned_by_another_planner() -> None:
    asking = Policy(planner="endpoint", escalation_threshold=0.7, max_tokens=100)
    assert asking.planned_by("structural") == Policy(max_tokens=100)
    assert asking.planned_by("vllm") == replace(asking, planner="vllm")


class AwayPlanner(StructuralPlanner):
    """A model's planner, whose model is away for pages on boats."""

    asked = 0

    def plan_many(self, outlines: Sequence[Outline], policy: Policy) -> list[Plan | Exception]:
        self.asked += len(outlines)
        away = PlannerUnavailableError("503")
        return [away if "Boats" in str(view) else self.plan(view, policy) for view in outlines]


def test_an_evaluation_asks_the_model_and_does_not_measure_less() -> None:
    planner = AwayPlanner()
    method = product_method(ASKING, count, planner)
    text = "# Huts\n\nThere are nine."
    originals = [Original("f", "md", text.encode())]
    assert [piece.shown for piece in method(originals)] == [text]
    assert planner.asked == 1
    with pytest.raises(PlannerUnavailableError):
        method([Original("f", "md", b"# Boats\n\nTen.")])


def test_a_machine_of_its_own_has_room_for_all_that_waits_for_each_other() -> None:
    """A worker that Ray has no processor for is never started, and its run never ends."""
    address, shares = asked(Settings(parse_workers=8), sources=3)
    assert (address, shares) == ("", 3 * (CRAWL_SHARE + 8 * PARSE_SHARE + INDEX_SHARE))
