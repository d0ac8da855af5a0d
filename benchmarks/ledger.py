"""What the ledger costs by size: claims and visits a second, bytes a URL, memory; what grows.

    python -m benchmarks.ledger --urls 100000 1000000 --database sqlite postgresql

A ledger of 100 sources is filled with URLs as crawls leave them. At each size the same work is then
timed, through the product's own calls: claims of 64 pages out of a pass, records of 32 visits, jobs
claimed and done by the reconciler, links found, the begin of a pass, the status. Times are medians;
the last column is the value at the largest size over that at the smallest: what is over 1 there,
and is not a whole source's work, grows with the ledger. `--database postgresql` starts a server of
its own from Debian's package, with that package's settings.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median

from sqlalchemy import DateTime, String, bindparam, create_engine, func, select, text

from chunker.policy import Policy
from crawler.model import Fetched, Found, NotModified, Outcome, Scope
from pipeline.ledger import Ledger, Pins, open_ledger
from pipeline.ledger.schedules import Schedule
from pipeline.ledger.work import Done

SOURCES = 100
NOW = datetime(2026, 5, 1, tzinfo=UTC)
PINS = Pins(policy=Policy(), parser="1", embedder="m@1", dimensions=384, sparse="bm25@1")
#: Times that each operation is timed.
ROUNDS = 15


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--urls", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument(
        "--database", nargs="+", choices=["sqlite", "postgresql"], default=["sqlite", "postgresql"]
    )
    parser.add_argument("--folder", type=Path, help="where the databases lie; default: temporary")
    given = parser.parse_args()
    results: dict[str, dict[int, dict[str, float]]] = {}
    for database in given.database:
        results[database] = {}
        for urls in sorted(given.urls):
            with _database(database, given.folder) as url:
                results[database][urls] = measure(url, urls)
            print(database, urls, json.dumps(results[database][urls]), flush=True)
    for database, by_size in results.items():
        _show(database, by_size)


def measure(url: str, urls: int) -> dict[str, float]:
    """Seconds of each operation at this size, bytes a URL, and this process's peak memory."""
    ledger = open_ledger(url)
    before = _bytes(ledger)
    began = time.perf_counter()
    _fill(ledger, urls)
    found = {"fill_urls_a_second": urls / (time.perf_counter() - began)}
    found["bytes_a_url"] = (_bytes(ledger) - before) / urls
    own, size = "s000", urls // SOURCES
    number = ledger.sources.get(own).pass_number
    taken: list[str] = []

    def claim() -> None:
        nonlocal taken
        taken = [task.url for task in ledger.visits.pending(own, 64, ())]

    def record_unchanged() -> None:
        visits: list[tuple[Outcome, str]] = [(NotModified(one, NOW), "") for one in taken[:32]]
        ledger.visits.record(own, number, visits, PINS.fingerprint)

    def record_changed() -> None:
        later = NOW + timedelta(days=1)
        ledger.visits.record(
            own,
            number,
            [(_page(one, later), f"new {one}"[-64:]) for one in taken[32:]],
            PINS.fingerprint,
        )

    def work() -> None:
        jobs = ledger.work.claim(own, "run", 16)
        ledger.work.done([Done(job, 5, "d", "T") for job in jobs], NOW)

    def find_again() -> None:
        ledger.visits.discovered(own, [Found(one, 2, None) for one in taken])

    def find_new() -> None:
        nonlocal fresh
        fresh += 64
        links = [Found(_url(own, size + fresh + n), 3, None) for n in range(64)]
        ledger.visits.discovered(own, links)

    fresh = 0
    steps: list[tuple[str, Callable[[], object]]] = [
        ("claim_64", claim),
        ("record_32_unchanged", record_unchanged),
        ("record_32_changed", record_changed),
        ("work_16", work),
        ("find_64_again", find_again),
        ("find_64_new", find_new),
        ("allowed", lambda: ledger.schedules.allows(own, None, NOW)),
    ]
    times: dict[str, list[float]] = {name: [] for name, _ in steps}
    for _ in range(ROUNDS):
        for name, call in steps:
            times[name].append(_seconds(call))
    found |= {name: median(each) for name, each in times.items()}
    whole: dict[str, Callable[[], object]] = {
        "begin_due_pass": lambda: _next_pass(ledger, own, NOW),
        "begin_whole_pass": lambda: _next_pass(ledger, own, None),
        "counts": lambda: ledger.pages.counts(own),
        "fit": lambda: ledger.revisits.fit(own, NOW),
    }
    # These go over all pages of one source, a hundredth of the ledger.
    found |= {f"{name}_us_a_page": _seconds(call) / size * 1e6 for name, call in whole.items()}
    found["claims_a_second"] = 64 / found["claim_64"]
    found["visits_a_second"] = 32 / found["record_32_unchanged"]
    found["peak_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    ledger.close()
    return found


#: A source's pages as crawls leave them: fetched and indexed once, with the next pass open. In the
#: database itself, or ten million would take hours.
FILL = """
INSERT INTO pages (source, url, depth, found_on, visited_pass, queued, "fetch", status, etag,
    last_modified, content_type, body_hash, body_bytes, fetched_at, missing_passes, verdicts,
    wanted, indexed, indexed_at, document_hash, title, chunks, attempts, interrupted, next_visit,
    seen_at, change_shape, change_days)
WITH RECURSIVE number(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM number WHERE n + 1 < :pages)
SELECT :source, 'https://www.' || :source || '.example/section-' || (n % 97)
        || '/an-article-of-the-site-' || (10000000 + n),
    n % 7, 'https://www.' || :source || '.example/section-' || (n % 20), 0, true, 'fetched', 200,
    '"' || (10000000 + n) || '-5f3a9c"', 'Fri, 01 May 2026 12:00:00 GMT', 'text/html',
    :zeros || (1000000000000000 + n), 40000, :now, 0, '0123456789abcdef',
    :zeros || (1000000000000000 + n) || ':0123456789abcdef:' || :pins,
    :zeros || (1000000000000000 + n) || ':0123456789abcdef:' || :pins, :now,
    :zeros || (1000000000000000 + n), 'The page with the number ' || n, 6, 0, 0,
    CASE n % 3 WHEN 0 THEN :now ELSE :later END, :now, 0.5 + n % 3, 10.0 + n % 17
FROM number
"""


def _fill(ledger: Ledger, urls: int) -> None:
    moments = {"now": NOW, "later": NOW + timedelta(days=30)}
    fill = text(FILL).bindparams(
        *(bindparam(name, at, DateTime(timezone=True)) for name, at in moments.items()),
        *(bindparam(name, type_=String()) for name in ("source", "pins", "zeros")),
        pages=urls // SOURCES,
    )
    for number in range(SOURCES):
        name = f"s{number:03}"
        ledger.sources.declare(name, name, Scope(seeds=(_url(name, 0),)), PINS, NOW)
        ledger.schedules.declare(name, Schedule(every=7, least=0.25, most=60))
        ledger.sources.begin_pass(name)
        own = {"source": name, "pins": PINS.fingerprint, "zeros": "0" * 48}
        with ledger.engine.begin() as connection:
            connection.execute(fill, own)
    with ledger.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("ANALYZE"))


