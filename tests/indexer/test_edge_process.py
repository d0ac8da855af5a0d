"""The index process: started on demand, one a home, for its owner alone, gone when idle."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest

from indexer.edge import client, places, server, shards, wire
from indexer.edge.client import EdgeIndex
from indexer.edge.places import socket_path
from indexer.edge.shards import Shards
from indexer.errors import (
    HomeNotWritableError,
    IndexBusyError,
    IndexDamagedError,
    IndexUnavailableError,
    TransientError,
)
from indexer.payload import rows
from tests.indexer.samples import page, slot

URL = "https://acme.example/guide"
PATIENCE = 30  # seconds until a test gives up waiting for a process to end


def fill(index: EdgeIndex) -> None:
    index.replace_page(slot(), URL, page(slot(), URL, ["one", "two"]))


def test_only_its_owner_may_open_the_socket(edge: EdgeIndex, home: Path) -> None:
    edge.process()
    path = socket_path(home)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert path.parent.stat().st_uid == os.getuid()


def test_a_runtime_folder_that_is_open_to_others_is_refused(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    folder = tmp_path / f"wrac-{os.getuid()}"
    folder.mkdir(mode=0o700)
    assert socket_path(home).parent == folder
    folder.chmod(0o755)
    with pytest.raises(HomeNotWritableError, match="0700"):
        socket_path(home)


def test_the_process_outlives_who_started_it_and_is_not_its_child(home: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from indexer.edge.client import EdgeIndex\n"
        "print(EdgeIndex(Path(sys.argv[1])).process())\n"
    )
    started = subprocess.run(
        [sys.executable, "-c", program, str(home)], capture_output=True, check=True
    )
    index = EdgeIndex(home)
    assert index.process() == int(started.stdout)
    assert os.getsid(index.process()) != os.getsid(0)
    assert index.process() not in {child.pid for child in psutil.Process().children()}
    index.close()


def test_it_leaves_when_nobody_is_connected_and_comes_back(home: Path) -> None:
    index = EdgeIndex(home, idle=0.1)
    fill(index)
    process = psutil.Process(index.process())
    index.count(slot())  # connected: it stays however long that takes
    assert process.is_running()
    index.close()
    process.wait(PATIENCE)
    assert not socket_path(home).exists()
    assert index.count(slot()) == 2
    assert index.process() != process.pid
    index.close()


def test_leaving_and_coming_at_once_loses_no_request(home: Path) -> None:
    """Clients that come and go against a process that wants to leave at every moment."""
    failures: list[Exception] = []

    def come_and_go(name: str) -> None:
        try:
            for number in range(12):
                index = EdgeIndex(home, idle=0.0)
                url = f"{name}/{number}"
                index.replace_page(slot(), url, page(slot(), url, [url]))
                index.close()
        except Exception as failure:
            failures.append(failure)

    clients = [threading.Thread(target=come_and_go, args=(name,)) for name in "ab"]
    for one in clients:
        one.start()
    for one in clients:
        one.join()
    assert not failures
    index = EdgeIndex(home)
    assert index.count(slot()) == 24
    index.close()


def test_it_writes_out_and_leaves_when_asked_to(edge: EdgeIndex, home: Path) -> None:
    fill(edge)
    for leave in (lambda pid: os.kill(pid, signal.SIGTERM), lambda pid: EdgeIndex(home).stop()):
        process = psutil.Process(edge.process())
        leave(process.pid)
        process.wait(PATIENCE)
        assert edge.count(slot()) == 2
    assert "leaves" in (home / "logs" / "index.log").read_text()
    edge.stop()
    edge.stop()  # nobody is there: nothing to do


def test_a_socket_that_a_killed_process_left_is_no_hindrance(edge: EdgeIndex, home: Path) -> None:
    process = psutil.Process(edge.process())
    process.kill()
    process.wait(PATIENCE)
    assert socket_path(home).exists()
    assert EdgeIndex(home).process() != process.pid


def test_a_home_that_was_removed_is_not_written_to(edge: EdgeIndex, home: Path) -> None:
    fill(edge)
    process = psutil.Process(edge.process())
    shutil.rmtree(home)
    fill(edge)  # over the connection that is open: a new process, a new index
    assert edge.process() != process.pid
    assert edge.count(slot()) == 2
    process.wait(PATIENCE)
    assert socket_path(home).exists()
    edge.stop()
    assert EdgeIndex(home).count(slot()) == 2


def test_the_process_of_a_home_that_was_moved_leaves(edge: EdgeIndex, home: Path) -> None:
    fill(edge)
    moved = home.rename(home.with_name("moved"))
    there = EdgeIndex(moved)
    assert there.count(slot()) == 2
    there.stop()


def test_a_slot_whose_files_were_removed_is_empty_and_can_be_filled(
    edge: EdgeIndex, home: Path
) -> None:
    fill(edge)
    process = edge.process()
    shutil.rmtree(places.slot_folder(home / "index", slot()))
    assert edge.count(slot()) == 0
    fill(edge)
    assert edge.count(slot()) == 2
    assert edge.process() == process


def test_a_home_held_by_a_stranger_is_named(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = places.index_folder(home)
    stranger = (folder / server.LOCK_FILE).open("a")
    stranger.write("pid 4711")
    stranger.flush()
    fcntl.flock(stranger, fcntl.LOCK_EX)
    monkeypatch.setattr(server, "LOCK_TIMEOUT", 0.0)
    with pytest.raises(IndexBusyError, match="pid 4711") as caught:
        server.Server(home, 1.0)
    assert isinstance(caught.value, TransientError)
    told, ready = os.pipe()
    with pytest.raises(SystemExit):
        server.main(str(home), 1.0, ready)
    assert "IndexBusyError" in os.read(told, 4096).decode()
    os.close(told)
    stranger.close()


def test_what_hinders_the_process_from_starting_is_told_to_the_client(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "ATTEMPTS", 1)
    (home / "index" / server.LOCK_FILE).mkdir(parents=True)
    with pytest.raises(HomeNotWritableError, match="lock"):
        EdgeIndex(home).process()
    monkeypatch.setattr(client, "PROGRAM", ("/bin/false",))
    (home / "index" / server.LOCK_FILE).rmdir()
    with pytest.raises(IndexUnavailableError, match=r"index\.log"):
        EdgeIndex(home).process()


def test_a_home_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(HomeNotWritableError, match="file"):
        EdgeIndex(tmp_path / "file" / "home").count(slot())


def test_damaged_files_are_named_and_can_be_dropped(edge: EdgeIndex, home: Path) -> None:
    fill(edge)
    other = slot("other")
    edge.replace_page(other, URL, page(other, URL, ["fine"]))
    edge.stop()
    folder = places.slot_folder(home / "index", slot())
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name != shards.SLOT_FILE:
            path.write_bytes(b"damaged")
    with pytest.raises(IndexDamagedError, match="acme"):
        edge.count(slot())
    assert edge.count(other) == 1
    edge.drop(slot())
    fill(edge)
    assert edge.count(slot()) == 2


def test_a_fault_in_the_process_is_an_error_of_one_request(edge: EdgeIndex) -> None:
    with pytest.raises(IndexUnavailableError, match="KeyError"):
        edge._ask("no such request")
    assert edge.count(slot()) == 0


def test_garbage_on_the_socket_ends_that_connection_alone(edge: EdgeIndex, home: Path) -> None:
    pid = edge.process()
    with socket.socket(socket.AF_UNIX) as stranger:
        stranger.connect(str(socket_path(home)))
        stranger.sendall(b"\xff" * 64)
        with pytest.raises((EOFError, OSError)):
            wire.receive(stranger)
    assert edge.process() == pid


def test_a_process_of_its_own_compacts_and_a_request_goes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shards, "COMPACT_IDLE", -1.0)
    monkeypatch.setattr(shards, "COMPACT_WRITES", 1)
    held = Shards(places.index_folder(tmp_path))

    def count() -> int:
        with held.reading([slot()]) as (shard,):
            assert shard is not None
            return shard.count()

    with held.writing(slot()) as shard:
        shard.replace_page("a", rows(slot(), "a", page(slot(), "a", ["one", "two"])))
    held.tend()
    assert held.busy
    assert count() == 2  # the compaction is killed
    assert not held.busy
    held.tend()
    (child,) = held._compacting.values()
    child.wait()
    held.tend()
    assert not held.busy
    assert count() == 2
    held.tend()
    assert not held.busy  # nothing was written since
    held.close()


def test_shards_beyond_the_bound_are_closed_and_opened_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shards, "MAX_OPEN", 2)
    held = Shards(places.index_folder(tmp_path))
    slots = [slot(name) for name in "abcd"]
    for one in slots:
        with held.writing(one):
            pass
    assert len(held._open) == 2
    with held.reading(slots) as opened:
        assert [shard.slot for shard in opened if shard] == slots
    held.close()
