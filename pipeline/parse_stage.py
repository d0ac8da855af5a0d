"""First stage: stored body to checked chunks, under a deadline and a memory limit.

Runs in a process of its own that may die: what a page can do to it is counted by the ledger.
"""

from __future__ import annotations

import faulthandler
import resource
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from types import FrameType
from typing import Any, TypeVar

import chunker
from chunker import tokens
from chunker.errors import TerminalError
from chunker.model import Document, Outline, Plan
from chunker.outline import outline
from pipeline import records
from pipeline.errors import PipelineError, TransientError
from pipeline.kept import kept
from pipeline.ledger import Job, Source
from pipeline.page import STRUCTURAL, checked
from pipeline.pages import Emptied, Failed, Parsed, Prepared, Removal, Repeat, Unchanged
from pipeline.pagestore import PageStore
from planner_serving import errors
from planner_serving.ports import BatchPlanner

T = TypeVar("T")

#: Seconds after its deadline in which a page may still end by itself before its process is ended.
GRACE = 5.0
#: Seconds from one alarm to the next: what swallows the first one gets another.
_AGAIN = 1.0


class DeadlineError(BaseException):
    """A page took longer than its deadline.

    No `Exception`: readers of formats turn every exception of a library into "cannot be read",
    and libraries catch more than they should. What ends a page is not theirs to catch.
    """


@dataclass(frozen=True, slots=True)
class Limits:
    """What a page may take."""

    seconds: float
    memory: int
    """Bytes of the whole worker."""


@dataclass(frozen=True, slots=True)
class _Read:
    """A page that is parsed and waits for its plan."""

    job: Job
    document: Document
    view: Outline
    record: Mapping[str, Any] | None
    """What the document is from, where it was not parsed now."""


