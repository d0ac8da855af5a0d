"""The index process is killed at any moment: what was acknowledged is there, pages are whole."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgpack
import pytest

from indexer.edge.client import EdgeIndex
from indexer.edge.shard import NOTE_FILE, Shard, create, load
from indexer.errors import IndexFullError, IndexUnavailableError
from indexer.model import Swap
from indexer.payload import BATCH_POINTS, rows
from indexer.sparse import encode_query
from tests.indexer.samples import page, slot, vector

URL = "https://acme.example/guide"
OLD = [f"old line {i} shared" for i in range(BATCH_POINTS + 40)]
NEW = [f"new line {i} shared" for i in range(BATCH_POINTS + 10)] + OLD[-5:]


def kill(index: EdgeIndex) -> None:
    os.kill(index.process(), signal.SIGKILL)


def shown(index: EdgeIndex) -> list[str]:
    """The page as one search sees it: every point has the word that is asked for."""
    hits = index.search([slot()], vector("line"), encode_query("shared", ["en"]), 2000)
    return sorted(hit.text for hit in hits)


@contextmanager
def repeatedly(action: Callable[[], object]) -> Iterator[list[BaseException]]:
    """Run `action` over and over in a thread, until the block ends or it fails."""
    failures: list[BaseException] = []
    ended = threading.Event()

    def run() -> None:
        while not ended.is_set():
            try:
                action()
            except BaseException as failure:
                failures.append(failure)
                return

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield failures
    finally:
        ended.set()
        thread.join()


def test_acknowledged_pages_are_there_after_a_kill(edge: EdgeIndex) -> None:
    for number in range(30):
        url = f"{URL}/{number}"
        edge.replace_page(slot(), url, page(slot(), url, [f"text {number}", "more"]))
        if number % 10 == 9:
            kill(edge)
            assert edge.count(slot()) == 2 * (number + 1)
    edge.delete_page(slot(), f"{URL}/3")
    kill(edge)
    assert edge.count(slot()) == 58


def test_kills_during_swaps_never_show_half_a_page(edge: EdgeIndex) -> None:
    revisions = [sorted(OLD), sorted(NEW)]
    points = [page(slot(), URL, OLD), page(slot(), URL, NEW)]
    edge.replace_page(slot(), URL, points[0])
    turn = iter(range(10**9))
    chance = random.Random(7)

    def swap() -> None:
        with suppress(IndexUnavailableError):  # killed at each of its attempts
            edge.replace_page(slot(), URL, points[next(turn) % 2])

    with repeatedly(swap) as failures:
        for _ in range(8):
            pid = edge.process()
            for _ in range(chance.randrange(40)):
                edge.process()  # takes a moment, and the swaps go on meanwhile
            os.kill(pid, signal.SIGKILL)
            assert shown(edge) in revisions
    assert not failures
    assert edge.replace_page(slot(), URL, points[0]).kept in (len(OLD), 5)
    assert shown(edge) == revisions[0]


def test_a_search_sees_a_page_before_or_after_its_swap(edge: EdgeIndex) -> None:
    revisions = [sorted(OLD[:30]), sorted(NEW[:40] + OLD[:3])]
    points = [page(slot(), URL, texts) for texts in revisions]
    edge.replace_page(slot(), URL, points[0])
    turn = iter(range(10**9))
    with repeatedly(lambda: edge.replace_page(slot(), URL, points[next(turn) % 2])) as failures:
        seen = [shown(edge) for _ in range(150)]
    assert not failures
    assert all(texts in revisions for texts in seen)
    assert {len(texts) for texts in seen} == {30, 43}


def test_two_processes_use_one_home_at_once(edge: EdgeIndex, home: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from indexer.edge.client import EdgeIndex\n"
        "from tests.indexer.samples import page, slot\n"
        "index = EdgeIndex(Path(sys.argv[1]))\n"
        "for i in range(20):\n"
        "    url = f'{sys.argv[2]}/{i}'\n"
        "    index.replace_page(slot(), url, page(slot(), url, [f'text {url}']))\n"
        "print(index.process())\n"
    )
    root = Path(__file__).parents[2]
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(home), name], cwd=root, stdout=subprocess.PIPE
        )
        for name in ("a", "b", "c")
    ]
    served_by = {writer.communicate()[0] for writer in writers}
    assert [writer.returncode for writer in writers] == [0, 0, 0]
    assert served_by == {f"{edge.process()}\n".encode()}
    assert edge.count(slot()) == 60


# What a crash leaves, told step by step on one shard


@pytest.fixture
def shard(tmp_path: Path) -> Shard:
    opened = create(tmp_path / "acme" / "1", slot())
    opened.replace_page(URL, rows(slot(), URL, page(slot(), URL, OLD)))
    return opened


def cut(shard: Shard, after: int, monkeypatch: pytest.MonkeyPatch) -> Shard:
    """Swap to NEW, fail at the update number `after`, and open the shard again."""
    update, left = shard._update, iter(range(after))

    def failing(*arguments: object) -> None:
        if next(left, None) is None:
            raise OSError("cut")
        update(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(shard, "_update", failing)
    with pytest.raises(OSError, match="cut"):
        shard.replace_page(URL, rows(slot(), URL, page(slot(), URL, NEW)))
    assert (shard.folder / NOTE_FILE).exists()
    shard.close()
    return load(shard.folder)


def texts(shard: Shard) -> list[str]:
    return sorted(payload["text"] for _, payload in shard.scroll(None, 10_000)[0])


@pytest.mark.parametrize("after", [0, 1])
def test_a_swap_that_lacks_new_points_is_taken_back(
    shard: Shard, after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = cut(shard, after, monkeypatch)
    assert texts(opened) == sorted(OLD)
    assert not (opened.folder / NOTE_FILE).exists()
    opened.close()


def test_a_swap_that_has_all_new_points_is_finished(
    shard: Shard, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = cut(shard, 7, monkeypatch)  # two batches and five payloads, then the delete
    assert texts(opened) == sorted(NEW)
    assert opened.replace_page(URL, rows(slot(), URL, page(slot(), URL, NEW))).kept == len(NEW)
    opened.close()


def test_a_note_cut_while_it_was_written_is_no_note(shard: Shard) -> None:
    (shard.folder / f"{NOTE_FILE}.new").write_bytes(msgpack.packb({"url": URL})[:3])
    shard.close()
    opened = load(shard.folder)
    assert texts(opened) == sorted(OLD)
    opened.close()


def test_a_full_disk_is_named_and_changes_nothing(
    shard: Shard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("indexer.edge.shard.RESERVE", 1 << 60)
    with pytest.raises(IndexFullError, match="MB are free"):
        shard.replace_page(URL, rows(slot(), URL, page(slot(), URL, NEW)))
    assert texts(shard) == sorted(OLD)
    assert shard.replace_page(URL, []) == Swap(0, 0, len(OLD))  # deleting needs no room
    shard.close()
