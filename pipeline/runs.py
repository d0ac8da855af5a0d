"""Who works on a source: one run at a time, recognised as dead when its process is gone."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

import psutil

from pipeline.ledger import Ledger

#: Seconds between two signs of life of a run.
HEARTBEAT = 15.0


@dataclass(slots=True)
class Run:
    """This process's hold on a source."""

    ledger: Ledger
    source: str
    runner: str
    _shown: float = field(default_factory=time.monotonic)

    def show_life(self) -> None:
        """Prolong the hold, if it is time to. Raises `SourceBusyError` if it was lost."""
        now = time.monotonic()
        if now - self._shown > HEARTBEAT:
            self.ledger.sources.take(self.source, self.runner, datetime.now(UTC))
            self._shown = now


@contextmanager
def held(ledger: Ledger, source: str) -> Iterator[Run]:
    """Hold a source for as long as the context lasts.

    Raises `SourceBusyError` naming the run that holds it. The hold of a process of this machine
    that is no more ends at once, any other when its lease runs out.
    """
    runner = f"{socket.gethostname()}/{os.getpid()}/{psutil.Process().create_time():.0f}"
    holder = ledger.sources.runner(source)
    ledger.sources.take(source, runner, datetime.now(UTC), holder if _is_dead(holder) else None)
    try:
        yield Run(ledger, source, runner)
    finally:
        ledger.sources.release(source, runner)


def _is_dead(runner: str | None) -> bool:
    """Whether a runner is a process of this machine that is no more: its lease need not run out."""
    if runner is None:
        return False
    host, pid, created = runner.rsplit("/", 2)
    if host != socket.gethostname():
        return False
    try:
        return f"{psutil.Process(int(pid)).create_time():.0f}" != created
    except psutil.NoSuchProcess:
        return True