def _url(source: str, number: int) -> str:
    section, name = number % 97, 10**7 + number
    return f"https://www.{source}.example/section-{section}/an-article-of-the-site-{name}"


def _page(url: str, at: datetime) -> Fetched:
    links = tuple(Found(f"{url}?part={n}", 4, url) for n in range(2))
    return Fetched(url, url, 200, {}, "text/html", b"<p>x</p>", at, links=links)


def _next_pass(ledger: Ledger, source: str, due_by: datetime | None) -> None:
    ledger.sources.end_pass(source, NOW)
    ledger.sources.begin_pass(source, due_by)


def _seconds(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def _bytes(ledger: Ledger) -> int:
    """Size of the database, what it keeps of the past included."""
    if ledger.engine.dialect.name == "sqlite":
        file = Path(str(ledger.engine.url.database))
        with ledger.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
        return file.stat().st_size
    with ledger.engine.connect() as connection:
        return int(connection.scalar(select(func.pg_database_size(func.current_database()))) or 0)


@contextmanager
def _database(kind: str, folder: Path | None) -> Iterator[str]:
    place = Path(tempfile.mkdtemp(prefix="wrac-ledger-", dir=folder))
    try:
        if kind == "sqlite":
            yield f"sqlite:///{place / 'ledger.sqlite'}"
        else:
            with _server(place) as url:
                yield url
    finally:
        shutil.rmtree(place, ignore_errors=True)


@contextmanager
def _server(place: Path) -> Iterator[str]:
    """A PostgreSQL with its package's own settings, on a socket of its own."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not programs:
        raise SystemExit("PostgreSQL is not here: apt-get install postgresql")
    owner: list[str] = []
    if os.geteuid() == 0:  # the server refuses to run as root
        shutil.chown(place, "postgres")
        owner = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]

    def call(program: str, *arguments: str) -> None:
        command = [*owner, str(programs[-1] / program), *arguments]
        subprocess.run(command, cwd=place, check=True, capture_output=True)

    data = str(place / "data")
    call("initdb", "-D", data, "-U", "wrac", "-A", "trust", "-N", "-E", "UTF8")
    options = f"-k {place} -c listen_addresses=''"
    call("pg_ctl", "-D", data, "-o", options, "-l", str(place / "log"), "-w", "start")
    try:
        admin = create_engine(
            f"postgresql+psycopg://wrac@/postgres?host={place}", isolation_level="AUTOCOMMIT"
        )
        with admin.connect() as connection:
            connection.execute(text("CREATE DATABASE ledger"))
        admin.dispose()
        yield f"postgresql+psycopg://wrac@/ledger?host={place}"
    finally:
        call("pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")


def _show(database: str, by_size: dict[int, dict[str, float]]) -> None:
    sizes = sorted(by_size)
    print(f"\n{database:26}" + "".join(f"{size:>14,}" for size in sizes) + f"{'grows':>9}")
    for name in by_size[sizes[0]]:
        values = [by_size[size][name] for size in sizes]
        timed = name.endswith(("_64", "_32_unchanged", "_32_changed", "_16", "_again", "_new"))
        shown = [value * 1000 if timed or name == "allowed" else value for value in values]
        unit = " ms" if timed or name == "allowed" else ""
        grows = values[-1] / values[0] if values[0] else 0.0
        cells = "".join(f"{value:14,.2f}" for value in shown)
        print(f"{(name + unit)[:26]:26}{cells}{grows:9.2f}")


if __name__ == "__main__":
    main()
