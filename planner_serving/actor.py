"""The engine on Ray Serve: the only file of the planners that knows Ray."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import ray
from ray import serve
from ray.exceptions import RayError, RayTaskError
from ray.serve.config import AutoscalingConfig
from ray.serve.exceptions import RayServeException
from ray.serve.schema import ApplicationStatus

from planner_serving import model_folder
from planner_serving.engine import ENVIRONMENT, EngineOptions, VllmEngine
from planner_serving.errors import (
    EngineDiedError,
    PlannerModelError,
    PlannerUnavailableError,
    TerminalError,
    TransientError,
)
from planner_serving.ports import Completion, Prompt
from planner_serving.serving import IN_FLIGHT

# Serve tells each step of every handle on standard error, from its import on.
logging.getLogger("ray.serve").setLevel(logging.WARNING)

#: Seconds between two looks at a replica; the third bad one replaces it.
HEALTH_PERIOD = 2.0
#: Seconds that a replica gets to finish what it has when it is to go.
DRAIN = 120.0
#: Seconds that a call may wait for a replica that starts anew.
RESTART = 300.0
#: Calls at a replica (of up to `serving.BATCH` prompts) over which another one is started.
BUSY = 2.0


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """How many engines, where, and what runs them."""

    most: int = 1
    """Engines at the busiest."""
    busy_seconds: float = 30.0
    """Until another engine is started, while those that run have more than they can do."""
    quiet_seconds: float = 600.0
    """Until an engine goes that has too little to do, and the last one that has nothing."""
    python: str = ""
    """Interpreter of the replicas, where vLLM is installed; empty: as this process."""
    start_seconds: float = 600.0
    """Until the first engine answers: its model is read and, on a GPU, compiled."""
    grows: bool = False
    """Whether the cluster adds machines when they are asked for; else GPUs that it has not are
    an error at once."""


class PlannerReplica:
    """A shell over `VllmEngine`. A model that cannot be loaded is each prompt's answer: a new
    replica would find the same."""

    def __init__(self, options: EngineOptions) -> None:
        self._refusal: TerminalError | None = None
        try:
            self._engine = VllmEngine(options)
        except TerminalError as error:
            self._refusal = error

    async def identity(self) -> str | TerminalError:
        return self._refusal or self._engine.identity

    async def complete(self, prompts: Sequence[Prompt]) -> list[Completion | Exception]:
        if self._refusal:
            return [self._refusal] * len(prompts)
        return await asyncio.wrap_future(self._engine.submit(prompts))

    def check_health(self) -> None:
        """Raises once the engine is dead; Serve then replaces this replica."""
        if not self._refusal and not self._engine.alive:
            raise EngineDiedError("the planner's engine has ended")

    def __del__(self) -> None:
        if not self._refusal:
            self._engine.close()


class ServeReplicas:
    """`planner_serving.serving.Replicas` on the cluster that this process is connected to.

    The engines start with the first call, and those that run there already with equal options are
    used as they are. Without calls they end by themselves: nothing holds a GPU that plans nothing.
    """

    def __init__(self, engine: EngineOptions, options: ServeOptions) -> None:
        """Raises `PlannerModelError` where the folder, here, is no model's."""
        self.identity = model_folder.identity(engine.model)
        self._engine = replace(engine, model=engine.model.resolve())  # replicas stand elsewhere
        self._options = options

    @property
    def name(self) -> str:
        """The Serve application's: another model or other options are another one."""
        exact = repr((self.identity, self._engine, self._options)).encode()
        return f"wrac-planner-{hashlib.sha256(exact).hexdigest()[:12]}"

    def ready(self) -> None:
        """See `Replicas`."""
        _ = self._handle

    def call(self, prompts: Sequence[Prompt]) -> list[Completion | Exception]:
        """See `Replicas`."""
        found: list[Completion | Exception]
        try:
            found = self._result(self._handle.complete.remote(prompts), self._engine.seconds)
        except PlannerUnavailableError:
            self.__dict__.pop("_handle", None)  # what it leads to may be gone for good
            raise
        return found

    def stop(self) -> None:
        """Take the engines away, once they have answered what they have. Waits a minute for it;
        they go on with it longer."""
        with suppress(TimeoutError):
            serve.delete(self.name)

    @cached_property
    def _handle(self) -> Any:
        # Many processes find at once that the engines are not there; an actor lets one start them.
        make: Any = ray.remote(num_cpus=0)(Starter)
        starter = make.options(name="wrac-planner-starter", namespace="wrac", get_if_exists=True)
        with _named_errors(self._options.start_seconds):
            ray.get(starter.remote().start.remote(self.name, self._engine, self._options))
        handle: Any = serve.get_app_handle(self.name)
        identity = self._result(handle.identity.remote(), self._engine.seconds)
        if isinstance(identity, TerminalError):
            self.stop()  # whoever comes next, after it is mended, starts another
            raise identity
        if identity != self.identity:
            raise PlannerModelError(
                f"{self._engine.model} holds {self.identity} here and {identity} where it runs"
            )
        return handle

    def _result(self, response: Any, seconds: float) -> Any:
        """What a replica answered; waits for it, and for one that starts anew."""
        with _named_errors(seconds + RESTART):
            try:
                return response.result(timeout_s=seconds + RESTART)
            except TimeoutError:
                response.cancel()
                raise


