"""The main job on real input: a real crawl, parse, embedding model, vector engine, and Ray."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from examples.questions import read_questions
from examples.server import Running, serve
from tests.pipeline.command import contents, wrac

pytestmark = pytest.mark.timeout(300)
SITE = "port-auben"


@pytest.fixture(scope="module")
def site() -> Iterator[Running]:
    with serve([SITE]) as running:
        yield running


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("main-job") / "home"


def ingest(home: Path, site: Running, *more: str) -> tuple[int, dict]:  # type: ignore[type-arg]
    url = f"{site.urls[SITE]}/"
    return wrac(home, "ingest", url, "--source", SITE, "--allow-host", "127.0.0.1", *more)


@pytest.fixture(scope="module")
def ingested(home: Path, site: Running) -> dict:  # type: ignore[type-arg]
    code, answer = ingest(home, site)
    assert code == 0, answer
    return answer


def test_every_page_of_the_site_is_accounted_for(ingested: dict, home: Path) -> None:  # type: ignore[type-arg]
    assert ingested["pages"]["indexed"] >= 12
    assert ingested["errors"] == []
    _, listed = wrac(home, "pages", "--source", SITE)
    reasons = {page["reason"] for page in listed["pages"] if page["state"] == "skipped"}
    assert {"redirect", "not_found", "robots"} <= reasons
    assert all(page["reason"] for page in listed["pages"] if page["state"] != "indexed")


def test_the_three_agree(ingested: dict, home: Path) -> None:  # type: ignore[type-arg]
    code, answer = wrac(home, "verify")
    assert (code, answer["ok"], answer["problems"]) == (0, True, [])
    assert answer["points"] == answer["chunks"] == ingested["chunks"]["added"]


@pytest.mark.parametrize(
    "question", [one for one in read_questions() if one.site == SITE], ids=lambda one: one.text
)
def test_a_question_is_answered(ingested: dict, home: Path, site: Running, question) -> None:  # type: ignore[type-arg,no-untyped-def]
    _, answer = wrac(home, "search", question.text, "-k", "3")
    hits = answer["hits"]
    assert hits[0]["url"] == site.urls[SITE] + question.path
    assert any(question.phrase in hit["text"] for hit in hits)
    assert {"score", "dense_rank", "sparse_rank", "source", "chunk_id", "fetched_at"} <= set(
        hits[0]
    )


def test_what_is_around_the_pages_is_not_indexed(ingested: dict, home: Path) -> None:  # type: ignore[type-arg]
    texts = [row[3] for row in contents(home, SITE)]
    assert not any(
        "cookie" in str(text).lower() and "accept" in str(text).lower() for text in texts
    )


def test_running_it_again_costs_no_body_no_plan_and_no_embedding(
    ingested: dict,  # type: ignore[type-arg]
    home: Path,
    site: Running,
) -> None:
    before = contents(home, SITE)
    fetched = [hit["fetched_at"] for hit in wrac(home, "search", "parking")[1]["hits"]]
    code, again = ingest(home, site)
    assert code == 0
    later = [hit["fetched_at"] for hit in wrac(home, "search", "parking")[1]["hits"]]
    assert all(new > old for new, old in zip(later, fetched, strict=True))
    assert again["plans"]["made"] == again["embeddings"]["made"] == 0
    assert again["pages"]["fetched"] == 0
    assert again["pages"]["indexed"] == again["pages"]["deleted"] == 0
    assert contents(home, SITE) == before


def test_an_edited_page_costs_its_changed_chunks(
    ingested: dict,  # type: ignore[type-arg]
    home: Path,
    site: Running,
) -> None:
    before = contents(home, SITE)
    question = next(one for one in read_questions() if one.site == SITE)
    site.sites[SITE].edit(question.path, question.phrase, f"{question.phrase} since today")
    _, changed = ingest(home, site)
    assert changed["pages"]["indexed"] == 1
    assert 1 <= changed["chunks"]["added"] <= 3
    assert changed["chunks"]["added"] == changed["chunks"]["deleted"]
    after = contents(home, SITE)
    assert len(after) == len(before)
    assert any("since today" in str(row[3]) for row in after)
    assert wrac(home, "verify")[1]["ok"]


def test_a_removed_page_leaves_the_index_when_a_second_visit_confirms_it(
    ingested: dict,  # type: ignore[type-arg]
    home: Path,
    site: Running,
) -> None:
    question = [one for one in read_questions() if one.site == SITE][-1]
    site.sites[SITE].remove(question.path)
    url = site.urls[SITE] + question.path
    assert ingest(home, site)[1]["pages"]["deleted"] == 0
    assert any(row[0] == url for row in contents(home, SITE))
    assert ingest(home, site)[1]["pages"]["deleted"] == 1
    assert not any(row[0] == url for row in contents(home, SITE))
    assert wrac(home, "verify")[1]["ok"]


def test_why_follows_a_paragraph_to_its_rank(ingested: dict, home: Path, site: Running) -> None:  # type: ignore[type-arg]
    question = [one for one in read_questions() if one.site == SITE][1]
    url = site.urls[SITE] + question.path
    _, found = wrac(home, "why", question.phrase, "--url", url, "--query", question.text)
    assert (found["stage"], found["evidence"]["rank"] <= 3) == ("found", True)
    _, never = wrac(home, "why", "no such words anywhere here", "--url", url)
    assert never["stage"] == "fetch"
    _, unknown = wrac(home, "why", question.phrase, "--url", site.urls[SITE] + "/none")
    assert unknown["stage"] == "scope"


def test_another_policy_is_applied_without_a_request(
    ingested: dict,  # type: ignore[type-arg]
    home: Path,
    site: Running,
) -> None:
    (home.parent / "small.toml").write_text("target_tokens = 60\nmax_tokens = 100\n")
    arguments = ("rechunk", "--source", SITE, "--policy", "small.toml")
    asked = len(site.requests)
    _, forecast = wrac(home, *arguments, "--dry-run")
    code, done = wrac(home, *arguments)
    assert code == 0
    assert done["chunks"]["added"] == forecast["chunks_added"] > 0
    assert done["chunks"]["kept"] == forecast["chunks_kept"]
    assert done["chunks"]["deleted"] == forecast["chunks_deleted"]
    assert done["embeddings"]["made"] == forecast["embeddings_needed"]
    assert len(site.requests) == asked
    assert wrac(home, "verify")[1]["ok"]
    assert wrac(home, *arguments)[1]["chunks"] == {"added": 0, "kept": 0, "deleted": 0}


def test_forgetting_leaves_nothing(ingested: dict, home: Path) -> None:  # type: ignore[type-arg]
    code, receipt = wrac(home, "forget", "--source", SITE)
    assert code == 0
    assert receipt["removed"][0]["points"] > 0
    left = [path for path in (home / "store").rglob("*") if path.is_file()]
    assert left == []
    code, answer = wrac(home, "search", "anything", "--source", SITE)
    assert (code, answer["error"]["code"]) == (2, "unknown_source")
