"""Files that declare sources: all keys, and mistakes named with file, source and key."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunker.policy import Policy
from crawler.model import Politeness
from pipeline.errors import UsageError
from pipeline.settings import Settings
from pipeline.sources import durations, edit, read
from pipeline.sources.access import OpenAccess
from pipeline.sources.spec import AccessSpec
from pipeline.sources.watched import WatchedFiles

TWO = '[sources.two]\nseeds = ["b.example"]\n[sources.three]\nseeds = ["c.example"]\n'
FULL = """
[sources.docs]
customer = "acme"
seeds = ["https://docs.a.example/", "www.b.example"]
include = ["/docs/*"]
exclude = ["*.pdf"]
hosts = ["c.example"]
subdomains = true
parameters = ["id"]
allow_hosts = ["c.example"]
max_pages = 9
max_depth = 3
max_per_template = 70
every = "1d"
between = ["1h", "4w"]
requests_per_day = 1000
bytes_per_day = 1000000
requests_per_second = 0.5
language = "de, en;q=0.5"
render = true
ignore_robots = "the owner asked for it in writing"
policy = "small.toml"
"""


def write(root: Path, text: str, name: str = "docs.toml") -> None:
    (root / "sources.d").mkdir(exist_ok=True)
    (root / "sources.d" / name).write_text(text)


def test_a_file_may_set_every_key(tmp_path: Path) -> None:
    write(tmp_path, FULL.replace("small.toml", "../small.toml"))
    (tmp_path / "small.toml").write_text("target_tokens = 200")
    declared = read(tmp_path)["docs"]
    spec = declared.spec
    assert declared.customer == "acme"
    assert spec.scope.hosts == ("c.example", "*.docs.a.example", "*.b.example")
    assert spec.scope.parameters == ("id",)
    assert declared.policy is not None
    assert declared.policy.target_tokens == 200 != Policy().target_tokens
    schedule = spec.schedule
    assert (schedule.every, schedule.least, schedule.most) == (1, 1 / 24, 28)
    asked = spec.politeness(Settings(user_agent="us (+us@us.example)"))
    assert (asked.delay, asked.concurrency_per_host, asked.obey_robots) == (2.0, 1, False)
    assert asked.language == "de, en;q=0.5"
    assert asked.render and not Politeness("us").render


def test_the_settings_file_and_the_folder_are_read_together(tmp_path: Path) -> None:
    (tmp_path / "wrac.toml").write_text('delay = 1.0\n[sources.one]\nseeds = ["a.example"]\n')
    write(
        tmp_path, '[sources.two]\nseeds = ["b.example"]\n[sources.three]\nseeds = ["c.example"]\n'
    )
    assert sorted(read(tmp_path)) == ["one", "three", "two"]
    write(tmp_path, '[sources.one]\nseeds = ["b.example"]', "again.toml")
    with pytest.raises(UsageError, match=r"source one is in .*wrac.toml and in .*again.toml"):
        read(tmp_path)


@pytest.mark.parametrize(
    ("line", "said", "hint"),
    [
        ('seed = ["a.example"]', "unknown key sources.docs.seed", "did you mean seeds"),
        ('seeds = ["ftp://a.example"]', "sources.docs: the seed 'ftp", ""),
        ("seeds = []", "sources.docs.seeds", "where the site begins"),
        ('seeds = ["a.example"]\nevery = "soon"', "sources.docs.every: 'soon' is no span", ""),
        ('seeds = ["a.example"]\nevery = "1s"', "not between one minute", ""),
        ('seeds = ["a.example"]\nbetween = ["2d", "4w"]', r"every \(1d\) must lie between", ""),
        ('seeds = ["a.example"]\nrender = "often"', "sources.docs.render", "in a browser"),
        ('seeds = ["a.example"]\nmax_pages = 0', "sources.docs.max_pages", "pages fetched"),
        ('seeds = ["a.example"]\npolicy = "none.toml"', "sources.docs.policy: cannot read", ""),
        ('seeds = ["a.example"]\ncustomer = "A B"', "customer name 'A B'", ""),
        ('seeds = ["a.example"]\nlanguage = "de\\nX: y"', "sources.docs.language", ""),
        (
            'seeds = ["a.example"]\naccess.basic = { user = "U", pasword = "P" }',
            "unknown key sources.docs.access.basic.pasword",
            "did you mean password",
        ),
    ],
)
def test_a_mistake_is_named_by_file_source_and_key(
    tmp_path: Path, line: str, said: str, hint: str
) -> None:
    write(tmp_path, f"[sources.docs]\n{line}\n")
    with pytest.raises(UsageError, match=said) as raised:
        read(tmp_path)
    assert hint in raised.value.hint
    if "customer" not in line:
        assert str(tmp_path / "sources.d" / "docs.toml") in str(raised.value)


def test_a_secret_that_stands_in_a_file_is_refused_and_not_repeated(tmp_path: Path) -> None:
    write(tmp_path, '[sources.docs]\nseeds = ["a.example"]\naccess.bearer = "sk-live-77/x"\n')
    with pytest.raises(UsageError, match=r"access\.bearer.*environment variable") as raised:
        read(tmp_path)
    assert "sk-live" not in str(raised.value) + raised.value.hint


def test_what_is_added_is_read_back_and_can_be_removed(tmp_path: Path) -> None:
    made = edit.add("docs", {"seeds": ['https://a.example/?q="x"'], "every": "2h"}, tmp_path)
    assert read(tmp_path)["docs"].spec == made.spec
    with pytest.raises(UsageError, match="already"):
        edit.add("docs", {"seeds": ["b.example"]}, tmp_path)
    edit.remove("docs", tmp_path)
    assert read(tmp_path) == {}
    with pytest.raises(UsageError, match="no file declares source docs"):
        edit.remove("docs", tmp_path)


def test_a_file_that_holds_more_is_left_to_its_writer(tmp_path: Path) -> None:
    write(
        tmp_path, '[sources.two]\nseeds = ["b.example"]\n[sources.three]\nseeds = ["c.example"]\n'
    )
    with pytest.raises(UsageError, match="holds more than source two"):
        edit.remove("two", tmp_path)
    assert sorted(read(tmp_path)) == ["three", "two"]


def test_a_change_is_taken_while_a_run_lasts_and_a_mistake_is_not(tmp_path: Path) -> None:
    edit.add("docs", {"seeds": ["a.example"]}, tmp_path)
    watched = WatchedFiles(tmp_path)
    write(tmp_path, '[sources.two]\nseeds = ["b.example"]', "two.toml")
    assert sorted(watched.refreshed()) == ["docs", "two"]
    write(tmp_path, '[sources.two]\nseeeds = ["b.example"]', "two.toml")
    assert sorted(watched.refreshed()) == ["docs", "two"]
    write(tmp_path, '[sources.two]\nseeds = ["b.example"]\nmax_pages = 5', "two.toml")
    assert watched.refreshed()["two"].spec.max_pages == 5


@given(st.integers(60, 366 * 86_400))
def test_a_span_is_spelt_as_it_is_read(seconds: int) -> None:
    span = timedelta(seconds=seconds)
    assert durations.parse(durations.spell(span)) == span


def test_secrets_come_from_variables_that_are_named_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spec = AccessSpec.model_validate({"bearer": "SITE_TOKEN", "cookies": {"sid": "SITE_SESSION"}})
    opened = OpenAccess("docs", spec)
    with pytest.raises(UsageError, match="SITE_SESSION is not set"):
        opened()
    monkeypatch.setenv("SITE_TOKEN", "o-mega-secret")
    monkeypatch.setenv("SITE_SESSION", "o-mega-secret")
    access = opened()
    assert access is not None
    assert access.sent == {"Authorization": "Bearer o-mega-secret"}
    assert "o-mega" not in repr(access) + repr(opened)
    assert OpenAccess("docs", AccessSpec.model_validate({}))() is None
