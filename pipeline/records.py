"""What is kept of an indexed page beside its body: document, plan, and where each point is from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from chunker import PARSER_VERSION
from chunker.chunks import assemble
from chunker.model import Boundary, Chunk, Document, Plan, Unit, Usage
from pipeline.ledger import Job


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a point's text is from: its chunk without the text."""

    point_id: str
    heading_path: tuple[str, ...]
    unit_ids: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Record:
    """It explains a page's chunks for as long as they live."""

    document: Document
    plan: Plan
    origins: tuple[Origin, ...]
    """In the order of the chunks on the page."""

    def text(self, origin: Origin) -> str:
        """The verbatim text of a point, put together from the document again."""
        return assemble(self.document.markdown, origin.spans, self.document.units)


def to_json(
    job: Job,
    document: Document,
    plan: Plan,
    chunks: Sequence[Chunk],
    point_ids: Sequence[str],
    mark: str = "",
) -> dict[str, Any]:
    """The record of a job's page whose chunks are, in order, the points of these ids.

    `mark` is the points' (`indexer.points.mark`).
    """
    return {
        "of": _source_of(job),
        "document": {k: v for k, v in asdict(document).items() if k != "blocks"},
        "mark": mark,
        **_made(plan, chunks, point_ids),
    }


def replanned(
    value: Mapping[str, Any], plan: Plan, chunks: Sequence[Chunk], point_ids: Sequence[str]
) -> dict[str, Any] | None:
    """The record with another plan that led to the same points; None where it would be the same."""
    if _plan(value["plan"]) == plan and _told(value["origins"]) == _origins(chunks, point_ids):
        return None
    return {**value, **_made(plan, chunks, point_ids)}


def _made(plan: Plan, chunks: Sequence[Chunk], point_ids: Sequence[str]) -> dict[str, Any]:
    origins = _origins(chunks, point_ids)
    return {"plan": asdict(plan), "origins": [asdict(origin) for origin in origins]}


def _origins(chunks: Sequence[Chunk], point_ids: Sequence[str]) -> tuple[Origin, ...]:
    return tuple(
        Origin(id, chunk.heading_path, chunk.unit_ids, chunk.spans)
        for id, chunk in zip(point_ids, chunks, strict=True)
    )


def document_of(value: Mapping[str, Any], job: Job) -> Document | None:
    """The document of a record, where parsing what the job wants would give the same."""
    document = value["document"]
    if value.get("of") != _source_of(job) or document["parser_version"] != PARSER_VERSION:
        return None
    return _document(document)


def _source_of(job: Job) -> str:
    """What a page is parsed from: body and verdicts, as they stand in `wanted` before the pins."""
    return (job.wanted or "").rpartition(":")[0]


def _document(value: Mapping[str, Any]) -> Document:
    return Document(
        **{
            **value,
            "units": tuple(Unit(**unit) for unit in value["units"]),
            "notes": tuple(value["notes"]),
        }
    )


def from_json(value: Mapping[str, Any]) -> Record:
    return Record(_document(value["document"]), _plan(value["plan"]), _told(value["origins"]))


def _plan(value: Mapping[str, Any]) -> Plan:
    return Plan(
        **{
            **value,
            "groups": tuple(tuple(group) for group in value["groups"]),
            "boundaries": tuple(Boundary(**boundary) for boundary in value["boundaries"]),
            "usage": Usage(**value["usage"]),
            "repairs": tuple(value["repairs"]),
        }
    )


def _told(values: Sequence[Mapping[str, Any]]) -> tuple[Origin, ...]:
    return tuple(
        Origin(
            point_id=origin["point_id"],
            heading_path=tuple(origin["heading_path"]),
            unit_ids=tuple(origin["unit_ids"]),
            spans=tuple((start, end) for start, end in origin["spans"]),
        )
        for origin in values
    )
