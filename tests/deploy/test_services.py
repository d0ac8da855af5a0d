"""`deploy/compose.yaml` starts its services with settings that they know.

No container engine is asked for: the commands are given to the same servers from the system.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import redis
import yaml

Need = Callable[[str, bool], None]


@pytest.fixture
def services() -> dict[str, Any]:
    file = Path(__file__).parents[2] / "deploy" / "compose.yaml"
    loaded: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
    return loaded["services"]  # type: ignore[no-any-return]


def test_what_must_last_is_on_a_volume(services: dict[str, Any]) -> None:
    kept = {name for name, service in services.items() if service.get("volumes")}
    assert kept == {"postgres", "qdrant"}  # the caches may be lost at any time


def test_no_port_is_open_to_the_world(services: dict[str, Any]) -> None:
    for service in services.values():
        assert all(port.startswith("${BIND:-127.0.0.1}:") for port in service["ports"])


def test_postgresql_knows_its_settings(services: dict[str, Any], need: Need) -> None:
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    need("postgresql", bool(programs))
    described = subprocess.run(
        [programs[-1], "--describe-config"], capture_output=True, text=True, check=True
    ).stdout
    known = {line.split("\t")[0] for line in described.splitlines()}
    program, *options = services["postgres"]["command"]
    assert program == "postgres"
    assert {option.removeprefix("-c").partition("=")[0] for option in options} <= known


def test_redis_starts_as_a_cache(services: dict[str, Any], need: Need) -> None:
    program = shutil.which("redis-server") or ""
    need("redis-server", bool(program))
    command = services["redis"]["command"]
    assert command[0] == "redis-server"
    options = ["secret" if "REDIS_PASSWORD" in option else option for option in command[1:]]
    folder = Path(tempfile.mkdtemp(prefix="wrac-redis-"))  # a socket's path is at most 107 bytes
    socket = folder / "redis.sock"
    server = subprocess.Popen(
        [program, *options, "--port", "0", "--unixsocket", str(socket)],
        stdout=subprocess.DEVNULL,
        cwd=folder,
    )
    try:
        until_up = redis.retry.Retry(redis.backoff.ConstantBackoff(0.02), 500)
        with redis.Redis.from_url(f"unix://:secret@{socket}", retry=until_up) as client:
            client.ping()
            settings = client.config_get("maxmemory*", "save", "appendonly")
    finally:
        server.kill()
        server.wait()
        shutil.rmtree(folder)
    assert settings["maxmemory"] == str(4 * 2**30)
    assert settings["maxmemory-policy"] == "allkeys-lru"
    assert settings["save"] == ""
    assert settings["appendonly"] == "no"
