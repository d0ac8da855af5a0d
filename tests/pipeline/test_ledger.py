"""The ledger's contract, on every database it runs on."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from threading import Barrier

import pytest
from sqlalchemy import select, update

from chunker.policy import Policy
from crawler.model import Fetched, Found, Missed, NotModified, Scope
from pipeline.errors import HomeError, SourceBusyError, UnknownSourceError, UsageError
from pipeline.ledger import Ledger, Pins, Source, open_ledger, schema
from pipeline.ledger.work import Done

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
SEED = "https://a.example/"
PINS = Pins(policy=Policy(), parser="1", embedder="m@1", dimensions=4, sparse="bm25@1")
PINNED = PINS.fingerprint


def declare(ledger: Ledger, name: str = "docs", customer: str = "acme", pins: Pins = PINS) -> int:
    ledger.sources.declare(name, customer, Scope(seeds=(SEED,)), pins, NOW)
    ledger.visits.discovered(name, [Found(SEED, 0, None)])
    return ledger.sources.begin_pass(name)


def fetched(url: str = SEED, body: bytes = b"x", **more: object) -> Fetched:
    base = Fetched(url, url, 200, {}, "text/html", body, NOW)
    return replace(base, **more)  # type: ignore[arg-type]


def visit(ledger: Ledger, page: Fetched, body_hash: str = "h1", number: int = 1) -> None:
    ledger.visits.discovered("docs", [Found(page.url, 1, SEED)])
    ledger.visits.record("docs", number, [(page, body_hash)], PINNED)


def miss(ledger: Ledger, outcome: Missed, number: int = 1) -> None:
    ledger.visits.record("docs", number, [(outcome, "")], PINNED)


def index(ledger: Ledger, chunks: int = 2) -> list[str]:
    """Do all the work there is; returns the URLs."""
    urls = []
    while jobs := ledger.work.claim("docs", "run", 10):
        ledger.work.done([Done(job, chunks, "d", "T") for job in jobs], NOW)
        urls += [job.url for job in jobs]
    return urls


def states(ledger: Ledger) -> dict[str, tuple[str, str | None]]:
    return {row.url: (row.state, row.reason) for row in ledger.pages.rows("docs")}


def test_a_source_is_kept_as_it_was_declared(ledger: Ledger) -> None:
    scope = Scope(seeds=(SEED,), exclude=("*/old/*",), max_pages=7)
    ledger.sources.declare("docs", "acme", scope, PINS, NOW)
    source = ledger.sources.get("docs")
    assert (source.customer, source.scope, source.pins) == ("acme", scope, PINS)


def test_a_source_that_two_calls_declare_at_once_is_one(ledger: Ledger) -> None:
    at_once = Barrier(2)

    def call(name: str) -> Source:
        at_once.wait()
        return ledger.sources.declare(name, "acme", Scope(seeds=(SEED,)), PINS, NOW)

    with ThreadPoolExecutor(2) as threads:
        for name in ("a", "b", "c", "d"):
            first, second = threads.map(call, (name, name))
            assert first == second


def test_a_ledger_that_several_open_first_is_made_once(ledger_url: str) -> None:
    at_once = Barrier(3)

    def call(_: int) -> None:
        at_once.wait()
        open_ledger(ledger_url).close()

    with ThreadPoolExecutor(3) as threads:
        list(threads.map(call, range(3)))
    opened = open_ledger(ledger_url)
    with opened.engine.connect() as connection:
        assert connection.scalars(select(schema.schema.c.version)).all() == [schema.VERSION]
    opened.close()


def test_a_source_belongs_to_one_customer(ledger: Ledger) -> None:
    declare(ledger)
    with pytest.raises(UsageError, match="belongs to customer acme"):
        declare(ledger, customer="other")


def test_an_unknown_source_is_named_with_those_that_there_are(ledger: Ledger) -> None:
    declare(ledger)
    with pytest.raises(UnknownSourceError) as raised:
        ledger.sources.get("dosc")
    assert "docs" in raised.value.hint


def test_an_interrupted_pass_is_gone_on_with(ledger: Ledger) -> None:
    assert declare(ledger) == 1
    assert ledger.sources.begin_pass("docs") == 1
    ledger.sources.end_pass("docs", NOW)
    assert ledger.sources.begin_pass("docs") == 2


def test_pending_urls_come_nearest_first_and_each_pass_once(ledger: Ledger) -> None:
    declare(ledger)
    ledger.visits.discovered(
        "docs", [Found(SEED + "b", 2, SEED), Found(SEED + "a", 1, SEED), Found(SEED + "c", 1, SEED)]
    )
    tasks = ledger.visits.pending("docs", 10, ())
    assert [task.url for task in tasks] == [SEED, SEED + "a", SEED + "c", SEED + "b"]
    visit(ledger, fetched())
    assert [t.url for t in ledger.visits.pending("docs", 2, {SEED + "a"})] == [
        SEED + "c",
        SEED + "b",
    ]
    ledger.sources.end_pass("docs", NOW)
    ledger.sources.begin_pass("docs")
    assert SEED in [task.url for task in ledger.visits.pending("docs", 10, ())]


def test_validators_are_offered_only_for_a_page_whose_body_is_kept(ledger: Ledger) -> None:
    declare(ledger)
    visit(ledger, fetched(etag='"e"', last_modified="Mon"))
    ledger.visits.discovered("docs", [Found(SEED + "a", 1, SEED)])
    ledger.sources.end_pass("docs", NOW)
    ledger.sources.begin_pass("docs")
    first, second = ledger.visits.pending("docs", 10, ())
    assert (first.etag, first.last_modified) == ('"e"', "Mon")
    assert (second.etag, second.last_modified) == (None, None)


def test_a_url_out_of_scope_is_listed_and_not_visited_until_it_comes_into_scope(
    ledger: Ledger,
) -> None:
    declare(ledger)
    visit(ledger, fetched())
    ledger.visits.discovered("docs", [Found(SEED + "a", 9, SEED, "too_deep")])
    assert states(ledger)[SEED + "a"] == ("skipped", "too_deep")
    assert ledger.visits.pending("docs", 10, ()) == []
    ledger.visits.discovered("docs", [Found(SEED + "a", 2, SEED)])
    assert [task.url for task in ledger.visits.pending("docs", 10, ())] == [SEED + "a"]


def test_a_changed_scope_takes_known_urls_out_and_in_again(ledger: Ledger) -> None:
    declare(ledger)
    visit(ledger, fetched())
    visit(ledger, fetched(SEED + "old"), "h2")
    index(ledger)
    ledger.settlements.rescope("docs", lambda url, depth: "excluded" if "old" in url else None)
    [job] = ledger.work.claim("docs", "run", 10)
    assert (job.url, job.body_hash) == (SEED + "old", None)
    ledger.work.done([Done(job, 0, None, None)], NOW)
    assert states(ledger)[SEED + "old"] == ("skipped", "excluded")
    assert ledger.settlements.rescope("docs", lambda url, depth: None) == 1
    assert SEED + "old" in [task.url for task in ledger.visits.pending("docs", 10, ())]


@pytest.mark.parametrize("reason", ["trap", "nofollow"])
def test_a_changed_scope_lets_nothing_in_that_it_did_not_keep_out(
    ledger: Ledger, reason: str
) -> None:
    declare(ledger)
    ledger.visits.discovered("docs", [Found(SEED + "2031/01", 1, SEED, reason)])
    assert ledger.settlements.rescope("docs", lambda url, depth: None) == 0
    assert states(ledger)[SEED + "2031/01"] == ("skipped", reason)


def test_work_is_what_differs(ledger: Ledger) -> None:
    declare(ledger)
    visit(ledger, fetched())
    assert ledger.work.waiting("docs") == 1
    assert index(ledger) == [SEED]
    assert ledger.work.waiting("docs") == 0
    visit(ledger, fetched(), "h1", 2)  # the same body again
    assert index(ledger) == []
    visit(ledger, fetched(), "h2", 3)
    assert index(ledger) == [SEED]


def test_a_crawl_and_the_loop_write_to_the_same_pages_at_the_same_time(ledger: Ledger) -> None:
    declare(ledger)
    urls = [f"{SEED}p{number:02}" for number in range(20)]
    links = tuple(Found(url, 1, SEED) for url in urls)
    visits = [(fetched(url, links=links), "h") for url in reversed(urls)]
    ledger.visits.record("docs", 1, visits, PINNED)
    jobs = ledger.work.claim("docs", "run", 100)
    done = [Done(job, 1, "d", "T") for job in jobs]

    def crawl() -> None:
        for _ in range(25):
            ledger.visits.record("docs", 1, visits, PINNED)

    def loop() -> None:
        for number in range(50):
            ledger.work.done(done, NOW)
            ledger.sources.publish("docs", f"v{number}", urls, settled=False)

    with ThreadPoolExecutor(2) as threads:
        for call in [threads.submit(crawl), threads.submit(loop)]:
            call.result()


def test_a_claimed_page_is_not_claimed_twice_by_one_run(ledger: Ledger) -> None:
    declare(ledger)
    visit(ledger, fetched())
    assert len(ledger.work.claim("docs", "run", 10)) == 1
    assert ledger.work.claim("docs", "run", 10) == []
    ledger.work.release_all("docs")
    assert len(ledger.work.claim("docs", "run2", 10)) == 1


def test_a_page_that_changes_while_it_is_worked_on_still_differs(ledger: Ledger) -> None:
    declare(ledger)
    visit(ledger, fetched())
    [job] = ledger.work.claim("docs", "run", 10)
    visit(ledger, fetched(), "h2", 1)
    ledger.work.done([Done(job, 1, "d", "T")], NOW)
    assert ledger.work.waiting("docs") == 1


def test_a_page_tried_before_comes_alone(ledger: Ledger) -> None:
    declare(ledger)
    for name in "abc":
        visit(ledger, fetched(SEED + name))
    for job in ledger.work.claim("docs", "run", 10):
        ledger.work.give_back(job)
    assert [len(ledger.work.claim("docs", "run", 10)) for _ in range(4)] == [1, 1, 1, 0]


def test_a_failed_page_is_set_aside_until_it_changes(ledger: Ledger) -> None:
    declare(ledger)
    visit(ledger, fetched())
    [job] = ledger.work.claim("docs", "run", 10)
    ledger.work.failed(job, "unreadable", "no text")
    assert ledger.work.claim("docs", "run", 10) == []
    assert states(ledger)[SEED] == ("failed", "unreadable")
    visit(ledger, fetched(), "h2", 2)
    assert index(ledger) == [SEED]


def test_a_page_that_was_set_aside_is_tried_again_by_the_next_pass(ledger: Ledger) -> None:
    declare(ledger)
    visit(ledger, fetched())
    [job] = ledger.work.claim("docs", "run", 10)
    ledger.work.failed(job, "deadline", "took too long")
    ledger.sources.begin_pass("docs")  # the same pass, gone on with
    assert ledger.work.claim("docs", "run", 10) == []
    ledger.sources.end_pass("docs", NOW)
    ledger.sources.begin_pass("docs")
    assert index(ledger) == [SEED]


def test_a_change_of_pins_makes_every_page_differ_and_a_failed_one_again(ledger: Ledger) -> None:
    declare(ledger)
    visit(ledger, fetched())
    visit(ledger, fetched(SEED + "bad"), "h2")
    for job in ledger.work.claim("docs", "run", 10):
        if job.url == SEED:
            ledger.work.done([Done(job, 1, "d", "T")], NOW)
        else:
            ledger.work.failed(job, "unreadable", "")
    declare(ledger)  # the same again: nothing to do
    assert ledger.work.waiting("docs") == 0
    declare(ledger, pins=replace(PINS, policy=Policy(max_tokens=200)))
    jobs = ledger.work.claim("docs", "run", 10)
    assert {job.url for job in jobs} == {SEED, SEED + "bad"}
    # Made with other pins: an equal document does not mean equal chunks.
    assert {job.document_hash for job in jobs} == {None}


def test_noindex_withdraws_a_page_at_the_end_of_the_pass(ledger: Ledger) -> None:
    declare(ledger)
    visit(ledger, fetched(etag='"e"', last_modified="Mon"))
    index(ledger)
    visit(ledger, fetched(noindex=True), "h1", 2)
    assert ledger.work.waiting("docs") == 0
    assert states(ledger)[SEED] == ("indexed", "held")
    ledger.settlements.settle("docs", PINNED, 1.0)
    [job] = ledger.work.claim("docs", "run", 10)
    assert job.body_hash is None
    ledger.work.done([Done(job, 0, None, None)], NOW)
    assert states(ledger)[SEED] == ("skipped", "noindex")
    # The body on record is the one before: "not modified" would say nothing of the page now.
    ledger.sources.end_pass("docs", NOW)
    ledger.sources.begin_pass("docs")
    (task,) = ledger.visits.pending("docs", 10, ())
    assert (task.etag, task.last_modified) == (None, None)


def test_a_page_that_is_gone_is_removed_when_a_later_visit_confirms_it(ledger: Ledger) -> None:
    declare(ledger)
    visit(ledger, fetched())
    index(ledger)
    gone = Missed(SEED, "not_found", 404, NOW)
    miss(ledger, gone, 2)
    assert ledger.work.waiting("docs") == 0
    miss(ledger, gone, 3)
    ledger.settlements.settle("docs", PINNED, 1.0)
    [job] = ledger.work.claim("docs", "run", 10)
    ledger.work.done([Done(job, 0, None, None)], NOW)
    assert states(ledger)[SEED][0] == "deleted"
    visit(ledger, fetched(), "h1", 4)  # and is back
    assert index(ledger) == [SEED]


def test_a_site_that_fails_for_an_hour_keeps_its_index(ledger: Ledger) -> None:
    declare(ledger)
    visit(ledger, fetched())
    index(ledger)
    for number in (2, 3, 4):
        miss(ledger, Missed(SEED, "server_error", 500, NOW, transient=True), number)
    assert ledger.work.waiting("docs") == 0
    assert states(ledger)[SEED][0] == "indexed"


def test_not_modified_costs_nothing(ledger: Ledger) -> None:
    declare(ledger)
    visit(ledger, fetched())
    index(ledger)
    ledger.visits.record("docs", 2, [(NotModified(SEED, NOW + timedelta(days=1)), "")], PINNED)
    assert ledger.work.waiting("docs") == 0
    assert ledger.visits.pending("docs", 10, ()) == []


@pytest.mark.parametrize(
    ("status", "reason", "visits"),
    [
        (301, "redirect", 1),
        (308, "redirect", 1),
        (302, "redirect", 2),
        (307, "redirect", 2),
        (200, "redirect", 2),  # a meta refresh
        (301, "out_of_scope", 2),
    ],
)
def test_a_page_gives_way_to_a_redirect_for_good_at_once_and_to_others_when_confirmed(
    ledger: Ledger, status: int, reason: str, visits: int
) -> None:
    declare(ledger)
    visit(ledger, fetched())
    index(ledger)
    for number in range(2, visits + 2):
        assert ledger.work.waiting("docs") == 0
        miss(ledger, Missed(SEED, reason, status, NOW, target=SEED + "notice"), number)
        ledger.settlements.settle("docs", PINNED, 1.0)
    [job] = ledger.work.claim("docs", "run", 10)
    assert job.body_hash is None


def test_a_redirect_is_an_alias(ledger: Ledger) -> None:
    declare(ledger)
    ledger.visits.discovered("docs", [Found(SEED + "old", 1, SEED)])
    miss(ledger, Missed(SEED + "old", "redirect", 301, NOW, target=SEED + "new"), 1)
    visit(ledger, fetched(SEED + "new"))
    index(ledger)
    rows = {row.url: row for row in ledger.pages.rows("docs")}
    assert rows[SEED + "old"].canonical == SEED + "new"
    assert rows[SEED + "old"].state == "skipped"
    assert rows[SEED + "new"].aliases == (SEED + "old",)


@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")])
def test_a_page_gives_way_to_its_canonical_page_in_any_order(
    ledger: Ledger, order: tuple[str, str]
) -> None:
    declare(ledger)
    for name in order:
        canonical = SEED + "b" if name == "a" else None
        visit(ledger, fetched(SEED + name, canonical=canonical), f"h{name}")
    ledger.settlements.settle("docs", PINNED, 1.0)
    assert index(ledger) == [SEED + "b"]
    assert states(ledger)[SEED + "a"] == ("skipped", "duplicate")


def test_a_page_whose_canonical_page_is_not_there_stands_for_itself(ledger: Ledger) -> None:
    declare(ledger)
    visit(ledger, fetched(SEED + "a", canonical=SEED + "none"))
    miss(ledger, Missed(SEED + "none", "not_found", 404, NOW), 1)
    assert index(ledger) == []
    ledger.settlements.settle("docs", PINNED, 1.0)
    assert index(ledger) == [SEED + "a"]
    # The next pass says the same again: nothing is removed meanwhile.
    visit(ledger, fetched(SEED + "a", canonical=SEED + "none"), "h1", 2)
    assert ledger.work.waiting("docs") == 0
    ledger.settlements.settle("docs", PINNED, 1.0)
    assert ledger.work.waiting("docs") == 0


def test_a_canonical_page_that_ceases_gives_its_place_back(ledger: Ledger) -> None:
    declare(ledger)
    visit(ledger, fetched(SEED + "a", canonical=SEED + "b"), "ha")
    visit(ledger, fetched(SEED + "b"), "hb")
    ledger.settlements.settle("docs", PINNED, 1.0)
    assert index(ledger) == [SEED + "b"]
    for number in (2, 3):
        miss(ledger, Missed(SEED + "b", "not_found", 404, NOW), number)
        ledger.settlements.settle("docs", PINNED, 1.0)
    assert index(ledger) == [SEED + "a", SEED + "b"]  # one added, one removed


def test_in_a_cycle_of_canonicals_the_least_url_stands(ledger: Ledger) -> None:
    declare(ledger)
    for name, other in (("a", "c"), ("b", "a"), ("c", "b")):
        visit(ledger, fetched(SEED + name, canonical=SEED + other), f"h{name}")
    ledger.settlements.settle("docs", PINNED, 1.0)
    assert index(ledger) == [SEED + "a"]


def test_what_a_dead_run_may_have_changed_is_made_again(ledger: Ledger) -> None:
    declare(ledger)
    visit(ledger, fetched())
    index(ledger)
    declare(ledger, pins=replace(PINS, policy=Policy(target_tokens=99)))
    assert ledger.work.claim("docs", "dead", 10)  # swapped in the index, and not recorded
    declare(ledger)  # back to what the ledger has on record
    ledger.work.release_all("docs")
    assert index(ledger) == [SEED]
    assert ledger.work.waiting("docs") == 0


def test_what_a_dead_run_may_have_indexed_is_removed_when_it_leaves_the_scope(
    ledger: Ledger,
) -> None:
    declare(ledger)
    visit(ledger, fetched())
    assert ledger.work.claim("docs", "dead", 10)
    assert list(ledger.pages.indexed("docs")) == []
    ledger.settlements.rescope("docs", lambda url, depth: "excluded")
    ledger.work.release_all("docs")
    (job,) = ledger.work.claim("docs", "run", 10)
    assert job.body_hash is None


def test_a_failed_visit_unsays_no_noindex(ledger: Ledger) -> None:
    declare(ledger)
    visit(ledger, fetched(noindex=True, canonical=SEED + "none"))
    miss(ledger, Missed(SEED, "server_error", 500, NOW, transient=True), 2)
    ledger.settlements.settle("docs", PINNED, 1.0)
    assert index(ledger) == []
    assert states(ledger)[SEED] == ("skipped", "noindex")


def test_a_page_that_answers_again_has_no_reason_left(ledger: Ledger) -> None:
    declare(ledger)
    visit(ledger, fetched())
    index(ledger)
    miss(ledger, Missed(SEED, "server_error", 500, NOW, transient=True), 2)
    assert states(ledger)[SEED] == ("indexed", "server_error")
    ledger.visits.record("docs", 3, [(NotModified(SEED, NOW), "")], PINNED)
    assert states(ledger)[SEED] == ("indexed", None)


def test_a_page_that_is_set_aside_says_why_for_as_long_as_it_is(ledger: Ledger) -> None:
    declare(ledger)
    visit(ledger, fetched())
    (job,) = ledger.work.claim("docs", "run", 10)
    ledger.work.failed(job, "deadline", "30 s")
    visit(ledger, fetched(), number=2)
    assert states(ledger)[SEED] == ("failed", "deadline")
    ledger.visits.record("docs", 3, [(NotModified(SEED, NOW), "")], PINNED)
    assert states(ledger)[SEED] == ("failed", "deadline")
    visit(ledger, fetched(), "h2", 4)
    assert states(ledger)[SEED] == ("pending", None)


def test_a_source_is_held_by_one_run(ledger: Ledger) -> None:
    declare(ledger)
    ledger.sources.take("docs", "first", NOW)
    with pytest.raises(SourceBusyError, match="first"):
        ledger.sources.take("docs", "second", NOW)
    ledger.sources.take("docs", "first", NOW + timedelta(seconds=50))
    with pytest.raises(SourceBusyError):
        ledger.sources.take("docs", "second", NOW + timedelta(seconds=70))
    ledger.sources.take("docs", "second", NOW + timedelta(seconds=200))
    ledger.sources.take("docs", "third", NOW + timedelta(seconds=200), dead="second")
    ledger.sources.release("docs", "second")
    assert ledger.sources.runner("docs") == "third"


def test_forgetting_a_source_leaves_the_others(ledger: Ledger) -> None:
    declare(ledger)
    visit(ledger, fetched())
    ledger.sources.declare("other", "acme", Scope(seeds=(SEED,)), PINS, NOW)
    ledger.usage.add("acme", NOW.date(), {"requests": 3})
    assert ledger.sources.forget("docs") == 1
    ledger.sources.compact()
    assert [source.name for source in ledger.sources.all()] == ["other"]
    assert ledger.usage.by_day() == [("acme", "2026-05-01", "requests", 3)]
    ledger.sources.forget("other")
    assert ledger.usage.by_day() == []


def test_usage_adds_up(ledger: Ledger) -> None:
    for _ in range(3):
        ledger.usage.add("acme", NOW.date(), {"requests": 2, "bytes": 0})
    assert ledger.usage.by_day("acme") == [("acme", "2026-05-01", "requests", 6)]


def test_counts_add_up_to_the_pages(ledger: Ledger) -> None:
    declare(ledger)
    visit(ledger, fetched())
    visit(ledger, fetched(SEED + "n", noindex=True))
    ledger.visits.discovered("docs", [Found(SEED + "w", 1, SEED)])
    index(ledger)
    counts = ledger.pages.counts("docs")
    assert (counts.indexed, counts.skipped, counts.pending, counts.chunks) == (1, 1, 1, 2)


def test_a_ledger_of_a_newer_schema_is_refused_by_name(ledger: Ledger, ledger_url: str) -> None:
    with ledger.engine.begin() as connection:
        connection.execute(update(schema.schema).values(version=99))
    with pytest.raises(HomeError, match="schema 99"):
        open_ledger(ledger_url)
