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
    job: Job, document: Document, plan: Plan, chunks: Sequence[Chunk], point_ids: Sequence[str]
) -> dict[str, Any]:
    """The record of a job's page whose chunks are, in order, the points of these ids."""
    origins = [
        Origin(id, chunk.heading_path, chunk.unit_ids, chunk.spans)
        for id, chunk in zip(point_ids, chunks, strict=True)
    ]
    return {
        "of": _source_of(job),
        "document": {k: v for k, v in asdict(document).items() if k != "blocks"},
        "plan": asdict(plan),
        "origins": [asdict(origin) for origin in origins],
    }


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
    plan = value["plan"]
    return Record(
        document=_document(value["document"]),
        plan=Plan(
            **{
                **plan,
                "groups": tuple(tuple(group) for group in plan["groups"]),
                "boundaries": tuple(Boundary(**boundary) for boundary in plan["boundaries"]),
                "usage": Usage(**plan["usage"]),
                "repairs": tuple(plan["repairs"]),
            }
        ),
        origins=tuple(
            Origin(
                point_id=origin["point_id"],
                heading_path=tuple(origin["heading_path"]),
                unit_ids=tuple(origin["unit_ids"]),
                spans=tuple((start, end) for start, end in origin["spans"]),
            )
            for origin in value["origins"]
        ),
    )
