"""Proves that page store, ledger and index agree."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from indexer.model import Stored
from pipeline import records
from pipeline.index_stage import slot_of
from pipeline.ledger import Source
from pipeline.pagestore import DamagedFileError, MissingBodyError
from pipeline.parts import Parts


@dataclass(slots=True)
class Verified:
    """What was looked at, and what is wrong: pairs of URL and problem."""

    pages: int = 0
    chunks: int = 0
    points: int = 0
    problems: list[dict[str, str]] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return not self.problems


def verify(parts: Parts, source: Source, into: Verified) -> None:
    """Check every page of a source: its body, its record, and each of its points.

    Each point's text is put together from the stored document again and compared.
    """
    held: dict[str, dict[str, Stored]] = defaultdict(dict)
    for point in parts.index.points(slot_of(source)):
        held[point.url][point.id] = point
        into.points += 1
    for url, body_hash, chunks in parts.ledger.pages.indexed(source.name):
        into.pages += 1
        into.chunks += chunks
        points = held.pop(url, {})
        for problem in _page_problems(parts, source, url, body_hash, chunks, points):
            into.problems.append({"url": url, "problem": problem})
    for url, points in held.items():
        into.problems.append(
            {"url": url, "problem": f"{len(points)} points of a page that is not indexed"}
        )


def _page_problems(
    parts: Parts, source: Source, url: str, body_hash: str, chunks: int, points: dict[str, Stored]
) -> Iterator[str]:
    try:
        parts.store.body(source.customer, body_hash)
    except (MissingBodyError, DamagedFileError) as error:
        yield str(error)
    try:
        stored = parts.store.record(source.customer, source.name, source.build, url)
    except DamagedFileError as error:
        yield str(error)
        return
    if stored is None:
        yield "its document and plan are not in the page store"
        return
    record = records.from_json(stored)
    if len(record.origins) != chunks:
        yield f"the ledger counts {chunks} chunks, the record {len(record.origins)}"
    ids = {origin.point_id for origin in record.origins}
    if missing := ids - set(points):
        yield f"{len(missing)} of {len(ids)} points are not in the index"
    if extra := set(points) - ids:
        yield f"{len(extra)} points in the index are of no chunk of the page"
    for origin in record.origins:
        point = points.get(origin.point_id)
        if point is not None and point.text != record.text(origin):
            yield f"point {origin.point_id} does not hold the text that its document has there"
