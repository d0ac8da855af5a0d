"""Who works on a source: one run at a time, recognised as dead when its process is gone."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

import psutil
import structlog

from pipeline.errors import SourceBusyError
from pipeline.ledger import Ledger

#: Seconds between two signs of life of a run.
HEARTBEAT = 15.0


log = structlog.get_logger()


@dataclass(slots=True)
class Run:
    """This process's hold on a source, prolonged by a thread of its own.

    Whatever the run does, and however long a step of it takes, it shows life.
    """

    ledger: Ledger
    source: str
    runner: str
    _ended: threading.Event = field(default_factory=threading.Event)
    _lost: SourceBusyError | None = None

    def check(self) -> None:
        """Raises `SourceBusyError` if another run took the source over."""
        if self._lost is not None:
            raise self._lost

    def beat(self, every: float = HEARTBEAT) -> None:
        """Prolong the hold until the run ends or has lost it."""
        while not self._ended.wait(every):
            try:
                self.ledger.sources.take(self.source, self.runner, datetime.now(UTC))
            except SourceBusyError as error:
                self._lost = error
                return
            except Exception as error:
                # The database is away for a moment: the next beat may reach it.
                log.warning(
                    "no sign of life could be written", source=self.source, error=str(error)
                )

    def end(self) -> None:
        self._ended.set()


@contextmanager
def held(ledger: Ledger, source: str) -> Iterator[Run]:
    """Hold a source for as long as the context lasts.

    Raises `SourceBusyError` naming the run that holds it. The hold of a process of this machine
    that is no more ends at once, any other when its lease runs out.
    """
    runner = f"{socket.gethostname()}/{os.getpid()}/{psutil.Process().create_time():.0f}"
    holder = ledger.sources.runner(source)
    ledger.sources.take(source, runner, datetime.now(UTC), holder if _is_dead(holder) else None)
    run = Run(ledger, source, runner)
    heart = threading.Thread(target=run.beat, name=f"life of {source}", daemon=True)
    heart.start()
    try:
        yield run
    finally:
        run.end()
        heart.join()
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
