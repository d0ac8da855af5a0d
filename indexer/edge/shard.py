"""One slot's shard: how a page is swapped in it, and how a swap that a crash cut is undone.

Callers hold the slot's lock (`indexer.edge.shards`): a search then sees a page before or after
its swap. What a crash leaves is told by a note beside the shard, written before the first of
several updates: `load` finishes the swap if all its points are there, else takes it back.
"""

from __future__ import annotations

import json
import shutil
import time
import uuid
from array import array
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import msgpack  # type: ignore[import-untyped]
from qdrant_edge import (
    CountRequest,
    Distance,
    EdgeConfig,
    EdgeOptimizersConfig,
    EdgeShard,
    EdgeSparseVectorParams,
    EdgeVectorParams,
    FacetRequest,
    FieldCondition,
    Filter,
    HasIdCondition,
    MatchValue,
    Modifier,
    PayloadSchemaType,
    Point,
    Query,
    QueryBatchRequest,
    QueryRequest,
    ScrollRequest,
    SparseVector,
    UpdateOperation,
)

from indexer.errors import IndexBusyError, IndexDamagedError, IndexFullError
from indexer.model import Slot, Swap
from indexer.payload import DENSE, SPARSE, Payload, Row, batches, change

SLOT_FILE = "slot.json"
NOTE_FILE = "swap"
SHARD_FOLDER = "shard"

#: Kilobytes of vectors from which a compaction builds an approximate index. Below (three hundred
#: thousand vectors of 384 dimensions) a search is exact and the same every time. Measured for a
#: hundred thousand: exact 11 ms; with a graph, whose building takes 110 s, 7 ms.
INDEXING_KB = 450_000

#: Bytes that must be free before a write: the engine maps its files, and dies on a full disk.
RESERVE = 96 * 1024 * 1024

_PAGE_LIMIT = 1 << 30
#: Id, URL and score of a point that a side of a search found.
Found = tuple[str, str, float]
_LOAD_TIMEOUT = 10.0


class Shard:
    """An open shard. Not thread-safe: the caller holds its lock."""

    def __init__(self, folder: Path, slot: Slot, engine: EdgeShard) -> None:
        self.folder = folder
        self.slot = slot
        self.writes = 0
        """Points written since the shard was opened."""
        self.dirty_since: float | None = None
        self.used = time.monotonic()
        self._engine = engine
        self._identity = _identity(folder)

    @property
    def displaced(self) -> bool:
        """Whether the folder was removed or replaced: what is written here would be lost."""
        return _identity(self.folder) != self._identity

    # pages

    def replace_page(self, url: str, rows: Sequence[Row]) -> Swap:
        """Make `rows` all that is stored of `url`."""
        wanted = change(self._page(url), rows)
        groups = batches(wanted.upsert)
        if groups or wanted.payload:
            self._need_room(sum(row.size for row in wanted.upsert))
        if len(groups) + bool(wanted.stale) > 1:
            self._note(url, rows, wanted.fresh)
        for group in groups:
            self._update(UpdateOperation.upsert_points([_point(row) for row in group]), len(group))
        for row in wanted.payload:
            self._update(UpdateOperation.overwrite_payload([row.id], row.payload), 1)
        if wanted.stale:
            self._delete_others(url, [row.id for row in rows])
            self.writes += len(wanted.stale)
        (self.folder / NOTE_FILE).unlink(missing_ok=True)
        return Swap(len(wanted.fresh), wanted.kept, len(wanted.stale))

    def delete_page(self, url: str) -> int:
        held = len(self._page(url))
        if held:
            self._update(UpdateOperation.delete_points_by_filter(_of(url)), held)
        return held

    def _page(self, url: str) -> dict[str, Payload]:
        request = ScrollRequest(
            limit=_PAGE_LIMIT, filter=_of(url), with_payload=True, with_vector=False
        )
        return {str(record.id): record.payload or {} for record in self._engine.scroll(request)[0]}

    def _delete_others(self, url: str, ids: Sequence[str]) -> None:
        rest = Filter(must=_of(url).must, must_not=[HasIdCondition(set(ids))]) if ids else _of(url)
        self._update(UpdateOperation.delete_points_by_filter(rest), 0)

    def _update(self, operation: UpdateOperation, points: int) -> None:
        self._engine.update(operation)
        self.writes += points
        if self.dirty_since is None:
            self.dirty_since = time.monotonic()

    def _need_room(self, size: int) -> None:
        free = shutil.disk_usage(self.folder).free
        if free < RESERVE + 4 * size:
            raise IndexFullError(
                f"{free >> 20} MB are free for {self.folder}, {(RESERVE + 4 * size) >> 20} needed"
            )

    # swaps that were cut

    def _note(self, url: str, rows: Sequence[Row], fresh: Sequence[str]) -> None:
        note = {"url": url, "wanted": [row.id for row in rows], "fresh": list(fresh)}
        new = self.folder / f"{NOTE_FILE}.new"
        new.write_bytes(msgpack.packb(note))
        new.replace(self.folder / NOTE_FILE)

    def recover(self) -> None:
        """Finish the swap that a crash cut, or take it back: one revision of a page is left."""
        path = self.folder / NOTE_FILE
        if not path.exists():
            return
        note = msgpack.unpackb(path.read_bytes())
        held = self._page(note["url"]).keys()
        if held >= set(note["wanted"]):
            self._delete_others(note["url"], note["wanted"])
        else:
            self._update(UpdateOperation.delete_points(note["fresh"]), 0)
        path.unlink()

    # reading

    def rankings(
        self, dense: bytes, indices: bytes, weights: bytes, depth: int
    ) -> tuple[list[Found], list[Found]]:
        """The nearest `depth` points by vector and by terms."""
        queries = [_nearest(list(array("f", dense)), DENSE, depth)]
        if indices:  # a query of stop words alone has no terms
            terms = SparseVector(list(array("I", indices)), list(array("f", weights)))
            queries.append(_nearest(terms, SPARSE, depth))
        found = self._engine.query_batch(QueryBatchRequest(queries))
        scored = [
            [(str(one.id), str((one.payload or {}).get("url")), float(one.score)) for one in side]
            for side in found
        ]
        return scored[0], scored[1] if indices else []

    def payloads(self, ids: Sequence[str]) -> dict[str, Payload]:
        records = self._engine.retrieve(list(ids), with_payload=True, with_vector=False)
        return {str(record.id): record.payload or {} for record in records}

    def scroll(self, start: str | None, limit: int) -> tuple[list[tuple[str, Payload]], str | None]:
        """Up to `limit` points in order of id, and where to go on (None at the end)."""
        request = ScrollRequest(offset=start, limit=limit, with_payload=True, with_vector=False)
        records, following = self._engine.scroll(request)
        found = [(str(record.id), record.payload or {}) for record in records]
        return found, None if following is None else str(following)

    def count(self) -> int:
        return self._engine.count(CountRequest(exact=True))

    def languages(self) -> list[str]:
        found = self._engine.facet(FacetRequest("lang", limit=1000, exact=True))
        return [str(one.value) for one in found.hits if one.count]  # values of deleted points stay

    # files

    def flush(self) -> None:
        """Bring what the write-ahead log holds to the segments: a later load has less to replay."""
        self._engine.flush()
        self.dirty_since = None

    def close(self) -> None:
        self._engine.close()


