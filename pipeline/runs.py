"""Who works on a source: one run at a time, recognised as dead when its process is gone."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import psutil
import structlog

from pipeline.errors import SourceBusyError
from pipeline.ledger import Ledger

#: Seconds between two signs of life of a run.
HEARTBEAT = 15.0
#: Seconds between two looks whether somebody asks the run to stop.
LISTEN = 2.0
#: Seconds that a run has to end what it is at, once it is asked to stop.
PATIENCE = 120.0


log = structlog.get_logger()


@dataclass(slots=True)
class Run:
    """This process's hold on a source, prolonged by a thread of its own.

    Whatever the run does, and however long a step of it takes, it shows life.
    """

    ledger: Ledger
    source: str
    runner: str
    listens: bool = True
    """Whether it ends when it is asked to stop."""
    _ended: threading.Event = field(default_factory=threading.Event)
    _lost: SourceBusyError | None = None

    def check(self) -> None:
        """Raises `SourceBusyError` if another run took the source over."""
        if self._lost is not None:
            raise self._lost

    def beat(self, every: float = HEARTBEAT, listen: float = LISTEN) -> None:
        """Prolong the hold until the run ends, has lost it, or is asked to stop."""
        due = time.monotonic() + every
        while not self._ended.wait(min(every, listen)):
            try:
                now = datetime.now(UTC)
                if self.listens and self.ledger.sources.asked_to_stop(self.source, now):
                    raise SourceBusyError(
                        f"the run of source {self.source} was asked to stop",
                        "something of its customer is being forgotten; run it again later",
                    )
                if time.monotonic() > due:
                    self.ledger.sources.take(self.source, self.runner, now)
                    due = time.monotonic() + every
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
def held(ledger: Ledger, source: str, asked: bool = False) -> Iterator[Run]:
    """Hold a source for as long as the context lasts.

    Raises `SourceBusyError` naming the run that holds it. The hold of a process of this machine
    that is no more ends at once, any other when its lease runs out. `asked`: this caller asked
    the others to stop.
    """
    runner = f"{socket.gethostname()}/{os.getpid()}/{psutil.Process().create_time():.0f}"
    holder = ledger.sources.runner(source)
    dead = holder if _is_dead(holder) else None
    ledger.sources.take(source, runner, datetime.now(UTC), dead, asked)
    run = Run(ledger, source, runner, listens=not asked)
    heart = threading.Thread(target=run.beat, name=f"life of {source}", daemon=True)
    heart.start()
    started = time.monotonic()
    try:
        yield run
    finally:
        run.end()
        heart.join()
        known = ledger.sources.find(source) if run.listens else None
        if known is not None:
            spent = {"run_ms": round(1000 * (time.monotonic() - started))}
            ledger.usage.add(known.customer, datetime.now(UTC).date(), spent)
        ledger.sources.release(source, runner)


@contextmanager
def stopped(ledger: Ledger, source: str, patience: float = PATIENCE) -> Iterator[Run]:
    """Hold a source, for which a run that holds it is asked to stop.

    Raises `SourceBusyError` where it does not end within `patience` seconds.
    """
    deadline = time.monotonic() + patience
    with ExitStack() as hold:
        hold.callback(ledger.sources.ask_to_stop, source, None)
        while True:
            # Again and again: a request that its asker did not outlive ends by itself.
            keep_off = datetime.now(UTC) + timedelta(seconds=4 * HEARTBEAT)
            ledger.sources.ask_to_stop(source, keep_off)
            try:
                run = hold.enter_context(held(ledger, source, asked=True))
                break
            except SourceBusyError:
                if time.monotonic() > deadline:
                    raise
            time.sleep(LISTEN / 4)
        yield run


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
