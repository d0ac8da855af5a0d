"""What other pins would change of a source's index, and cost. Changes nothing, asks no site."""

from __future__ import annotations

import difflib
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import chunker
from chunker.model import Chunk, Document
from indexer.points import point_ids
from pipeline import profiling, records
from pipeline.caches.embeddings import EmbeddingCache, embedding_key
from pipeline.index_stage import slot_of
from pipeline.ledger import Pins, Source
from pipeline.page import chunk
from pipeline.pagestore import DamagedFileError, MissingBodyError
from pipeline.parts import Parts
from pipeline.records import Record

#: Pages whose change is shown in full.
SHOWN = 3
#: Texts that are embedded to learn how long one takes.
SAMPLE = 16


@dataclass(slots=True)
class Forecast:
    """What a change of pins would come to."""

    pages: int = 0
    pages_changed: int = 0
    pages_unreadable: int = 0
    chunks_added: int = 0
    chunks_kept: int = 0
    chunks_deleted: int = 0
    embeddings_needed: int = 0
    embeddings_cached: int = 0
    embedding_tokens: int = 0
    seconds: float = 0.0
    """About: chunking as long as the forecast took, and embedding at the pace of a sample."""
    diffs: list[dict[str, str]] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def forecast(parts: Parts, name: str, pins: Pins) -> Forecast:
    """Chunk every stored page of a source by other pins.

    A page is parsed again only where the parser is another. The structural planner stands in for
    a model's: what a model would answer is not asked for.
    """
    started = time.monotonic()
    source = parts.ledger.sources.get(name)
    cache = EmbeddingCache(parts.caches["embeddings"])
    found, seen, sample = Forecast(), set[str](), list[str]()
    for url, body, _ in parts.ledger.pages.indexed(name):
        stored = parts.store.record(source.customer, name, source.build, url)
        if stored is None:
            continue
        record = records.from_json(stored)
        found.pages += 1
        try:
            document = _document(parts, source, pins, record, url, body)
            made = chunk(document, pins.policy, parts.embedder.count).chunks
        except (MissingBodyError, DamagedFileError, chunker.errors.TerminalError):
            found.pages_unreadable += 1
            continue
        texts = _compare(found, source, url, record, made)
        if pins.embedder != source.pins.embedder:
            texts = {one.embedded for one in made}
        keys = {embedding_key(source.customer, text, pins.embedder): text for text in texts}
        new = [key for key in keys if key not in seen]
        seen.update(new)
        held = cache.get_many(new)
        missing = [keys[key] for key in new if key not in held]
        found.embeddings_cached += len(held)
        found.embeddings_needed += len(missing)
        found.embedding_tokens += sum(map(parts.embedder.count, missing))
        sample += missing[: SAMPLE - len(sample)]
    found.seconds = round(
        time.monotonic() - started + found.embeddings_needed * _pace(parts, sample), 1
    )
    return found


def _document(
    parts: Parts, source: Source, pins: Pins, record: Record, url: str, body: str
) -> Document:
    if pins.parser == source.pins.parser:
        return record.document
    row = parts.store.fetch(source.customer, source.name, url) or {}
    return chunker.parse(
        parts.store.body(source.customer, body),
        url,
        row.get("content_type"),
        source=source.name,
        verdicts=profiling.read_verdicts(parts.store, source),
    )


def _compare(
    found: Forecast, source: Source, url: str, record: Record, made: Sequence[Chunk]
) -> set[str]:
    """Count a page's chunks; returns the texts of those that are new."""
    new = dict(zip(point_ids(slot_of(source), url, made), made, strict=True))
    old = {origin.point_id for origin in record.origins}
    found.pages_changed += new.keys() != old
    found.chunks_kept += len(new.keys() & old)
    found.chunks_deleted += len(old - new.keys())
    found.chunks_added += len(new.keys() - old)
    if new.keys() != old and len(found.diffs) < SHOWN:
        before = [(one.heading_path, record.text(one)) for one in record.origins]
        after = [(one.heading_path, one.text) for one in made]
        diff = difflib.unified_diff(_lines(before), _lines(after), "now", "then", lineterm="", n=1)
        found.diffs.append({"url": url, "diff": "\n".join(diff)})
    return {new[id].embedded for id in new.keys() - old}


def _lines(chunks: Sequence[tuple[tuple[str, ...], str]]) -> list[str]:
    """Chunks as lines to compare: where one begins is a line of its own."""
    return [line for path, text in chunks for line in _chunk_lines(path, text)]


def _chunk_lines(path: tuple[str, ...], text: str) -> Iterator[str]:
    yield f"[chunk] {' > '.join(path)}"
    yield from text.splitlines()


def _pace(parts: Parts, texts: Sequence[str]) -> float:
    """Seconds that embedding one of these texts takes."""
    if not texts:
        return 0.0
    parts.embedder.embed(texts[:1])  # not the loading of the model
    started = time.monotonic()
    parts.embedder.embed(texts)
    return (time.monotonic() - started) / len(texts)
