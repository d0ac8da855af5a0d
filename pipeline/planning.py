"""The planner that a policy names, opened from the settings."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from chunker.policy import Policy
from pipeline.caches import Cache
from pipeline.caches.plans import PlanCache
from pipeline.errors import PinnedError, UsageError
from pipeline.ledger import Pins
from pipeline.page import STRUCTURAL
from pipeline.settings import Settings
from planner_serving import endpoint, model_folder
from planner_serving.engine import EngineOptions
from planner_serving.errors import PlannerModelError
from planner_serving.model_planner import ModelPlanner, identity
from planner_serving.patience import PatientCompleter
from planner_serving.plan_cache import CachedCompleter, CacheOnlyCompleter
from planner_serving.ports import BatchPlanner, Completer, Planner
from planner_serving.serving import ServedCompleter, interpreter

if TYPE_CHECKING:
    from planner_serving.actor import ServeReplicas

#: The settings without which a planner cannot be opened.
_NEEDED = {
    "structural": (),
    "endpoint": ("planner_url", "planner_model"),
    "vllm": ("planner_model_dir",),
}


def check_supported(policy: Policy, settings: Settings) -> None:
    """Raises `UsageError` for what a policy asks and the settings, or this release, do not give."""
    if policy.enrichment:
        raise UsageError("enrichment is not part of this release", "use enrichment = false")
    if policy.planner == "structural" and policy.escalation_threshold > 0:
        raise UsageError(
            "the policy has an escalation_threshold and no model to escalate to",
            'use planner = "endpoint" or "vllm", or escalation_threshold = 0.0',
        )
    missing = [name for name in _NEEDED[policy.planner] if not getattr(settings, name)]
    if missing:
        raise UsageError(
            f"planner {policy.planner} needs the setting {' and '.join(missing)}",
            "; ".join(f"set WRAC_{name.upper()}, or {name} in wrac.toml" for name in missing),
        )
    if policy.planner == "vllm":
        _check_engines(settings)


def open_planner(
    settings: Settings, policy: Policy, customer: str, cache: Cache | None
) -> BatchPlanner:
    """The planner over a model that a policy names.

    Nothing is contacted or started before it is asked; for vLLM this process must then be connected
    to a cluster (`running`). What it is answered is kept in `cache` as the customer's.
    """
    vllm = policy.planner == "vllm"
    completer: Completer = PatientCompleter(
        ServedCompleter(engines(settings)) if vllm else _endpoint(settings)
    )
    if cache is not None:
        completer = CachedCompleter(completer, PlanCache(cache, customer, completer.identity))
    return ModelPlanner(completer)


def engines(settings: Settings) -> ServeReplicas:
    """The vLLM engines of the settings, which start when they are first asked.

    Raises `PlannerModelError` where the model's folder or vLLM is not here.
    """
    from planner_serving.actor import ServeOptions, ServeReplicas

    engine = EngineOptions(
        Path(settings.planner_model_dir),
        gpus=settings.planner_gpus,
        seconds=settings.planner_timeout,
    )
    options = ServeOptions(
        most=settings.planner_replicas,
        python=_interpreter(settings),
        grows=bool(settings.ray_address),
    )
    return ServeReplicas(engine, options)


@contextmanager
def running(settings: Settings, policy: Policy) -> Iterator[None]:
    """What a policy's planner needs around it while single pages are planned."""
    if policy.planner != "vllm":
        yield
        return
    from pipeline import topology

    with topology.cluster(*topology.asked(settings)):
        yield


def planner_for(settings: Settings, policy: Policy, customer: str, cache: Cache | None) -> Planner:
    """The planner that a policy names, whichever it is; see `open_planner`."""
    return open_planner(settings, policy, customer, cache) if policy.asks_model else STRUCTURAL


def foresee(
    settings: Settings, policy: Policy, customer: str, cache: Cache
) -> CacheOnlyCompleter | None:
    """The model of a policy as far as the cache knows its answers; None where it names none."""
    if not policy.asks_model:
        return None
    model = _model(settings, policy)
    return CacheOnlyCompleter(model, PlanCache(cache, customer, model))


def pinned(settings: Settings, policy: Policy, known: Pins | None) -> str:
    """Identity of the planner that a source with this policy is to be pinned to.

    Where the structural planner was and stays, its pin stays: installing software moves none.
    """
    if policy.asks_model:
        return identity(_model(settings, policy))
    if known is not None and not known.policy.asks_model:
        return known.planner
    return STRUCTURAL.identity


def check_planner(settings: Settings, known: Pins, source: str) -> None:
    """Raises `PinnedError` where the settings name another model than the source's."""
    named = pinned(settings, known.policy, known)
    if named != known.planner:
        raise PinnedError(
            f"source {source} is planned by {known.planner}; the settings name {named}",
            "set the planner back, or apply the other: wrac rechunk --source NAME --policy FILE",
        )


def _model(settings: Settings, policy: Policy) -> str:
    """Identity of a policy's model, which need not run."""
    if policy.planner == "vllm":
        return _folder_identity(settings.planner_model_dir)
    return _endpoint(settings).identity


def _endpoint(settings: Settings) -> Completer:
    return endpoint.open_endpoint(
        settings.planner_url, settings.planner_model, settings.planner_timeout
    )


def _check_engines(settings: Settings) -> None:
    """Raises `UsageError` for a folder that is no model's, and without vLLM."""
    try:
        model_folder.read_config(Path(settings.planner_model_dir))
    except PlannerModelError as error:
        raise UsageError(str(error), "planner_model_dir names the folder of a model") from error
    try:
        _interpreter(settings)
    except PlannerModelError as error:
        hint = "make install-vllm, or planner_python names the interpreter that has it"
        raise UsageError(str(error), hint) from error


def _interpreter(settings: Settings) -> str:
    """What runs the engines; empty: on a cluster, what the machines run that have them."""
    if settings.ray_address:
        return settings.planner_python
    if settings.planner_python and shutil.which(settings.planner_python) is None:
        raise PlannerModelError(f"planner_python {settings.planner_python} is no program here")
    return settings.planner_python or interpreter()


@lru_cache(maxsize=4)
def _folder_identity(folder: str) -> str:
    """Reads all of the model: once a process."""
    return model_folder.identity(Path(folder))
