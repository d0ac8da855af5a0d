"""The index process of a home: holds every shard and answers on a socket until nobody is left."""

from __future__ import annotations

import json
import logging
import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import FrameType
from typing import Any

from indexer.edge import wire
from indexer.edge.places import index_folder, lock, socket_path
from indexer.edge.shards import LeavingError, Shards
from indexer.errors import TerminalError, TransientError
from indexer.fusion import Candidate, depth, fuse
from indexer.model import Slot
from indexer.payload import Row

LOCK_FILE = "lock"
LOCK_TIMEOUT = 15.0  # seconds to wait for an index process that is leaving
TICK = 0.5  # seconds between looks at whether it is time to flush, compact or leave
BACKLOG = 128

log = logging.getLogger("indexer.edge")


def main(home: str, idle: float, ready: int) -> None:
    """Serve `home` until no client was connected for `idle` seconds.

    Writes `ready`, or the fault as JSON, to the file descriptor `ready`, once.
    """
    try:
        server = Server(Path(home), idle)
    except Exception as error:
        _tell(ready, json.dumps(wire.fault(error)))
        raise SystemExit(1) from error
    signal.signal(signal.SIGTERM, server.stop)
    _tell(ready, "ready")
    server.run()


def _tell(ready: int, message: str) -> None:
    with suppress(OSError):  # who started this may be gone
        os.write(ready, message.encode())
        os.close(ready)


class Server:
    """Accepts connections, a thread each. There is one a home, by the lock it holds."""

    def __init__(self, home: Path, idle: float) -> None:
        index = index_folder(home)
        self._lock = lock(index / LOCK_FILE, LOCK_TIMEOUT)
        _log_to(home / "logs" / "index.log")
        self._held = _identity(os.fstat(self._lock.fileno()))
        self._lock_path = index / LOCK_FILE
        self._idle = idle
        self._path = socket_path(home)
        self._shards = Shards(index)
        self._ops = operations(self._shards)
        self._stopping = False
        self._guard = threading.Lock()
        self._connections = 0
        self._left_alone_since = time.monotonic()
        self._listener = self._listen()

    def stop(self, *_: int | FrameType | None) -> None:
        """Leave as soon as what is being done is done. Also the handler of SIGTERM."""
        self._stopping = True
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as knock:
            knock.connect(str(self._path))  # wakes the thread that accepts

    def run(self) -> None:
        log.info("index process %s serves %s", os.getpid(), self._path)
        threading.Thread(target=self._tend, daemon=True).start()
        while not (self._stopping or (self._expired() and self._leave())):
            with suppress(OSError):  # nobody came in time, or the listener is closed
                self._take(self._listener.accept()[0])
        self._hide()
        with suppress(Exception):  # of a home that is gone
            self._shards.close()
        log.info("index process %s leaves", os.getpid())
        self._lock.close()
        os._exit(0)  # idle threads wait on sockets; nothing is left to clean up

    def _listen(self) -> socket.socket:
        self._path.unlink(missing_ok=True)  # left by a killed process: the lock says it is dead
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(str(self._path))
        self._path.chmod(0o600)
        self._bound = _identity(self._path.stat())
        listener.listen(BACKLOG)
        listener.settimeout(TICK)
        return listener

    def _expired(self) -> bool:
        with self._guard:
            alone = self._connections == 0
            waited = time.monotonic() - self._left_alone_since
        return alone and waited >= self._idle and not self._shards.busy

    def _leave(self) -> bool:
        """Stop being found, then look whether somebody had come already; if so, stay."""
        self._hide()
        self._listener.setblocking(False)
        try:
            late = self._listener.accept()[0]
        except BlockingIOError:
            self._listener.close()
            return True
        self._listener.close()
        self._listener = self._listen()
        self._take(late)
        return False

    def _hide(self) -> None:
        """Remove the socket's path, unless it leads to another process by now."""
        with suppress(OSError):
            if _identity(self._path.stat()) == self._bound:
                self._path.unlink()

    def _leave_if_displaced(self) -> None:
        """Leave when the home was removed or moved: what is written here would be lost."""
        with suppress(OSError):
            if _identity(self._lock_path.stat()) == self._held:
                return
        log.warning("the home is gone")
        self._stopping = True
        self._hide()
        self._listener.close()
        raise LeavingError

    def _take(self, connection: socket.socket) -> None:
        connection.setblocking(True)
        with self._guard:
            self._connections += 1
        threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            with connection:
                while True:
                    wire.send(connection, self._answer(wire.receive(connection)))
        except (EOFError, OSError):
            pass  # the client left, or this process is leaving
        except ValueError as error:
            log.warning("a frame that is no message: %s", error)
        finally:
            with self._guard:
                self._connections -= 1
                self._left_alone_since = time.monotonic()

    def _answer(self, request: Any) -> Any:
        self._leave_if_displaced()
        name = "a request"
        try:
            name, *arguments = request
            if name == "stop":
                self.stop()
                return {"ok": os.getpid()}
            return {"ok": self._ops[name](*arguments)}
        except LeavingError:
            raise
        except (TransientError, TerminalError) as error:
            log.warning("%s: %s: %s", name, type(error).__name__, error)
            return wire.fault(error)
        except Exception as error:
            log.exception("%s failed", name)
            return wire.fault(error)

    def _tend(self) -> None:
        while True:
            time.sleep(TICK)
            try:
                self._leave_if_displaced()
                self._shards.tend()
            except LeavingError:
                return
            except Exception:
                log.exception("tending failed")


