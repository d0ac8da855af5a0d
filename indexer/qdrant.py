"""A Qdrant server behind the port: one collection an embedder, tenants inside it.

The server has no operation that swaps a page at once. So each of a page's points carries the
revision that its last swap gave it, in this order: new points, known points, then the old ones go.
A search that meets two revisions of a page asks again, and at last takes the newer one alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ParamSpec, TypeVar

from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import ApiException, UnexpectedResponse

from indexer.errors import IndexFullError, IndexRefusedError, IndexUnavailableError
from indexer.fusion import Candidate, Fused, depth, fuse
from indexer.model import Hit, Point, Slot, SparseVector, Stored, Swap, Vector
from indexer.payload import Payload, batches, change, hit, one_embedder, rows, stored
from indexer.tenancy import (
    INDEXED,
    OURS,
    PREFIX,
    collection_name,
    everything_of,
    nearest,
    ours,
    record,
    slot_of,
    tenant_key,
    vectors_of,
)

#: The first server that computes document frequencies over a filter: those of the slot alone.
LEAST_VERSION = (1, 19)

TIMEOUT = 60  # seconds for one request
ATTEMPTS = 4
PAGE = 1000  # points or operations in one request
LOOKS = 5  # searches that may meet a page between two revisions
PAUSE = 0.05  # seconds between two of them

P = ParamSpec("P")
T = TypeVar("T")


def open_server(url: str, api_key: str | None = None) -> QdrantIndex:
    """The index on the server at `url`. Nothing is sent before the first call."""
    client = QdrantClient(url=url, api_key=api_key, timeout=TIMEOUT, check_compatibility=False)
    return QdrantIndex(client)


class QdrantIndex:
    """A `VectorIndex` on a Qdrant server. Raises `IndexUnavailableError` when retries did not
    help, `IndexFullError`, and `IndexRefusedError` for what the server will never accept."""

    def __init__(self, client: QdrantClient, wait: Callable[[float], None] = time.sleep) -> None:
        self._client = client
        self._wait = wait
        self._known: set[str] = set()

    def replace_page(self, slot: Slot, url: str, points: Sequence[Point]) -> Swap:
        wanted_rows = rows(slot, url, points)
        held = dict(self._scroll(slot, everything_of(slot, url)))
        wanted = change(held, wanted_rows, OURS)
        swap = Swap(len(wanted.fresh), wanted.kept, len(wanted.stale))
        cut = len({payload["revision"] for payload in held.values()}) > 1
        if not (wanted.upsert or wanted.payload or wanted.stale or cut):
            return swap
        name = self._collection(slot)
        marks = ours(slot, revision=time.time_ns())
        for group in batches(wanted.upsert):
            self._call(self._client.upsert, name, [record(row, marks) for row in group], wait=True)
        upserted = {row.id for row in wanted.upsert}
        rest: list[Any] = [
            models.OverwritePayloadOperation(
                overwrite_payload=models.SetPayload(payload=row.payload | marks, points=[row.id])
            )
            for row in wanted_rows
            if row.id not in upserted
        ]
        for start in range(0, len(rest), PAGE):
            part = rest[start : start + PAGE]
            self._call(self._client.batch_update_points, name, part, wait=True)
        if wanted.stale:
            others = everything_of(slot, url, but=[row.id for row in wanted_rows])
            self._call(self._client.delete, name, models.FilterSelector(filter=others), wait=True)
        return swap

    def delete_page(self, slot: Slot, url: str) -> int:
        return self._delete(slot, everything_of(slot, url))

    def search(
        self, slots: Sequence[Slot], dense: Vector, sparse: SparseVector, limit: int
    ) -> list[Hit]:
        one_embedder(slots)
        slots = [slot for slot in dict.fromkeys(slots) if self._exists(slot)]
        for look in range(LOOKS):
            if look:
                self._wait(PAUSE)
            found, payloads = self._search(slots, dense, sparse, limit)
            whole = _newest(found, payloads)
            if len(whole) == len(found):
                break
        return [hit(slots[one.key[1]], one.key[0], one, payloads[one.key]) for one in whole]

    def points(self, slot: Slot) -> Iterator[Stored]:
        yield from (stored(*one) for one in self._scroll(slot, everything_of(slot)))

    def count(self, slot: Slot) -> int:
        return self._count(slot, everything_of(slot))

    def slots(self) -> list[Slot]:
        found: set[Slot] = set()
        for collection in self._call(self._client.get_collections).collections:
            if collection.name.startswith(PREFIX):
                for key in self._values(collection.name, "slot", None):
                    records = self._call(
                        self._client.scroll, collection.name, tenant_key("slot", key), limit=1
                    )[0]
                    found.update(slot_of(one.payload) for one in records if one.payload)
        return sorted(found, key=lambda slot: (slot.customer, slot.source, slot.build))

    def languages(self, slots: Sequence[Slot]) -> frozenset[str]:
        found: set[str] = set()
        for slot in slots:
            if self._exists(slot):
                found.update(self._values(collection_name(slot), "lang", everything_of(slot)))
        return frozenset(found)

    def drop(self, slot: Slot) -> int:
        return self._delete(slot, everything_of(slot))

    def close(self) -> None:
        self._client.close()

    # requests

    def _search(
        self, slots: Sequence[Slot], dense: Vector, sparse: SparseVector, limit: int
    ) -> tuple[list[Fused[tuple[str, int]]], dict[tuple[str, int], Payload]]:
        """Fused candidates by (id, place of the slot), and what is stored of each."""
        if not slots:
            return [], {}
        requests = [nearest(slot, dense, depth(limit)) for slot in slots]
        if sparse.indices:
            requests += [nearest(slot, sparse, depth(limit)) for slot in slots]
        name = collection_name(slots[0])
        answers = self._call(self._client.query_batch_points, name, requests)
        sides: tuple[list[Any], list[Any]] = ([], [])
        payloads: dict[tuple[str, int], Payload] = {}
        for number, answer in enumerate(answers):
            side, place = divmod(number, len(slots))
            for one in answer.points:
                key = (str(one.id), place)
                payloads[key] = one.payload or {}
                sides[side].append(Candidate(key, (payloads[key].get("url"), place), one.score))
        return fuse(*sides, limit), payloads

    def _scroll(self, slot: Slot, of: models.Filter) -> Iterator[tuple[str, Payload]]:
        start: Any = None
        while self._exists(slot):
            name = collection_name(slot)
            records, start = self._call(self._client.scroll, name, of, limit=PAGE, offset=start)
            yield from ((str(one.id), one.payload or {}) for one in records)
            if start is None:
                return

    def _count(self, slot: Slot, of: models.Filter) -> int:
        if not self._exists(slot):
            return 0
        return self._call(self._client.count, collection_name(slot), of, exact=True).count

    def _delete(self, slot: Slot, of: models.Filter) -> int:
        held = self._count(slot, of)
        if held:
            selector = models.FilterSelector(filter=of)
            self._call(self._client.delete, collection_name(slot), selector, wait=True)
        return held

    def _values(self, name: str, key: str, of: models.Filter | None) -> list[str]:
        answer = self._call(
            self._client.facet, name, key, facet_filter=of, limit=100_000, exact=True
        )
        return [str(one.value) for one in answer.hits]

    def _exists(self, slot: Slot) -> bool:
        name = collection_name(slot)
        if name not in self._known and self._call(self._client.collection_exists, name):
            self._known.add(name)
        return name in self._known

    def _collection(self, slot: Slot) -> str:
        """The embedder's collection, made where it is missing."""
        name = collection_name(slot)
        if not self._exists(slot):
            version = self._call(self._client.info).version
            if tuple(int(part) for part in version.split(".")[:2]) < LEAST_VERSION:
                least = ".".join(map(str, LEAST_VERSION))
                raise IndexRefusedError(f"the Qdrant server is {version}; {least} is needed")
            self._call(self._client.create_collection, name, **vectors_of(slot))
            for key, schema in INDEXED.items():
                self._call(self._client.create_payload_index, name, key, schema)
            self._known.add(name)
        return name

    def _call(self, request: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Repeat a request that may be repeated, with growing pauses; name a fault that stays."""
        problem: Exception | None = None
        for attempt in range(ATTEMPTS):
            if attempt:
                self._wait(0.25 * 2**attempt)
            try:
                return request(*args, **kwargs)
            except UnexpectedResponse as error:
                if "No space left" in str(error):
                    raise IndexFullError("the disk of the Qdrant server is full") from error
                if (error.status_code or 500) < 500 and error.status_code not in (408, 429):
                    self._known.clear()  # a collection may have been dropped by somebody else
                    raise IndexRefusedError(f"the Qdrant server refused: {error}") from error
                problem = error
            except (ApiException, ConnectionError, TimeoutError) as error:
                problem = error
        raise IndexUnavailableError(f"the Qdrant server does not answer: {problem}") from problem


def _newest(
    found: Sequence[Fused[tuple[str, int]]], payloads: Mapping[tuple[str, int], Payload]
) -> list[Fused[tuple[str, int]]]:
    """Without the candidates whose page was also found in a newer revision."""
    newest: dict[tuple[int, str], int] = {}
    pages = [(one.key[1], payloads[one.key]["url"]) for one in found]
    revisions = [payloads[one.key]["revision"] for one in found]
    for page, revision in zip(pages, revisions, strict=True):
        newest[page] = max(newest.get(page, 0), revision)
    seen = zip(found, pages, revisions, strict=True)
    return [one for one, page, revision in seen if revision == newest[page]]
