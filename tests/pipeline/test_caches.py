"""One suite for the caches on every store: a SQLite file, and Redis where it is installed."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import redis

from pipeline.caches import Bounds, Cache, Kind, open_cache
from pipeline.caches.embeddings import EmbeddingCache, embedding_key
from pipeline.caches.sqlite import TRIM_EVERY, SqliteStore
from pipeline.caches.stores import key
from pipeline.errors import CacheSpecError, CacheUnavailableError

DAY = 24 * 3600.0
LONG = 600.0  # seconds


class Opened:
    """Opens caches of one store, and does to their entries what time and accidents do."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._caches: list[Cache] = []

    def __call__(self, kind: Kind = "plans", bounds: Bounds | None = None) -> Cache:
        self._caches.append(open_cache(self.url, kind, bounds))
        return self._caches[-1]

    def close(self) -> None:
        for cache in self._caches:
            cache.close()


class OpenedFile(Opened):
    def execute(self, statement: str, *values: object) -> None:
        with sqlite3.connect(self.url.removeprefix("sqlite:///")) as connection:
            connection.execute(statement, values)

    def age(self, seconds: float) -> None:
        """As if nothing had been used for so much longer, and claims were so much older."""
        self.execute("UPDATE plans SET used = used - ?", seconds)
        self.execute("UPDATE claims SET until = until - ?", seconds)

    def overwrite(self, key: str, value: bytes) -> None:
        self.execute("UPDATE plans SET value = ? WHERE key = ?", value, key)


class OpenedRedis(Opened):
    def __init__(self, url: str) -> None:
        super().__init__(url)
        self._client = redis.Redis.from_url(url)
        self._client.flushall()

    def age(self, seconds: float) -> None:
        for name in self._client.scan_iter("wrac:plan*:*"):
            self._client.pexpire(name, self._client.pttl(name) - round(seconds * 1000))

    def overwrite(self, key: str, value: bytes) -> None:
        self._client.set(f"wrac:plan:{key}", value)


