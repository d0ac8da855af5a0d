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
from pipeline import planning, profiling, records
from pipeline.caches.embeddings import EmbeddingCache, embedding_key
from pipeline.index_stage import slot_of
from pipeline.ledger import Pins, Source
from pipeline.page import STRUCTURAL, chunk, fell_back, from_cache
from pipeline.pagestore import DamagedFileError, MissingBodyError
from pipeline.parts import Parts
from pipeline.records import Record
from planner_serving.model_planner import ModelPlanner

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
    plans_needed: int = 0
    """Pages that a model would be asked about; the chunks are foreseen by their structural plan."""
    plans_cached: int = 0
    plan_input_tokens: int = 0
    """Of what would be asked, counted with the one fixed tokenizer."""
    seconds: float = 0.0
    """About: chunking as long as the forecast took, and embedding at the pace of a sample."""
    diffs: list[dict[str, str]] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def forecast(parts: Parts, name: str, pins: Pins) -> Forecast:
    """Chunk every stored page of a source by other pins.

    A page is parsed again only where its document was made by another parser. No model is asked:
    where the plan cache does not hold its answers, the structural planner stands in.
    """
    started = time.monotonic()
    source = parts.ledger.sources.get(name)
    cache = EmbeddingCache(parts.caches["embeddings"])
    model = planning.foresee(parts.settings, pins.policy, source.customer, parts.caches["plans"])
    planner = ModelPlanner(model) if model else STRUCTURAL
    found, seen, sample = Forecast(), set[str](), list[str]()
    for url, body, _ in parts.ledger.pages.indexed(name):
        stored = parts.store.record(source.customer, name, source.build, url)
        if stored is None:
            continue
        record = records.from_json(stored)
        found.pages += 1
        try:
            document = _document(parts, source, pins, record, url, body)
            chunked = chunk(document, pins.policy, parts.embedder.count, planner)
        except (MissingBodyError, DamagedFileError, chunker.errors.TerminalError):
            found.pages_unreadable += 1
            continue
        made = chunked.chunks
        found.plans_needed += fell_back(chunked.plan)
        found.plans_cached += from_cache(chunked.plan)
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
    found.plan_input_tokens = model.input_tokens if model else 0
    found.seconds = round(
        time.monotonic() - started + found.embeddings_needed * _pace(parts, sample), 1
    )
    return found


def _document(
    parts: Parts, source: Source, pins: Pins, record: Record, url: str, body: str
) -> Document:
    if record.document.parser_version == pins.parser:
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