def operations(shards: Shards) -> dict[str, Callable[..., Any]]:
    """What a client may ask for: name to function of plain values."""

    def replace_page(slot: list[Any], url: str, rows: list[list[Any]]) -> tuple[int, int, int]:
        with shards.writing(Slot(*slot)) as shard:
            swap = shard.replace_page(url, [Row(*row) for row in rows])
        return swap.added, swap.kept, swap.deleted

    def delete_page(slot: list[Any], url: str) -> int:
        with shards.reading([Slot(*slot)]) as (shard,):
            return shard.delete_page(url) if shard else 0

    def search(
        slots: list[list[Any]], dense: bytes, indices: bytes, weights: bytes, limit: int
    ) -> list[Any]:
        with shards.reading([Slot(*slot) for slot in slots]) as found:
            near: list[Candidate[tuple[str, int]]] = []
            matching: list[Candidate[tuple[str, int]]] = []
            for place, shard in enumerate(found):
                if shard:
                    by_vector, by_terms = shard.rankings(dense, indices, weights, depth(limit))
                    for side, found_there in ((near, by_vector), (matching, by_terms)):
                        side += [
                            Candidate((id_, place), (url, place), score)
                            for id_, url, score in found_there
                        ]
            best = fuse(near, matching, limit)
            wanted: dict[int, list[str]] = {}
            for one in best:
                wanted.setdefault(one.key[1], []).append(one.key[0])
            payloads = {
                place: shard.payloads(wanted[place])
                for place, shard in enumerate(found)
                if shard and place in wanted
            }
        return [[*one, payloads[one.key[1]][one.key[0]]] for one in best]

    def scroll(slot: list[Any], start: str | None, limit: int) -> Any:
        with shards.reading([Slot(*slot)]) as (shard,):
            return shard.scroll(start, limit) if shard else ([], None)

    def count(slot: list[Any]) -> int:
        with shards.reading([Slot(*slot)]) as (shard,):
            return shard.count() if shard else 0

    def languages(slots: list[list[Any]]) -> list[str]:
        with shards.reading([Slot(*slot) for slot in slots]) as found:
            return sorted({lang for shard in found if shard for lang in shard.languages()})

    return {
        "pid": os.getpid,
        "replace_page": replace_page,
        "delete_page": delete_page,
        "search": search,
        "scroll": scroll,
        "count": count,
        "languages": languages,
        "slots": lambda: [_values(slot) for slot in shards.slots()],
        "drop": lambda slot: shards.drop(Slot(*slot)),
    }


def _identity(found: os.stat_result) -> tuple[int, int]:
    return found.st_dev, found.st_ino


def _values(slot: Slot) -> list[Any]:
    return [slot.customer, slot.source, slot.embedder, slot.dimensions, slot.build]


def _log_to(path: Path) -> None:
    handler = RotatingFileHandler(path, maxBytes=8 << 20, backupCount=2, delay=True)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    logging.raiseExceptions = False  # a full disk must not end the process
    log.addHandler(handler)
    log.setLevel(logging.INFO)