class Starter:
    """Starts engines, one application after the other."""

    def start(self, name: str, engine: EngineOptions, options: ServeOptions) -> None:
        """Engines under `name`, if there are none. Raises `PlannerModelError` where the cluster
        has not the GPUs or a replica cannot be made, `TimeoutError` after `start_seconds`."""
        if name in serve.status().applications:
            return
        if not options.grows:
            _check_gpus(engine.gpus)
        serve.start(proxy_location="Disabled")  # pages come through handles, nothing listens
        target = serve.RunTarget(application(engine, options), name, route_prefix=None)
        serve.run_many([target], wait_for_applications_running=False)
        try:
            _wait(name, options.start_seconds)
        except BaseException:
            serve.delete(name)
            raise


@contextmanager
def _named_errors(seconds: float) -> Iterator[None]:
    """Ray's errors as the planners'."""
    try:
        yield
    except TimeoutError as error:
        raise PlannerUnavailableError(f"no planner replica within {seconds:g} s") from error
    except RayServeException as error:
        raise PlannerUnavailableError(f"Ray Serve: {error}") from error
    except RayTaskError as error:
        if isinstance(error.cause, TerminalError | TransientError):
            raise error.cause from None
        if isinstance(error.cause, TimeoutError):
            raise PlannerUnavailableError(f"no planner replica within {seconds:g} s") from error
        raise PlannerModelError(f"a planner replica failed: {error.cause}") from error
    except RayError as error:
        raise EngineDiedError("a planner replica ended while it had pages") from error


def application(engine: EngineOptions, options: ServeOptions) -> Any:
    """The Serve application of one model: replicas that come and go with what they are asked."""
    environment: dict[str, Any] = {"env_vars": ENVIRONMENT}
    if options.python:
        environment["py_executable"] = options.python
    return (
        serve.deployment(PlannerReplica)  # type: ignore[attr-defined]
        .options(
            name="planner",
            ray_actor_options={
                "num_cpus": 0,  # its GPUs place it; without any it takes what is free
                "num_gpus": engine.gpus,
                "runtime_env": environment,
            },
            autoscaling_config=AutoscalingConfig(
                min_replicas=0,
                initial_replicas=1,
                max_replicas=options.most,
                target_ongoing_requests=BUSY,
                upscale_delay_s=options.busy_seconds,
                downscale_delay_s=options.quiet_seconds,
            ),
            max_ongoing_requests=IN_FLIGHT,
            health_check_period_s=HEALTH_PERIOD,
            graceful_shutdown_timeout_s=DRAIN,
        )
        .bind(engine)
    )


def _wait(name: str, seconds: float) -> None:
    end = time.monotonic() + seconds
    while True:
        state = serve.status().applications[name]
        if state.status == ApplicationStatus.RUNNING:
            return
        if state.status in (ApplicationStatus.DEPLOY_FAILED, ApplicationStatus.UNHEALTHY):
            raise PlannerModelError(f"the planner cannot be served: {state.message.strip()}")
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.2)


def _check_gpus(wanted: float) -> None:
    there = ray.cluster_resources().get("GPU", 0)  # type: ignore[no-untyped-call]
    if there < wanted:
        raise PlannerModelError(
            f"the planner is set to {wanted:g} GPU and Ray's cluster has {there:g}; "
            "planner_gpus = 0 runs it on the processor"
        )
