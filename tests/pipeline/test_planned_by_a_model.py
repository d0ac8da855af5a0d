"""Pages planned by a model, through the real command and real HTTP; only the model is a fake."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.pipeline.command import contents, wrac
from tests.planner_serving.openai_server import MODEL, Behaviour, FakeOpenAI, serve

pytestmark = pytest.mark.timeout(600)

PAGES = 6
POLICY = 'planner = "endpoint"\n'


class Site:
    """A small site whose pages say different things."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.pages: dict[str, str] = {"/": self._index()}
        for number in range(1, PAGES):
            self.pages[f"/{number}"] = self._page(number)

    def _index(self) -> str:
        links = "".join(f'<li><a href="/{n}">Boat {n}</a></li>' for n in range(1, PAGES))
        return (
            f"<main><h1>Boats</h1><p>These are all of our boats, old and new.</p><ul>{links}</ul>"
        )

    def _page(self, number: int) -> str:
        return (
            f"<title>Boat {number}</title><main><h1>Boat {number}</h1>"
            f"<p>This boat has {number} masts, and sails whenever the wind allows.</p>"
            f"<p>Opening hours of boat {number}</p><p>It is open from {number} until ten.</p>"
            f"<h2>Fares</h2><p>A ticket is {number} crowns, and children go free.</p></main>"
        )


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = made.pages.get(self.path, "").encode()
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        made = Site(f"http://127.0.0.1:{server.server_port}")
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield made
        server.shutdown()


@pytest.fixture
def model() -> Iterator[FakeOpenAI]:
    with serve() as fake:
        yield fake


Run = Callable[..., tuple[int, dict[str, Any]]]


@pytest.fixture
def run(tmp_path: Path, site: Site, model: FakeOpenAI) -> Run:
    """`wrac` in a folder whose settings name the model, and a policy that asks it."""
    (tmp_path / "wrac.toml").write_text(
        f'planner_url = "{model.url}"\nplanner_model = "{MODEL}"\nplanner_timeout = 1\n'
    )
    (tmp_path / "policy.toml").write_text(POLICY)

    def call(*arguments: str) -> tuple[int, dict[str, Any]]:
        if arguments[0] == "ingest":
            rest = ("--source", "boats", "--allow-host", "127.0.0.1", *arguments[1:])
            arguments = ("ingest", f"{site.url}/", *rest)
        return wrac(tmp_path / "home", *arguments)

    return call


def test_a_source_lives_with_its_model_and_no_plan_is_paid_for_twice(
    run: Run, model: FakeOpenAI, tmp_path: Path, site: Site
) -> None:
    code, first = run("ingest", "--policy", "policy.toml")
    assert (code, first["pages"]["indexed"]) == (0, PAGES)
    assert first["plans"] == {"made": PAGES, "cached": 0, "repaired": 0, "fallback": 0}
    usage = first["usage"]
    assert usage["calls"] == len(model.requests) == PAGES
    assert usage["input_tokens"] > usage["cached_input_tokens"] > 0 < usage["output_tokens"]
    booked = {row["what"]: row["amount"] for row in run("usage")[1]["usage"]}
    for what in ("calls", "input_tokens", "cached_input_tokens", "output_tokens"):
        assert booked[f"plan_{what}"] == usage[what]
    assert run("verify")[1]["ok"]
    _, status = run("status")
    assert status["caches"]["plans"] | {"bytes": 0} == {"entries": PAGES, "bytes": 0, "damaged": 0}
    assert MODEL in status["sources"][0]["planner"]

    url = f"{site.url}/3"
    code, shown = run("plans", "show", "--url", url)
    assert (code, shown["source"], shown["planner"]) == (0, "boats", f"endpoint:{MODEL}")
    assert shown["usage"]["calls"] == 1
    _, differs = run("plans", "diff", "--url", url)
    assert differs["planners"] == [shown["planner"], "structural"]
    _, same = run("plans", "diff", "--url", url, "--planner", "endpoint")
    assert same["same"] and same["kept"] == len(shown["groups"])

    # A page that is only looked at is paid for once, too, and as nobody's.
    (tmp_path / "page.md").write_text("# A\n\nWords of A.\n\nOpening hours\n\nWords of hours.\n")
    looks = [run("plan", "page.md", "--planner", "endpoint")[1] for _ in range(2)]
    assert [look["cached"] for look in looks] == [False, True]
    assert looks[0]["groups"] == looks[1]["groups"]
    assert len(model.requests) == PAGES + 1
    model.requests.clear()

    # Another policy that asks the same of the model.
    policy = tmp_path / "policy.toml"
    policy.write_text(POLICY + "target_tokens = 60\n")
    _, forecast = run("rechunk", "--source", "boats", "--policy", "policy.toml", "--dry-run")
    assert (forecast["plans_needed"], forecast["plans_cached"]) == (0, PAGES)
    code, rechunked = run("rechunk", "--source", "boats", "--policy", "policy.toml")
    assert rechunked["plans"] == {"made": 0, "cached": PAGES, "repaired": 0, "fallback": 0}
    assert (code, rechunked["usage"]["calls"]) == (0, 0)
    assert model.requests == []

    # A lost cache costs the calls.
    before = [row[3] for row in contents(tmp_path / "home", "boats")]
    for file in (tmp_path / "home").glob("caches.sqlite*"):
        file.unlink()
    policy.write_text(POLICY + "target_tokens = 61\n")
    _, forecast = run("rechunk", "--source", "boats", "--policy", "policy.toml", "--dry-run")
    assert (forecast["plans_needed"], forecast["plans_cached"]) == (PAGES, 0)
    assert forecast["plan_input_tokens"] > PAGES * 100
    assert model.requests == []
    code, again = run("rechunk", "--source", "boats", "--policy", "policy.toml")
    assert (code, again["plans"]["made"], len(model.requests)) == (0, PAGES, PAGES)
    assert [row[3] for row in contents(tmp_path / "home", "boats")] == before

    # Another model in the settings is refused until it is applied.
    settings = tmp_path / "wrac.toml"
    settings.write_text(settings.read_text().replace(MODEL, "another-model"))
    code, refused = run("ingest")
    assert (code, refused["error"]["code"]) == (2, "pinned")
    assert "rechunk" in refused["error"]["hint"]
    code, applied = run("rechunk", "--source", "boats", "--policy", "policy.toml")
    assert (code, applied["plans"]["made"], len(model.requests)) == (0, PAGES, 2 * PAGES)
    assert model.requests[-1]["model"] == "another-model"

    _, shown = run("plans", "show", "--url", url)
    _, dropped = run("plans", "drop", "--source", "boats")
    assert dropped == {"customer": "boats", "sources": ["boats"], "dropped": 2 * PAGES}
    assert run("plans", "show", "--url", url)[1] == shown  # it stays with its page
    code, unknown = run("plans", "show", "--url", f"{site.url}/none")
    assert (code, unknown["error"]["code"]) == (2, "unknown_source")

    # A cache that is away is said to be; only a removal insists.
    settings.write_text(settings.read_text() + f'cache_url = "unix://{tmp_path}/none.sock"\n')
    code, status = run("status")
    assert (code, list(status["caches"]["plans"])) == (0, ["away"])
    code, answer = run("plans", "drop", "--source", "boats")
    assert (code, answer["error"]["code"]) == (3, "cache_unavailable")


