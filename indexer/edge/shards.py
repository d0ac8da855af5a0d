"""All shards of a home: opened when they are asked for, each under a lock of its own."""

from __future__ import annotations

import logging
import shutil
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from indexer.edge.places import slot_folder
from indexer.edge.shard import SLOT_FILE, Shard, create, load, read_slot
from indexer.errors import IndexDamagedError
from indexer.model import Slot

MAX_OPEN = 256  # shards; each costs about 2.5 MB
FLUSH_IDLE = 1.0  # seconds without a request after which a written shard is flushed
FLUSH_LATEST = 10.0  # seconds after its first write that a busy shard is flushed
COMPACT_IDLE = 10.0  # seconds without a request after which a shard may be compacted
COMPACT_WRITES = 200  # points written or deleted from which compacting is worth a look

log = logging.getLogger("indexer.edge")


class LeavingError(ConnectionAbortedError):
    """The index process is about to leave: the request was not done, the client comes again."""


class Shards:
    """The open shards under an index folder. Thread-safe."""

    def __init__(self, index: Path) -> None:
        self._index = index
        self._guard = threading.Lock()
        self._layout = threading.Lock()  # of making a slot in a folder that another leaves empty
        self._locks: dict[Path, threading.Lock] = {}
        self._open: dict[Path, Shard] = {}
        self._compacting: dict[Path, subprocess.Popen[bytes]] = {}
        self._unoptimised: dict[Path, int] = {}
        self._closed = False
        for left in [*index.glob("*/*/.new-*"), *index.glob(".dropped-*")]:
            shutil.rmtree(left, ignore_errors=True)

    @contextmanager
    def writing(self, slot: Slot) -> Iterator[Shard]:
        """The slot's shard, made if there is none, for the caller alone."""
        folder = slot_folder(self._index, slot)
        with self._lock(folder):
            shard = self._shard(folder) or self._keep(self._create(folder, slot))
            with self._watched(shard):
                yield shard

    @contextmanager
    def reading(self, slots: Sequence[Slot]) -> Iterator[list[Shard | None]]:
        """The slots' shards, each for the caller alone; None for a slot that has none."""
        folders = [slot_folder(self._index, slot) for slot in slots]
        with ExitStack() as held:
            for folder in sorted(set(folders)):  # one order for all: no two callers can deadlock
                held.enter_context(self._lock(folder))
            shards = [self._shard(folder) for folder in folders]
            for shard in {id(one): one for one in shards if one is not None}.values():
                held.enter_context(self._watched(shard))
            yield shards

    def drop(self, slot: Slot) -> int:
        """Remove a slot's folder, and those above it that it leaves empty."""
        folder = slot_folder(self._index, slot)
        with self._lock(folder):
            shard = self._shard(folder, damaged_is_none=True)
            points = shard.count() if shard else 0
            if shard:
                self._forget(shard)
            if folder.exists():
                gone = self._index / f".dropped-{uuid.uuid4().hex}"
                folder.rename(gone)
                shutil.rmtree(gone)
            self._unoptimised.pop(folder, None)
            with self._layout:
                for above in (folder.parent, folder.parent.parent):
                    if above.is_dir() and not any(above.iterdir()):
                        above.rmdir()
        return points

    def slots(self) -> list[Slot]:
        """Every slot that has a folder, in order of path."""
        found = sorted(self._index.glob(f"*/*/*/{SLOT_FILE}"))
        return [read_slot(path.parent) for path in found if ".new-" not in path.parent.name]

    def tend(self) -> None:
        """One round of what is done when nobody waits: flush, compact. Called every second."""
        for folder, child in list(self._compacting.items()):
            with self._lock(folder):
                if self._compacting.get(folder) is child and child.poll() is not None:
                    log.info("compacted %s (exit %s)", folder, child.returncode)
                    del self._compacting[folder]
                    self._unoptimised.pop(folder, None)
        for folder, shard in list(self._open.items()):
            lock = self._lock(folder)
            if lock.acquire(blocking=False):
                try:
                    if self._open.get(folder) is shard:
                        self._tend(folder, shard)
                finally:
                    lock.release()

    @property
    def busy(self) -> bool:
        """Whether a compaction is running."""
        return bool(self._compacting)

    def close(self) -> None:
        """Close every shard, once what is being done is done; all later requests are refused."""
        self._closed = True
        for folder, shard in list(self._open.items()):
            with self._lock(folder):
                if self._open.get(folder) is shard:
                    self._forget(shard)
        for child in self._compacting.values():
            child.kill()
            child.wait()

    # callers of what follows hold the folder's lock

    def _lock(self, folder: Path) -> threading.Lock:
        with self._guard:
            return self._locks.setdefault(folder, threading.Lock())

    def _shard(self, folder: Path, damaged_is_none: bool = False) -> Shard | None:
        if self._closed:
            raise LeavingError
        shard = self._open.get(folder)
        if shard is not None and shard.displaced:
            log.warning("the files of %s are gone", folder)
            self._forget(shard)
            shard = None
        if shard is None:
            if not folder.is_dir():
                return None
            if child := self._compacting.pop(folder, None):
                child.kill()  # a request goes first; what was compacted is not yet used
                child.wait()
            try:
                shard = self._keep(load(folder))
            except IndexDamagedError:
                if damaged_is_none:
                    return None
                raise
        shard.used = time.monotonic()
        return shard

    def _create(self, folder: Path, slot: Slot) -> Shard:
        with self._layout:
            return create(folder, slot)

    def _keep(self, shard: Shard) -> Shard:
        self._open[shard.folder] = shard
        if len(self._open) > MAX_OPEN:
            self._close_one()
        return shard

    def _close_one(self) -> None:
        for folder, shard in sorted(self._open.items(), key=lambda item: item[1].used):
            lock = self._lock(folder)
            if lock.acquire(blocking=False):
                try:
                    if self._open.get(folder) is shard:
                        self._forget(shard)
                        return
                finally:
                    lock.release()

    def _forget(self, shard: Shard) -> None:
        del self._open[shard.folder]
        self._unoptimised[shard.folder] = self._writes(shard)
        shard.close()

    def _writes(self, shard: Shard) -> int:
        return self._unoptimised.get(shard.folder, 0) + shard.writes

    @contextmanager
    def _watched(self, shard: Shard) -> Iterator[None]:
        """After any fault a shard is closed: opening it again undoes what was left half done."""
        try:
            yield
        except Exception:
            if self._open.get(shard.folder) is shard:
                self._forget(shard)
            raise

    def _tend(self, folder: Path, shard: Shard) -> None:
        if shard.displaced:
            return  # the next request sees to it
        now = time.monotonic()
        idle = now - shard.used
        dirty = now - shard.dirty_since if shard.dirty_since is not None else 0.0
        if dirty and (idle > FLUSH_IDLE or dirty > FLUSH_LATEST):
            shard.flush()
        if idle > COMPACT_IDLE and self._writes(shard) >= COMPACT_WRITES:
            self._forget(shard)
            command = [sys.executable, "-m", "indexer.edge.compact", str(folder)]
            self._compacting[folder] = subprocess.Popen(command, stdin=subprocess.DEVNULL)
