"""Servers of the tests' own, where they are installed: PostgreSQL for the ledger, Redis."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from sqlalchemy import create_engine, text

from pipeline.ledger import Ledger, open_ledger


@pytest.fixture(scope="session")
def postgres(need) -> Iterator[str]:  # type: ignore[no-untyped-def]
    """Address of a PostgreSQL server that this session started, on a socket of its own."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    need("postgresql", bool(programs))
    bin_ = programs[-1].parent
    # Its own folder directly under the system's: a socket's path is at most 107 bytes.
    folder = Path(tempfile.mkdtemp(prefix="wrac-pg-"))
    as_owner: list[str] = []
    if os.geteuid() == 0:  # the server refuses to run as root
        shutil.chown(folder, "postgres")
        as_owner = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]

    def call(*command: str) -> None:
        done = subprocess.run(
            [*as_owner, *command], cwd=folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr

    data = str(folder / "data")
    call(str(bin_ / "initdb"), "-D", data, "-U", "wrac", "-A", "trust", "-N")
    options = f"-k {folder} -c listen_addresses='' -c fsync=off"
    call(str(bin_ / "pg_ctl"), "-D", data, "-o", options, "-l", str(folder / "log"), "-w", "start")
    try:
        yield f"postgresql+psycopg://wrac@/{{}}?host={folder}"
    finally:
        call(str(bin_ / "pg_ctl"), "-D", data, "-m", "immediate", "-w", "stop")
        shutil.rmtree(folder)


@pytest.fixture(params=["sqlite", "postgresql"])
def ledger_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Address of an empty database of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'ledger.sqlite'}"
    server: str = request.getfixturevalue("postgres")
    name = f"t{abs(hash(tmp_path))}"
    admin = create_engine(server.format("postgres"), isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    admin.dispose()
    return server.format(name)


@pytest.fixture
def ledger(ledger_url: str) -> Iterator[Ledger]:
    opened = open_ledger(ledger_url)
    yield opened
    opened.close()


class RedisServer:
    """A `redis-server` on a socket, which can be killed and started again."""

    def __init__(self, program: str, folder: Path) -> None:
        self._socket = folder / "redis.sock"
        self._command = [program, "--port", "0", "--unixsocket", str(self._socket), "--save", ""]
        self.url = f"unix://{self._socket}"
        self.start()

    def start(self) -> None:
        self._server = subprocess.Popen(
            self._command, stdout=subprocess.DEVNULL, cwd=self._socket.parent
        )
        until_up = redis.retry.Retry(redis.backoff.ConstantBackoff(0.02), 200)
        with redis.Redis.from_url(self.url, retry=until_up) as client:
            client.ping()

    def kill(self) -> None:
        self._server.kill()
        self._server.wait()


@pytest.fixture(scope="module")
def redis_server(need) -> Iterator[RedisServer]:  # type: ignore[no-untyped-def]
    program = shutil.which("redis-server") or ""
    need("redis-server", bool(program))
    # Directly under the system's folder: a socket's path is at most 107 bytes.
    folder = Path(tempfile.mkdtemp(prefix="wrac-redis-"))
    server = RedisServer(program, folder)
    yield server
    server.kill()
    shutil.rmtree(folder)
