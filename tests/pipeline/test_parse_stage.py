"""Pages under limits: each ends in a value, and the next page is served."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from chunker import tokens
from chunker.policy import Policy
from crawler.model import Scope
from pipeline import records
from pipeline.ledger import Job, Pins, Source
from pipeline.pages import Emptied, Failed, Prepared, Removal, Unchanged
from pipeline.pagestore import PageStore
from pipeline.parse_stage import Limits, ParseStage

NOW = datetime(2026, 5, 1, tzinfo=UTC)
SOURCE = Source(
    name="docs",
    customer="acme",
    scope=Scope(seeds=("https://a.example/",)),
    pins=Pins(policy=Policy(), parser="1", embedder="m", dimensions=4, sparse="s"),
    build=1,
    created_at=NOW,
    pass_number=1,
    pass_open=True,
    pass_ended_at=None,
    verdicts="",
    settled_verdicts="",
)
SMALL = b"<main><h1>Opening hours</h1><p>The harbour office opens at nine o'clock.</p></main>"
LARGE = b"<main>" + b"<p>The harbour office opens at nine o'clock, every day.</p>" * 20_000


@pytest.fixture
def store(tmp_path: Path) -> PageStore:
    return PageStore(str(tmp_path))


@pytest.fixture
def stage(store: PageStore) -> ParseStage:
    return ParseStage(SOURCE, store, tokens.count)


def job(store: PageStore, body: bytes, name: str = "x", kind: str = "text/html") -> Job:
    digest = store.put_body("acme", body)
    return Job(
        source="docs",
        url=f"https://a.example/{name}",
        wanted=f"{digest}::pins",
        body_hash=digest,
        content_type=kind,
        title=None,
        fetched_at=NOW,
        document_hash=None,
        chunks=0,
        attempts=0,
        indexed_at=None,
        verdicts="",
    )


def test_a_page_comes_out_checked_and_chunked(stage: ParseStage, store: PageStore) -> None:
    [page] = stage.run([job(store, SMALL)])
    assert isinstance(page, Prepared)
    assert "nine o'clock" in page.chunks[0].text
    assert store.blocks("acme", "docs", page.job.url)


def test_what_differs_after_parsing_alone_is_not_parsed_again(
    stage: ParseStage, store: PageStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = job(store, SMALL)
    [page] = stage.run([first])
    assert isinstance(page, Prepared)
    record = records.to_json(first, page.document, page.plan, page.chunks, ["id"])
    store.put_record("acme", "docs", 1, first.url, record)
    again = replace(first, wanted=f"{first.body_hash}::other", indexed_at=NOW)
    other = replace(again, wanted=f"{first.body_hash}:verdicts:pins")
    with monkeypatch.context() as patched:
        patched.setattr("chunker.parse", None)
        [kept] = stage.run([again])
        assert isinstance(kept, Prepared)
        assert kept.chunks == page.chunks
        [failed] = stage.run([other])  # other verdicts: it would have to be parsed
        assert isinstance(failed, Failed)
        patched.setattr("pipeline.records.PARSER_VERSION", "next")
        [failed] = stage.run([again])
        assert isinstance(failed, Failed)


def test_an_equal_document_is_recognised(stage: ParseStage, store: PageStore) -> None:
    [page] = stage.run([job(store, SMALL)])
    assert isinstance(page, Prepared)
    body = SMALL + b"<!-- served at 12:00:07 --><script>token = 'a81f'</script>"
    again = replace(job(store, body), document_hash=page.document.content_hash)
    assert stage.run([again]) == [Unchanged(again)]


def test_a_page_to_be_removed_is_not_read(stage: ParseStage, store: PageStore) -> None:
    gone = replace(job(store, SMALL), body_hash=None, wanted=None)
    assert stage.run([gone]) == [Removal(gone)]


def test_a_page_that_loses_all_its_text_is_not_indexed_as_empty(
    stage: ParseStage, store: PageStore
) -> None:
    shell = b"<!doctype html><title>Shop</title><div id=root></div><script src=/app.js></script>"
    before = replace(job(store, shell), chunks=3, has_changed=True)
    assert isinstance(stage.run([before])[0], Emptied)
    never = replace(before, chunks=0)
    assert isinstance(stage.run([never])[0], Prepared)


def test_a_page_over_its_deadline_fails_by_that_name_and_the_next_is_served(
    stage: ParseStage, store: PageStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    # On a busy machine a library may hold on for longer: what would end then are the tests.
    monkeypatch.setattr("pipeline.parse_stage.GRACE", 600.0)
    stage.run([job(store, SMALL)])  # what is imported on the way is not the page's
    [large] = stage.run([job(store, LARGE * 5, "large")], Limits(seconds=0.05, memory=0))
    [small] = stage.run([job(store, SMALL, "small")], Limits(seconds=60, memory=0))
    assert isinstance(large, Failed)
    assert (large.reason, large.transient) == ("deadline", False)
    assert isinstance(small, Prepared)


def test_a_body_that_is_not_there_is_named(stage: ParseStage, store: PageStore) -> None:
    lost = replace(job(store, SMALL), body_hash="0" * 64)
    [page] = stage.run([lost])
    assert isinstance(page, Failed)
    assert page.reason == "missing_body"


def test_a_damaged_page_fails_alone(stage: ParseStage, store: PageStore) -> None:
    broken, whole = stage.run(
        [job(store, b"%PDF-1.7 and no more", "a", "application/pdf"), job(store, SMALL)]
    )
    assert isinstance(broken, Failed)
    assert broken.reason == "unreadable"
    assert isinstance(whole, Prepared)


_IN_LITTLE_MEMORY = """
import json, sys
from pathlib import Path
from tests.pipeline import test_parse_stage as t
from pipeline.parse_stage import limit_memory
store = t.PageStore(sys.argv[1])
stage = t.ParseStage(t.SOURCE, store, t.tokens.count)
jobs = [t.job(store, t.LARGE * 8, "large"), t.job(store, t.SMALL, "small")]
stage.run(jobs[1:])
limit_memory(int(Path("/proc/self/statm").read_text().split()[5]) * 4096 + 40 * 2**20)
print(json.dumps([getattr(page, "reason", "prepared") for page in stage.run(jobs)]))
"""


def test_a_page_that_takes_too_much_memory_fails_by_that_name(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _IN_LITTLE_MEMORY, str(tmp_path)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == ["memory", "prepared"]
