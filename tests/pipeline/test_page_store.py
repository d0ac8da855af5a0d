"""The page store's contract: what is put is there, whole, and the customer's alone."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import HomeError, StorageFullError
from pipeline.pagestore import DamagedFileError, MissingBodyError, PageStore

URL = "https://a.example/x?y=1"


@pytest.fixture(params=["folder", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> PageStore:
    return PageStore(str(tmp_path) if request.param == "folder" else f"memory://{tmp_path}")


def test_a_body_is_found_by_its_hash(store: PageStore) -> None:
    digest = store.put_body("acme", b"\x00 body")
    assert store.put_body("acme", b"\x00 body") == digest
    assert store.body("acme", digest) == b"\x00 body"


def test_a_body_is_its_customers_alone(store: PageStore) -> None:
    digest = store.put_body("acme", b"secret")
    with pytest.raises(MissingBodyError):
        store.body("other", digest)


def test_records_are_kept_by_source_and_url(store: PageStore) -> None:
    store.put_record("acme", "docs", 1, URL, {"a": ["ü"]})
    assert store.record("acme", "docs", 1, URL) == {"a": ["ü"]}
    assert store.record("acme", "blog", 1, URL) is None
    store.delete_record("acme", "docs", 1, URL)
    store.delete_record("acme", "docs", 1, URL)
    assert store.record("acme", "docs", 1, URL) is None


def test_forgetting_removes_a_source_then_the_customer(store: PageStore) -> None:
    digest = store.put_body("acme", b"x")
    other = store.put_body("other", b"x")
    store.put_record("acme", "docs", 1, URL, {})
    store.put_fetch("acme", "docs", URL, {})
    assert store.forget_source("acme", "docs") == 2
    assert store.forget_source("acme", "docs") == 0
    assert store.body("acme", digest) == b"x"
    assert store.forget_customer("acme") == 1
    with pytest.raises(MissingBodyError):
        store.body("acme", digest)
    assert store.body("other", other) == b"x"


@given(st.binary(max_size=2000))
def test_any_bytes_come_back_as_they_were(body: bytes) -> None:
    store = PageStore("memory://roundtrip")
    assert store.body("c", store.put_body("c", body)) == body


def test_a_half_written_file_is_never_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = PageStore(str(tmp_path))

    def full(_: bytes) -> bytes:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(store, "_pack", full)
    with pytest.raises(StorageFullError, match="is full"):
        store.put_body("acme", b"x")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_nothing_is_written_outside_of_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    store = PageStore(str(tmp_path / "store"))
    assert store.body("acme", store.put_body("acme", b"x")) == b"x"


@pytest.mark.parametrize("cut", [0, 1, -1])
def test_a_damaged_file_is_named(tmp_path: Path, cut: int) -> None:
    store = PageStore(str(tmp_path))
    digest = store.put_body("acme", b"x" * 100)
    store.put_record("acme", "docs", 1, URL, {"a": 1})
    for path in tmp_path.rglob("*.zst"):
        path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(DamagedFileError, match=digest):
        store.body("acme", digest)
    with pytest.raises(DamagedFileError, match="is damaged"):
        store.record("acme", "docs", 1, URL)


def test_a_body_that_was_changed_is_found_out(tmp_path: Path) -> None:
    store = PageStore(str(tmp_path))
    digest, other = store.put_body("acme", b"x"), store.put_body("acme", b"y")
    found = {path.stem: path for path in tmp_path.rglob("*.zst")}
    found[digest].write_bytes(found[other].read_bytes())
    with pytest.raises(DamagedFileError):
        store.body("acme", digest)


def test_a_store_that_cannot_be_written_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = PageStore(str(tmp_path))

    def refused(_: bytes) -> bytes:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(store, "_pack", refused)
    with pytest.raises(HomeError, match="cannot be written"):
        store.put_body("acme", b"x")