def test_an_outage_ends_the_run_and_what_is_no_answer_does_not(run: Run, model: FakeOpenAI) -> None:
    model.always("silence")
    code, answer = run("ingest", "--policy", "policy.toml")
    assert (code, answer["error"]["code"]) == (3, "service_missing")
    assert model.url in answer["error"]["message"]
    said: dict[str, Behaviour] = {"Boat 1": "prose", "Boat 2": "400", "Boat 3": "nonsense"}
    model.behave = lambda request: next(
        (said[name] for name in said if f"1 h1 2 {name}" in str(request) or name in str(request)),
        "answer",
    )
    code, answer = run("ingest")
    assert (code, answer["pages"]["indexed"], answer["pages"]["failed"]) == (0, PAGES, 0)
    assert answer["plans"]["fallback"] == answer["plans"]["repaired"] == 3
    assert run("verify")[1]["ok"]


def test_a_policy_without_its_model_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("# A\n")
    code, answer = wrac(tmp_path / "home", "plan", "page.md", "--planner", "endpoint")
    assert (code, answer["error"]["code"]) == (2, "usage")
    assert "planner_url and planner_model" in answer["error"]["message"]


@pytest.mark.parametrize(
    ("setting", "named"),
    [("", "planner_model_dir"), ("nothing", "nothing is no folder"), (".", "config.json")],
)
def test_a_folder_that_is_no_model_s_is_refused_by_name(
    tmp_path: Path, setting: str, named: str
) -> None:
    (tmp_path / "wrac.toml").write_text(f'planner_model_dir = "{setting}"')
    (tmp_path / "page.md").write_text("# A\n")
    code, answer = wrac(tmp_path / "home", "plan", "page.md", "--planner", "vllm")
    assert (code, answer["error"]["code"]) == (2, "usage")
    assert named in answer["error"]["message"]


@pytest.mark.parametrize(
    ("behaviour", "code", "word"),
    [("429", 3, "planner_busy"), ("404", 2, "planner_model"), ("prose", 0, "")],
)
def test_what_a_model_does_to_a_page_that_is_looked_at(
    run: Run, model: FakeOpenAI, tmp_path: Path, behaviour: Any, code: int, word: str
) -> None:
    model.always(behaviour)
    (tmp_path / "page.md").write_text("# A\n\nWords of A.\n")
    got, answer = run("plan", "page.md", "--planner", "endpoint")
    assert got == code
    if code:
        assert answer["error"]["code"] == word
        assert model.url in answer["error"]["message"]
    else:
        assert answer["repairs"] == ["structural: answer"]


@pytest.mark.parametrize(
    ("page", "units"),
    [("---\n", 0), ("One unit alone.\n", 1), ("# A\n\n## B\n\n### C\n", 3)],
    ids=["no unit", "one unit", "only headings"],
)
def test_small_pages_have_a_plan(run: Run, tmp_path: Path, page: str, units: int) -> None:
    (tmp_path / "page.md").write_text(page)
    code, answer = run("plan", "page.md", "--planner", "endpoint")
    assert code == 0, answer
    assert sum(map(len, answer["groups"])) == units
    assert not any(repair.startswith("structural") for repair in answer["repairs"])


def test_twenty_thousand_units_have_a_plan(run: Run, model: FakeOpenAI, tmp_path: Path) -> None:
    page = "\n\n".join(f"Opening hours of boat {n}\n\nIt is open all day." for n in range(10_000))
    (tmp_path / "page.md").write_text(page)
    settings = tmp_path / "wrac.toml"  # all windows at once, on a machine that does more
    settings.write_text(
        settings.read_text().replace("planner_timeout = 1\n", "planner_timeout = 60\n")
    )
    code, answer = run("plan", "page.md", "--planner", "endpoint")
    assert code == 0, answer
    assert sum(map(len, answer["groups"])) == 20_000
    assert answer["usage"]["calls"] == len(model.requests) > 100
    assert model.most_at_once <= 64