class ParseStage:
    """Parses, plans and chunks pages of one source."""

    def __init__(
        self,
        source: Source,
        store: PageStore,
        counter: tokens.Counter,
        planner: Callable[[], BatchPlanner] | None = None,
    ) -> None:
        """`planner` gives a planner over a model whenever there are pages to plan; it may fail as
        a planner does. Without it each page has the structural plan."""
        self._source = source
        self._store = store
        self._count = counter
        self._planner = planner
        self._name = ""
        self._published: Mapping[str, bool] = {}

    def run(self, jobs: Sequence[Job], limits: Limits | None = None) -> list[Parsed]:
        """One result a job, in order. A page that fails is a value and never an exception.

        A model plans all of the pages together. While it does, no page's deadline runs.
        """
        if self._planner is None:
            return [_guarded(job, limits, partial(self._whole, job)) for job in jobs]
        read = [_guarded(job, limits, partial(self._read, job)) for job in jobs]
        waiting = [page for page in read if isinstance(page, _Read)]
        plans = iter(self._proposed(self._planner, [page.view for page in waiting]))
        return [
            _guarded(page.job, limits, partial(self._planned, page, next(plans)))
            if isinstance(page, _Read)
            else page
            for page in read
        ]

    def marks(
        self, pages: Sequence[tuple[str, str, str]], limits: Limits | None = None
    ) -> list[tuple[str, Sequence[str]]]:
        """URL and block fingerprints of stored pages, given URL, body hash and content type.

        A page that cannot be read has none: it is reported where it is indexed.
        """
        found: list[tuple[str, Sequence[str]]] = []
        for url, digest, kind in pages:
            with suppress(Exception, DeadlineError), _within(limits):
                body = self._store.body(self._source.customer, digest)
                found.append((url, chunker.parse(body, url, kind).blocks))
        return found

    def _whole(self, job: Job) -> Parsed:
        page = self._read(job)
        if not isinstance(page, _Read):
            return page
        plan = STRUCTURAL.plan(page.view, self._source.pins.policy)
        return self._planned(page, plan)

    def _read(self, job: Job) -> _Read | Parsed:
        """A job's document and outline, where there is something to plan."""
        if job.body_hash is None:
            return Removal(job)
        source = self._source
        record = self._record(job)
        document = records.document_of(record, job) if record else None
        if document is None:
            record, document = None, self._parsed(job, job.body_hash)
        if document.content_hash == job.document_hash:
            return Unchanged(job)
        if document.content_hash == job.repeats:
            return Repeat(job, document)
        if job.chunks and job.has_changed and not any(u.role == "body" for u in document.units):
            return Emptied(job)
        return _Read(job, document, outline(document, source.pins.policy), record)

    def _parsed(self, job: Job, body_hash: str) -> Document:
        source = self._source
        document = chunker.parse(
            self._store.body(source.customer, body_hash),
            job.url,
            job.content_type,
            source=job.source,
            verdicts=self._verdicts(job.verdicts),
        )
        self._store.put_blocks(source.customer, source.name, job.url, document.blocks)
        return document

    def _record(self, job: Job) -> Mapping[str, Any] | None:
        """The record that may hold the document: only what comes after parsing may differ."""
        if job.indexed_at is None or job.document_hash is not None:
            return None  # never parsed, or it is the body that differs
        source = self._source
        return self._store.record(source.customer, source.name, source.build, job.url)

    def _proposed(
        self, planner: Callable[[], BatchPlanner], views: Sequence[Outline]
    ) -> Sequence[Plan | Exception]:
        """A plan for each page, or why there is none. A fault of the planner costs its pages."""
        try:
            return planner().plan_many(views, self._source.pins.policy) if views else []
        except Exception as error:
            return [error] * len(views)

    def _planned(self, page: _Read, plan: Plan | Exception) -> Parsed:
        """The page by its plan. One that the model is not there for waits."""
        if isinstance(plan, errors.TransientError | errors.PlannerModelError):
            return Failed(
                page.job, "planner_unavailable", str(plan), transient=True, usage=plan.usage
            )
        made = checked(page.document, page.view, plan, self._source.pins.policy, self._count)
        prepared = Prepared(page.job, page.document, made.plan, made.chunks)
        if page.record is None:
            return prepared
        return kept(self._source, self._store, prepared, page.record) or prepared

    def _verdicts(self, name: str) -> Mapping[str, bool]:
        """The verdicts of that name; those read last are kept, a run has one or two."""
        if name != self._name:
            customer, source = self._source.customer, self._source.name
            self._published = self._store.verdicts(customer, source, name) if name else {}
            self._name = name
        return self._published


def _guarded(job: Job, limits: Limits | None, work: Callable[[], T | Parsed]) -> T | Parsed:
    """What `work` makes of a job within the limits, or how it failed."""
    try:
        with _within(limits):
            return work()
    except DeadlineError:
        return Failed(job, "deadline", f"parsing took over {limits and limits.seconds:g} s")
    except MemoryError:
        return Failed(job, "memory", "parsing took more memory than page_memory allows")
    except TransientError as error:
        return Failed(job, error.code, str(error), transient=True)
    except PipelineError as error:
        return Failed(job, error.code, str(error))
    except TerminalError as error:
        return Failed(job, "unreadable", str(error))
    except Exception as error:  # a fault of ours must cost one page, not the run
        return Failed(job, "fault", f"{type(error).__name__}: {error}")


def limit_memory(limit: int) -> None:
    """Bound this process's private memory: going over it is a `MemoryError`, not a dead machine."""
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


@contextmanager
def _within(limits: Limits | None) -> Iterator[None]:
    """A deadline that interrupts Python code, and ends the process where that does not help."""
    if limits is None:
        yield
        return
    previous = signal.signal(signal.SIGALRM, _overdue)
    # A thread of C code: it fires even while a library holds the interpreter.
    faulthandler.dump_traceback_later(limits.seconds + GRACE, exit=True)
    signal.setitimer(signal.ITIMER_REAL, limits.seconds, _AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        faulthandler.cancel_dump_traceback_later()
        signal.signal(signal.SIGALRM, previous)


def _overdue(_signal: int, _frame: FrameType | None) -> None:
    raise DeadlineError
