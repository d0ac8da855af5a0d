"""The embedded index, as every command sees it: starts the index process where there is none."""

from __future__ import annotations

import json
import os
import selectors
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import indexer
from indexer.edge import wire
from indexer.edge.places import index_folder, lock, socket_path
from indexer.errors import IndexUnavailableError
from indexer.fusion import Fused
from indexer.model import Hit, Point, Slot, SparseVector, Stored, Swap, Vector
from indexer.payload import hit, one_embedder, rows, stored, terms

#: Starts the index process; home, seconds of idleness and a file descriptor are added to it.
PROGRAM = (sys.executable, "-m", "indexer.edge")
START_LOCK = "start.lock"
START_TIMEOUT = 60.0  # seconds for the index process to be ready
ANSWER_TIMEOUT = 120.0  # seconds for one answer: a long page may be before it
ATTEMPTS = 4  # every request can be repeated: the process may leave or be killed at any moment
IDLE = 60.0
PAGE = 1000  # points in one answer


class EdgeIndex:
    """A `VectorIndex` in the home folder. Safe to use from several threads and processes.

    Raises `HomeNotWritableError`, `IndexBusyError`, `IndexFullError`, `IndexDamagedError`, and
    `IndexUnavailableError` when the index process cannot be kept up; its log is
    `<home>/logs/index.log`.
    """

    def __init__(self, home: Path, idle: float = IDLE) -> None:
        """`idle`: seconds after its last client left that an index process started here leaves."""
        self._home = home.resolve()
        self._idle = idle
        self._pool: list[socket.socket] = []
        self._guard = threading.Lock()
        self._pid = os.getpid()

    # VectorIndex

    def replace_page(self, slot: Slot, url: str, points: Sequence[Point]) -> Swap:
        return Swap(*self._ask("replace_page", _plain(slot), url, rows(slot, url, points)))

    def delete_page(self, slot: Slot, url: str) -> int:
        return int(self._ask("delete_page", _plain(slot), url))

    def search(
        self, slots: Sequence[Slot], dense: Vector, sparse: SparseVector, limit: int
    ) -> list[Hit]:
        one_embedder(slots)
        slots = list(dict.fromkeys(slots))
        vector = dense.astype("float32").tobytes()
        found = self._ask("search", [_plain(one) for one in slots], vector, *terms(sparse), limit)
        return [
            hit(slots[place], id_, Fused(id_, *ranks), payload)
            for (id_, place), *ranks, payload in found
        ]

    def points(self, slot: Slot) -> Iterator[Stored]:
        start: str | None = None
        while True:
            page, start = self._ask("scroll", _plain(slot), start, PAGE)
            yield from (stored(id_, payload) for id_, payload in page)
            if start is None:
                return

    def count(self, slot: Slot) -> int:
        return int(self._ask("count", _plain(slot)))

    def slots(self) -> list[Slot]:
        return [Slot(*values) for values in self._ask("slots")]

    def languages(self, slots: Sequence[Slot]) -> frozenset[str]:
        return frozenset(self._ask("languages", [_plain(slot) for slot in slots]))

    def drop(self, slot: Slot) -> int:
        return int(self._ask("drop", _plain(slot)))

    def close(self) -> None:
        """Let go of the index process; it leaves by itself."""
        with self._guard:
            for connection in self._pool:
                connection.close()
            self._pool.clear()

    # the index process

    def process(self) -> int:
        """Id of the index process, started if need be."""
        return int(self._ask("pid"))

    def stop(self) -> None:
        """Ask the index process, where there is one, to write everything out and leave."""
        with suppress(OSError, EOFError):
            connection = self._connect()
            with connection:
                wire.send(connection, ["stop"])
                wire.receive(connection)
                wire.receive(connection)  # ends when the process does
        self.close()

    def _ask(self, *request: Any) -> Any:
        problem: Exception | None = None
        for _ in range(ATTEMPTS):
            try:
                connection = self._taken()
                try:
                    wire.send(connection, request)
                    answer = wire.receive(connection)
                except BaseException:
                    connection.close()
                    raise
            except (OSError, EOFError) as error:
                problem = error
                self.close()  # the kept connections led to the same process
                continue
            with self._guard:
                self._pool.append(connection)
            if "error" in answer:
                raise wire.raised(answer)
            return answer["ok"]
        raise IndexUnavailableError(
            f"the index process of {self._home} went away {ATTEMPTS} times at {request[0]} "
            f"({problem}); see {self._home / 'logs' / 'index.log'}"
        )

    def _taken(self) -> socket.socket:
        """A connection for one request: a kept one, else a new one, else to a new process."""
        with self._guard:
            if self._pid != os.getpid():  # after a fork the connections are the parent's
                self._pool.clear()
                self._pid = os.getpid()
            if self._pool:
                return self._pool.pop()
        with suppress(OSError):
            return self._connect()
        with lock(index_folder(self._home) / START_LOCK, START_TIMEOUT):
            with suppress(OSError):  # another client was first
                return self._connect()
            self._start()
            return self._connect()

    def _connect(self) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.settimeout(ANSWER_TIMEOUT)
            connection.connect(str(socket_path(self._home)))
        except BaseException:
            connection.close()
            raise
        return connection

    def _start(self) -> None:
        """Start the index process and wait until it answers, or says why it cannot."""
        ready, told = os.pipe()
        try:
            paths = [str(Path(indexer.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
            command = [*PROGRAM, str(self._home), str(self._idle)]
            with (self._home / "logs" / "index.log").open("ab") as output:
                subprocess.run(
                    [*command, str(told)],
                    check=False,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    cwd=self._home,
                    env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
                    pass_fds=(told,),
                )
            os.close(told)
            told = -1
            with selectors.DefaultSelector() as selector:
                selector.register(ready, selectors.EVENT_READ)
                waited = selector.select(START_TIMEOUT)
            answer = os.read(ready, 1 << 16).decode() if waited else ""
        finally:
            os.close(ready)
            if told >= 0:
                os.close(told)
        if not answer.startswith("ready"):
            if answer:
                raise wire.raised(json.loads(answer))
            raise IndexUnavailableError(
                f"the index process of {self._home} did not start; "
                f"see {self._home / 'logs' / 'index.log'}"
            )


def _plain(slot: Slot) -> list[Any]:
    return [slot.customer, slot.source, slot.embedder, slot.dimensions, slot.build]
