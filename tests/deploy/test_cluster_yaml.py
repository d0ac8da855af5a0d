"""`cluster.yaml` is what Ray's launcher takes, and its nodes come and go with the load."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import ray
import yaml
from ray import serve
from ray.autoscaler._private.fake_multi_node.node_provider import FAKE_HEAD_NODE_TYPE
from ray.autoscaler._private.util import prepare_config, validate_config

from planner_serving import actor
from planner_serving.actor import ServeOptions
from planner_serving.engine import EngineOptions

ROOT = Path(__file__).parents[2]
RAY = str(Path(sys.executable).with_name("ray"))
#: Seconds until the autoscaler must have answered to load, or to its end.
WITHIN = 90


@pytest.fixture
def config() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "cluster.yaml").read_text(encoding="utf-8"))
    return loaded


def test_rays_schema_takes_it(config: dict[str, Any]) -> None:
    validate_config(prepare_config(config))


def test_what_nodes_run_is_in_the_repository(config: dict[str, Any]) -> None:
    commands = [
        *config["setup_commands"],
        *config["head_start_ray_commands"],
        *config["worker_start_ray_commands"],
        *config["available_node_types"]["planner"]["worker_setup_commands"],
    ]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for command in commands:
        words = command.split()
        for path in (word for word in words if word.startswith("~/wrac/")):
            assert (ROOT / path.removeprefix("~/wrac/")).exists(), command
        if "make" in words and "install" not in words[: words.index("make")]:
            assert f"\n{words[words.index('make') + 1]}:" in makefile, command


def test_a_planner_s_node_runs_its_engines_with_what_it_installs(
    config: dict[str, Any], tmp_path: Path
) -> None:
    (installed,) = config["available_node_types"]["planner"]["worker_setup_commands"]
    assert installed.endswith("make install-vllm-gpu")  # the other one is for processors
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    place = next(line.split()[-1] for line in makefile.splitlines() if line.startswith("VLLM "))
    done = subprocess.run(
        [ROOT / "deploy" / "on-node", "printenv", "WRAC_PLANNER_PYTHON"],
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "WRAC_ENV": str(ROOT / "deploy" / "wrac.env.example"),
        },
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"{tmp_path}/wrac/{place}/bin/python\n"


def test_a_command_on_a_node_has_the_settings_of_all(tmp_path: Path) -> None:
    (tmp_path / "wrac.env").write_text('WRAC_USER_AGENT="ours (+mail)"\n', encoding="utf-8")
    done = subprocess.run(
        [ROOT / "deploy" / "on-node", "printenv", "WRAC_USER_AGENT"],
        env={"PATH": os.environ["PATH"], "WRAC_ENV": str(tmp_path / "wrac.env")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "ours (+mail)\n"


@pytest.fixture
def small_cluster(
    config: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """The node types of `cluster.yaml`, each with one processor, started by Ray's fake provider.

    The processes are real; what is pretended is that each node is a machine, and its GPU.
    """
    types = config["available_node_types"]
    head = types.pop(config["head_node_type"])
    types["cpu"]["resources"]["CPU"] = 1
    for node in types.values():
        node["node_config"] = {}
        node.pop("worker_setup_commands", None)
    port = _free_port()
    where = f"{socket.gethostbyname(socket.gethostname())}:{port}"
    fake = {
        "cluster_name": config["cluster_name"],
        "max_workers": 4,
        "upscaling_speed": config["upscaling_speed"],
        "idle_timeout_minutes": 0.1,
        "provider": {
            "type": "fake_multinode",
            "gcs_address": where,
            # All nodes have one address, and there is no machine to log in to.
            "use_node_id_as_ip": True,
            "disable_node_updaters": True,
            "disable_launch_config_check": True,
            "worker_liveness_check": False,
            "worker_rpc_drain": True,
        },
        "available_node_types": {FAKE_HEAD_NODE_TYPE: {**head, "node_config": {}}, **types},
        "head_node_type": FAKE_HEAD_NODE_TYPE,
        # What the launcher fills in for a provider of machines; here nothing is set up.
        "auth": {},
        "docker": {},
        "file_mounts": {},
        "cluster_synced_files": [],
        "file_mounts_sync_continuously": False,
        "initialization_commands": [],
        "setup_commands": [],
        "head_setup_commands": [],
        "worker_setup_commands": [],
        "head_start_ray_commands": [],
        "worker_start_ray_commands": [],
    }
    file = tmp_path / "fake.yaml"
    file.write_text(json.dumps(fake), encoding="utf-8")
    for name, value in (
        ("RAY_FAKE_CLUSTER", "1"),
        ("RAY_AUTH_MODE", "disabled"),
        ("AUTOSCALER_UPDATE_INTERVAL_S", "1"),
    ):
        monkeypatch.setenv(name, value)
    folder = f"/tmp/wrac-ray-{port}"  # Ray's sockets lie in it: a short path
    start = [RAY, "start", "--head", "--block", f"--port={port}", f"--temp-dir={folder}"]
    start += ["--num-cpus=0", "--include-dashboard=false", f"--autoscaling-config={file}"]
    log = (tmp_path / "head.log").open("wb")
    running = subprocess.Popen(start, stdout=log, stderr=log)
    try:
        _connected(where, running)
        yield
    finally:
        serve.shutdown()
        ray.shutdown()
        running.terminate()
        running.wait(60)
        shutil.rmtree(folder, ignore_errors=True)


def _connected(where: str, running: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + WITHIN
    while True:
        assert running.poll() is None, "the head ended"
        try:
            ray.init(address=where, log_to_driver=False, configure_logging=False)
            return
        except (ConnectionError, ValueError, RuntimeError):
            if time.monotonic() > end:
                raise
            time.sleep(0.5)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("", 0))
        port: int = free.getsockname()[1]
        return port


def _nodes() -> Counter[str]:
    """Living nodes beside the head, by what they have."""
    living = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    return Counter("planner" if "GPU" in r else "cpu" for r in living if {"CPU", "GPU"} & r.keys())


def _until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + WITHIN
    while not true():
        assert time.monotonic() < end, ray.nodes()
        time.sleep(0.5)


@pytest.mark.timeout(400)
def test_load_brings_replicas_and_nodes_and_quiet_takes_them(
    small_cluster: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A planner's replica brings a node with a GPU, work for processors one without."""

    class Busy:
        """Stands for an engine, whose GPU cannot be had here: busy until it may go on."""

        def __init__(self, engine: EngineOptions) -> None:
            self._may_go_on = engine.model

        async def complete(self) -> str:
            while not self._may_go_on.exists():
                await asyncio.sleep(0.05)
            return ray.get_runtime_context().get_node_id()

    @ray.remote(num_cpus=1)
    class Parser:
        def node(self) -> str:
            return ray.get_runtime_context().get_node_id()

    monkeypatch.setattr(actor, "PlannerReplica", Busy)
    may_go_on = tmp_path / "may go on"
    options = ServeOptions(most=2, busy_seconds=2, quiet_seconds=2)
    _until(lambda: _nodes() == {"cpu": 1})  # min_workers
    serve.start(proxy_location="Disabled")
    planner = serve.run(
        actor.application(EngineOptions(may_go_on, gpus=1), options),
        name="planner",
        route_prefix=None,
    )
    _until(lambda: _nodes() == {"cpu": 1, "planner": 1})
    calls = [planner.complete.remote() for _ in range(8)]
    _until(lambda: _nodes() == {"cpu": 1, "planner": 2})
    parsers = [Parser.remote() for _ in range(2)]
    places = ray.get([parser.node.remote() for parser in parsers], timeout=WITHIN)
    assert len(set(places)) == 2
    assert _nodes() == {"cpu": 2, "planner": 2}
    for parser in parsers:
        ray.kill(parser)
    may_go_on.touch()
    assert set(places).isdisjoint(call.result(timeout_s=WITHIN) for call in calls)
    _until(lambda: _nodes() == {"cpu": 1})