@pytest.fixture(params=["sqlite", "redis"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OpenedFile | OpenedRedis]:
    made: OpenedFile | OpenedRedis
    if request.param == "sqlite":
        made = OpenedFile(f"sqlite:///{tmp_path / 'caches' / 'caches.sqlite'}")
    else:
        made = OpenedRedis(request.getfixturevalue("redis_server").url)
    yield made
    made.close()


Store = OpenedFile | OpenedRedis


def keys(customer: str, count: int) -> list[str]:
    return [key(customer, str(number)) for number in range(count)]


def test_what_is_put_comes_back_to_the_byte_and_nothing_else_does(opened: Store) -> None:
    cache, all_keys = opened(), keys("acme", 1203)
    values = {k: bytes([n % 256]) * (n % 70) for n, k in enumerate(all_keys[:-1])}
    cache.put_many(values)
    assert cache.get_many(all_keys) == values
    assert cache.get_many([]) == {}
    cache.put_many({})


def test_a_second_opening_sees_what_the_first_put_and_another_kind_does_not(opened: Store) -> None:
    first, second, other = opened(), opened(), opened("embeddings")
    assert second.get_many(["a/b"]) == {}
    first.put_many({"a/b": b"one"})
    first.put_many({"a/b": b"two"})
    assert second.get_many(["a/b"]) == {"a/b": b"two"}
    assert other.get_many(["a/b"]) == {}


@pytest.mark.parametrize("name", ["acme", "acme*", "a/b", "ä%2F", "[a]?", ""])
def test_forgetting_a_customer_leaves_the_others(opened: Store, name: str) -> None:
    cache = opened()
    own = keys(name, 700)
    rest = [key(other, "0") for other in ("acme2", "acm", "a", "acme/", "A")]
    cache.put_many(dict.fromkeys([*own, *rest], b"x"))
    assert cache.forget(name) == 700
    assert set(cache.get_many([*own, *rest])) == set(rest)
    assert cache.forget(name) == 0


def test_no_two_customers_texts_or_models_share_a_key() -> None:
    fields = [("a", "b", "c"), ("ab", "", "c"), ("a", "bc", ""), ("", "ab", "c"), ("a", "c", "b")]
    assert len({embedding_key(*one) for one in fields}) == len(fields)
    assert embedding_key("acme", "text", "m").startswith("acme/")


def test_what_is_not_used_for_long_is_gone_and_what_is_used_stays(opened: Store) -> None:
    cache = opened(bounds=Bounds(seconds=10 * DAY))
    cache.put_many({"a/used": b"x", "a/left": b"x"})
    for _ in range(3):
        opened.age(4 * DAY)
        assert cache.get_many(["a/used"]) == {"a/used": b"x"}
    assert cache.get_many(["a/used", "a/left"]) == {"a/used": b"x"}


def test_damaged_and_foreign_values_are_missing_and_counted(opened: Store) -> None:
    cache = opened()
    cache.put_many({f"a/{name}": name.encode() * 9 for name in ("whole", "cut", "old", "moved")})
    assert cache.size().damaged == 0
    opened.overwrite("a/cut", b"w1")
    opened.overwrite("a/old", b"oldoldold")
    opened.overwrite("a/moved", _stored(opened, "a/whole"))
    everything = ["a/whole", "a/cut", "a/old", "a/moved"]
    assert cache.get_many(everything) == {"a/whole": b"whole" * 9}
    assert cache.get_many(everything) == {"a/whole": b"whole" * 9}
    size = cache.size()
    assert (size.entries, size.damaged) == (1, 3)


def _stored(opened: Store, key: str) -> bytes:
    if isinstance(opened, OpenedRedis):
        return bytes(redis.Redis.from_url(opened.url).get(f"wrac:plan:{key}"))  # type: ignore[arg-type]
    with sqlite3.connect(opened.url.removeprefix("sqlite:///")) as connection:
        return bytes(
            connection.execute("SELECT value FROM plans WHERE key = ?", (key,)).fetchone()[0]
        )


def test_its_size_is_what_it_holds(opened: Store) -> None:
    cache = opened()
    assert (cache.size().entries, cache.size().bytes) == (0, 0)
    cache.put_many(dict.fromkeys(keys("acme", 600), b"x" * 100))
    assert cache.size().entries == 600
    assert 600 * 100 <= cache.size().bytes <= 600 * 200


def test_a_claim_is_had_by_one_until_it_is_released(opened: Store) -> None:
    one, two = opened(), opened()
    assert one.claim(["a/1", "a/2"], "one", LONG) == ["a/1", "a/2"]
    assert two.claim(["a/2", "a/3"], "two", LONG) == ["a/3"]
    assert one.claim(["a/1"], "one", LONG) == ["a/1"]  # prolonged
    two.release(["a/1", "a/2"], "two")  # not his to release
    assert two.claim(["a/1"], "two", LONG) == []
    one.release(["a/1", "a/2"], "one")
    assert two.claim(["a/1", "a/2"], "two", LONG) == ["a/1", "a/2"]


def test_the_claim_of_a_dead_holder_ends_by_itself(opened: Store) -> None:
    cache = opened()
    cache.claim(["a/1"], "dead", 15.0)
    opened.age(10.0)
    assert cache.claim(["a/1"], "next", 15.0) == []
    opened.age(10.0)
    assert cache.claim(["a/1"], "next", 15.0) == ["a/1"]


def test_claims_are_no_entries(opened: Store) -> None:
    cache = opened()
    cache.claim(["a/1"], "one", LONG)
    assert cache.get_many(["a/1"]) == {}
    assert (cache.size().entries, cache.forget("a")) == (0, 0)


def test_a_store_that_goes_away_is_an_empty_cache_and_is_asked_again_later(
    redis_server, monkeypatch: pytest.MonkeyPatch
) -> None:  # type: ignore[no-untyped-def]
    clock = [0.0]
    cache = open_cache(redis_server.url, "plans")
    monkeypatch.setattr(cache, "_now", lambda: clock[0])
    cache.put_many({"a/1": b"x"})
    redis_server.kill()
    try:
        assert cache.get_many(["a/1"]) == {}
        cache.put_many({"a/2": b"y"})
        assert cache.claim(["a/1"], "one", LONG) == ["a/1"]
        cache.release(["a/1"], "one")
        for must_be_true in (lambda: cache.forget("a"), cache.size):
            with pytest.raises(CacheUnavailableError):
                must_be_true()
    finally:
        redis_server.start()
    cache.put_many({"a/3": b"z"})
    assert cache.get_many(["a/3"]) == {}  # not asked yet
    clock[0] += 60.0
    cache.put_many({"a/3": b"z"})
    assert cache.get_many(["a/1", "a/3"]) == {"a/3": b"z"}
    cache.close()


def test_a_file_that_is_no_database_is_an_empty_cache(tmp_path: Path) -> None:
    broken = tmp_path / "caches.sqlite"
    broken.write_bytes(b"no database" * 1000)
    cache = open_cache(f"sqlite:///{broken}", "plans")
    assert cache.get_many(["a/b"]) == {}
    assert cache.claim(["a/b"], "one", LONG) == ["a/b"]
    with pytest.raises(CacheUnavailableError, match="may be removed"):
        cache.forget("a")


def test_a_file_of_another_version_is_an_empty_cache(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "caches.sqlite") as other:
        other.execute("CREATE TABLE plans (id INTEGER, what TEXT)")
    cache = open_cache(f"sqlite:///{tmp_path}/caches.sqlite", "plans")
    cache.put_many({"a/b": b"x"})
    assert cache.get_many(["a/b"]) == {}
    assert cache.claim(["a/b"], "one", LONG) == ["a/b"]


@pytest.mark.parametrize(
    ("url", "named"),
    [
        ("memcached://:hidden@x", "memcached"),
        ("redis://:hidden@host:none/0", "Port"),
        ("redis://:hidden@host/0?socket_timeout=soon", "socket_timeout"),
    ],
)
def test_an_address_of_no_cache_is_refused_by_name(url: str, named: str) -> None:
    with pytest.raises(CacheSpecError, match=named) as refused:
        open_cache(url, "plans")
    assert "hidden" not in str(refused.value)


def test_a_file_is_bounded_and_loses_what_was_used_least_lately(tmp_path: Path) -> None:
    clock = [0.0]

    def now() -> float:
        clock[0] += 1.0
        return clock[0]

    store = SqliteStore(tmp_path / "c.sqlite", "plans", Bounds(bytes=100_000), now)
    names = keys("acme", TRIM_EVERY * 2)
    for name in names:
        store.put_many({name: b"x" * 150})
    clock[0] += 7200
    assert store.get_many(names[-TRIM_EVERY - 50 : -TRIM_EVERY])  # old ones, used again
    fresh = keys("other", TRIM_EVERY)
    store.put_many(dict.fromkeys(fresh, b"x" * 150))
    assert store.size().bytes <= 100_000
    left = store.get_many([*names, *fresh])
    assert set(fresh) <= set(left)
    assert set(names[-TRIM_EVERY - 50 : -TRIM_EVERY]) <= set(left)
    store.close()


def test_two_processes_write_the_same_file_at_once(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'cache.db'}"
    program = (
        "import sys; from pipeline.caches import open_cache\n"
        "cache = open_cache(sys.argv[1], 'plans')\n"
        "for i in range(50): cache.put_many({f'{sys.argv[2]}/{i}': b'x'})\n"
    )
    writers = [
        subprocess.Popen([sys.executable, "-c", program, url, name], cwd=Path(__file__).parents[2])
        for name in ("a", "b", "c")
    ]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    cache = open_cache(url, "plans")
    assert len(cache.get_many([f"{name}/{i}" for name in "abc" for i in range(50)])) == 150
    cache.close()


def test_vectors_come_back_to_the_bit_also_from_a_file_of_the_first_form(tmp_path: Path) -> None:
    vectors = {
        embedding_key("acme", str(seed), "m"): np.random.default_rng(seed)
        .standard_normal(384)
        .astype(np.float32)
        for seed in range(700)
    }
    with sqlite3.connect(tmp_path / "old.sqlite") as old:
        old.execute("CREATE TABLE embeddings (key TEXT PRIMARY KEY, vector BLOB NOT NULL)")
        rows = [(k, v.tobytes()) for k, v in vectors.items()]
        old.executemany("INSERT INTO embeddings VALUES (?, ?)", rows)
    for name in ("old", "new"):
        cache = EmbeddingCache(open_cache(f"sqlite:///{tmp_path}/{name}.sqlite", "embeddings"))
        if name == "new":
            cache.put_many(vectors)
        found = cache.get_many(list(vectors))
        assert {k: v.tobytes() for k, v in found.items()} == {
            k: v.tobytes() for k, v in vectors.items()
        }
