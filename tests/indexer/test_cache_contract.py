"""One suite for every embedding cache: SQLite, and Redis where redis-server is installed."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import redis

from indexer.caches import EmbeddingCache, embedding_key, open_cache
from indexer.errors import CacheSpecError, CacheUnavailableError
from indexer.model import Vector

Open = Callable[[], EmbeddingCache]


@pytest.fixture(scope="module")
def redis_url(
    tmp_path_factory: pytest.TempPathFactory, need: Callable[[str, bool], None]
) -> Iterator[str]:
    program = shutil.which("redis-server") or ""
    need("redis-server", bool(program))
    socket = tmp_path_factory.mktemp("redis") / "redis.sock"
    command = [program, "--port", "0", "--unixsocket", str(socket), "--save", ""]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=socket.parent)
    url = f"unix://{socket}"
    until_up = redis.retry.Retry(redis.backoff.ConstantBackoff(0.02), 200)
    client = redis.Redis.from_url(url, retry=until_up)
    client.ping()
    client.close()
    yield url
    server.terminate()
    server.wait()


@pytest.fixture(params=["sqlite", "redis"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Open]:
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path / 'caches' / 'cache.db'}"
    else:
        url = request.getfixturevalue("redis_url")
        redis.Redis.from_url(url).flushall()
    caches: list[EmbeddingCache] = []

    def open_one() -> EmbeddingCache:
        caches.append(open_cache(url))
        return caches[-1]

    yield open_one
    for cache in caches:
        cache.close()


def vector(seed: int) -> Vector:
    return np.random.default_rng(seed).standard_normal(384).astype(np.float32)


def test_what_is_put_comes_back_to_the_bit_and_nothing_else_does(opened: Open) -> None:
    cache = opened()
    keys = [embedding_key("acme", f"text {i}", "m") for i in range(1203)]
    cache.put_many({key: vector(i) for i, key in enumerate(keys[:-1])})
    found = cache.get_many(keys)
    assert set(found) == set(keys[:-1])
    for i in (0, 700, 1201):
        assert found[keys[i]].tobytes() == vector(i).tobytes()
    assert cache.get_many([]) == {}
    cache.put_many({})


def test_a_second_opening_sees_what_the_first_put(opened: Open) -> None:
    first, second = opened(), opened()
    key = embedding_key("acme", "text", "m")
    assert second.get_many([key]) == {}
    first.put_many({key: vector(1)})
    first.put_many({key: vector(2)})
    assert second.get_many([key])[key].tobytes() == vector(2).tobytes()


@pytest.mark.parametrize("name", ["acme", "acme*", "a/b", "ä%2F", "[a]?"])
def test_forgetting_a_customer_leaves_the_others(opened: Open, name: str) -> None:
    cache = opened()
    others = ["acme2", "acm", "a", "acme/", "A"]
    own = [embedding_key(name, str(i), "m") for i in range(700)]
    rest = [embedding_key(other, "0", "m") for other in others]
    cache.put_many({key: vector(0) for key in [*own, *rest]})
    assert cache.forget(name) == 700
    assert set(cache.get_many([*own, *rest])) == set(rest)
    assert cache.forget(name) == 0


def test_no_two_customers_texts_or_models_share_a_key() -> None:
    fields = [("a", "b", "c"), ("ab", "", "c"), ("a", "bc", ""), ("", "ab", "c"), ("a", "c", "b")]
    assert len({embedding_key(*one) for one in fields}) == len(fields)
    assert embedding_key("acme", "text", "m").startswith("acme/")


def test_two_processes_write_the_same_sqlite_file_at_once(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'cache.db'}"
    program = (
        "import sys, numpy as np; from indexer.caches import open_cache\n"
        "cache = open_cache(sys.argv[1])\n"
        "for i in range(50): cache.put_many({f'{sys.argv[2]}/{i}': np.ones(4, np.float32)})\n"
    )
    writers = [
        subprocess.Popen([sys.executable, "-c", program, url, name]) for name in ("a", "b", "c")
    ]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    cache = open_cache(url)
    assert len(cache.get_many([f"{name}/{i}" for name in "abc" for i in range(50)])) == 150
    cache.close()


def test_a_cache_that_is_not_there_is_a_transient_error_that_names_it(tmp_path: Path) -> None:
    broken = tmp_path / "cache.db"
    broken.write_bytes(b"no database" * 1000)
    for url in (f"sqlite:///{broken}", f"unix://{tmp_path / 'none.sock'}"):
        with pytest.raises(CacheUnavailableError):
            open_cache(url).get_many(["a/b"])
    with pytest.raises(CacheSpecError, match="memcached"):
        open_cache("memcached://x")