def create(folder: Path, slot: Slot) -> Shard:
    """Make a slot's folder. It appears whole, or not at all."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    new = folder.parent / f".new-{uuid.uuid4().hex}"
    if shutil.disk_usage(folder.parent).free < RESERVE:
        raise IndexFullError(f"the disk of {folder.parent} is full")
    new.mkdir()
    engine = EdgeShard.create(str(new / SHARD_FOLDER), _config(slot))
    for key in ("url", "lang"):
        engine.update(UpdateOperation.create_field_index(key, PayloadSchemaType.Keyword))
    engine.flush()
    engine.close()
    (new / SLOT_FILE).write_text(json.dumps(asdict(slot)), encoding="utf-8")
    new.rename(folder)
    return load(folder)


def load(folder: Path) -> Shard:
    """Open a slot's folder. Raises `IndexDamagedError`, or `IndexBusyError` where it is held."""
    slot = read_slot(folder)
    _clear(folder)
    end = time.monotonic() + _LOAD_TIMEOUT
    while True:
        try:
            engine = EdgeShard.load(str(folder / SHARD_FOLDER))
            break
        except Exception as error:  # the engine raises nothing more exact
            if "WouldBlock" not in str(error):
                raise IndexDamagedError(f"cannot open {folder}: {error}") from error
            if time.monotonic() > end:  # a compaction that outlived its server, or a stranger
                raise IndexBusyError(f"{folder} is held by another process") from error
            time.sleep(0.05)
    shard = Shard(folder, slot, engine)
    shard.recover()
    return shard


def _identity(folder: Path) -> tuple[int, int] | None:
    try:
        found = (folder / SHARD_FOLDER).stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _clear(folder: Path) -> None:
    """Remove what a compaction that was killed has left: the engine never looks at it again."""
    shutil.rmtree(folder / SHARD_FOLDER / "temp_segments", ignore_errors=True)


def read_slot(folder: Path) -> Slot:
    try:
        return Slot(**json.loads((folder / SLOT_FILE).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise IndexDamagedError(f"cannot read {folder / SLOT_FILE}: {error}") from error


def _config(slot: Slot) -> EdgeConfig:
    return EdgeConfig(
        vectors={DENSE: EdgeVectorParams(size=slot.dimensions, distance=Distance.Cosine)},
        sparse_vectors={SPARSE: EdgeSparseVectorParams(modifier=Modifier.Idf)},
        optimizers=EdgeOptimizersConfig(indexing_threshold=INDEXING_KB),
        max_search_threads=1,
        wal_enabled=True,
    )


def _of(url: str) -> Filter:
    return Filter(must=[FieldCondition("url", match=MatchValue(url))])


def _point(row: Row) -> Point:
    terms = SparseVector(list(array("I", row.indices)), list(array("f", row.weights)))
    return Point(row.id, {DENSE: list(array("f", row.dense)), SPARSE: terms}, row.payload)


def _nearest(vector: list[float] | SparseVector, name: str, depth: int) -> QueryRequest:
    return QueryRequest(limit=depth, query=Query.Nearest(vector, using=name), with_payload=["url"])
