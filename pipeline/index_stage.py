"""Second stage: chunks to points in the index. Embeds what no cache knows, swaps page by page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np

from chunker import similar
from chunker.model import Document, Plan
from indexer import errors
from indexer.model import Point, Slot, Swap, Vector
from indexer.points import mark, points
from indexer.ports import Embedder, VectorIndex
from indexer.sparse import encode_document
from pipeline import records
from pipeline.caches.embeddings import EmbeddingCache, embedding_key
from pipeline.errors import PipelineError
from pipeline.ledger import Job, Source
from pipeline.page import fell_back, from_cache
from pipeline.pages import Failed, Indexed, Parsed, Prepared, Removal, Removed, Repeat, Result
from pipeline.pagestore import PageStore

EMPTY: Vector = np.zeros((0, 0), dtype=np.float32)


class IndexStage:
    """Indexes prepared pages of one source, removes withdrawn ones."""

    def __init__(
        self,
        source: Source,
        store: PageStore,
        embedder: Embedder,
        cache: EmbeddingCache,
        index: VectorIndex,
    ) -> None:
        self._source = source
        self._store = store
        self._embedder = embedder
        self._cache = cache
        self._index = index
        self._slot = slot_of(source)

    def run(self, pages: Sequence[Parsed]) -> list[Result]:
        """One result a page, in order. The pages' texts are embedded together."""
        return [_paid(page, result) for page, result in zip(pages, self._run(pages), strict=True)]

    def _run(self, pages: Sequence[Parsed]) -> list[Result]:
        prepared = [page for page in pages if isinstance(page, Prepared)]
        try:
            vectors, made = self._embed(prepared)
        except errors.TransientError as error:
            return [_waiting(page.job, error) for page in pages]
        except errors.TerminalError as error:
            if len(pages) == 1:
                return [Failed(page.job, "embedder", str(error)) for page in pages]
            # One text that the embedder refuses must not take the other pages with it.
            return [result for page in pages for result in self._run([page])]
        return [self._one(page, vectors, made) for page in pages]

    def _one(self, page: Parsed, vectors: dict[str, Vector], made: set[str]) -> Result:
        try:
            match page:
                case Prepared():
                    return self._swap(page, vectors, made)
                case Repeat():
                    return self._stand_aside(page)
                case Removal():
                    return self._remove(page)
                case _:
                    return page
        except errors.TransientError as error:
            return _waiting(page.job, error)
        except errors.TerminalError as error:
            return Failed(page.job, "index", str(error))
        except PipelineError as error:
            return Failed(page.job, error.code, str(error), transient=True)

    def _embed(self, pages: Sequence[Prepared]) -> tuple[dict[str, Vector], set[str]]:
        """Vectors by text, and the texts whose vectors had to be made."""
        texts = list(dict.fromkeys(c.embedded for page in pages for c in page.chunks))
        keys = {
            text: embedding_key(self._source.customer, text, self._embedder.identity)
            for text in texts
        }
        known = self._cache.get_many(list(keys.values()))
        vectors = {text: known[key] for text, key in keys.items() if key in known}
        missing = [text for text in texts if text not in vectors]
        if missing:
            made = dict(zip(missing, self._embedder.embed(missing), strict=True))
            self._cache.put_many({keys[text]: vector for text, vector in made.items()})
            vectors |= made
        return vectors, set(missing)

    def _swap(self, page: Prepared, vectors: dict[str, Vector], made: set[str]) -> Indexed:
        source, job, document = self._source, page.job, page.document
        fetched_at = job.fetched_at or datetime.now(UTC)
        made_points = self._points(page, vectors, fetched_at)
        marked = mark(self._slot, job.url, document.title, document.lang, fetched_at, page.chunks)
        # The record first: whatever is in the index can be explained.
        ids = [point.id for point in made_points]
        record = records.to_json(job, document, page.plan, page.chunks, ids, marked)
        self._store.put_record(source.customer, source.name, source.build, job.url, record)
        swap = self._index.replace_page(self._slot, job.url, made_points)
        texts = [chunk.embedded for chunk in page.chunks]
        new = made.intersection(texts)
        made.difference_update(texts)  # a text of two pages is made once
        tokens = sum(map(self._embedder.count, new))
        return indexed(page, swap, _sketch(document), len(new), tokens)

    def _stand_aside(self, page: Repeat) -> Indexed:
        source, job, document = self._source, page.job, page.document
        record = records.to_json(job, document, Plan("none", (), {}, ()), (), ())
        self._store.put_record(source.customer, source.name, source.build, job.url, record)
        swap = self._index.replace_page(self._slot, job.url, [])
        return Indexed(
            job=job,
            document_hash=document.content_hash,
            sketch=_sketch(document),
            title=document.title,
            chunks=0,
            added=0,
            kept=0,
            deleted=swap.deleted,
            embedded=0,
            embedded_cached=0,
            plan_cached=False,
            plan_repaired=False,
            plan_fallback=False,
        )

    def _points(
        self, page: Prepared, vectors: dict[str, Vector], fetched_at: datetime
    ) -> list[Point]:
        document, chunks = page.document, page.chunks
        return points(
            self._slot,
            page.job.url,
            document.title,
            document.lang,
            fetched_at,
            chunks,
            np.stack([vectors[chunk.embedded] for chunk in chunks]) if chunks else EMPTY,
            [encode_document(chunk.embedded, document.lang) for chunk in chunks],
        )

    def _remove(self, page: Removal) -> Removed:
        deleted = self._index.delete_page(self._slot, page.job.url)
        source = self._source
        self._store.delete_record(source.customer, source.name, source.build, page.job.url)
        return Removed(page.job, deleted)


def indexed(
    page: Prepared, swap: Swap, sketch: str | None, embedded: int = 0, embedded_tokens: int = 0
) -> Indexed:
    """What a page came to; `embedded` of its texts, of so many tokens, had to be embedded."""
    return Indexed(
        job=page.job,
        document_hash=page.document.content_hash,
        sketch=sketch,
        title=page.document.title,
        chunks=len(page.chunks),
        added=swap.added,
        kept=swap.kept,
        deleted=swap.deleted,
        embedded=embedded,
        embedded_tokens=embedded_tokens,
        embedded_cached=len({chunk.embedded for chunk in page.chunks}) - embedded,
        plan_cached=from_cache(page.plan),
        plan_repaired=bool(page.plan.repairs),
        plan_fallback=fell_back(page.plan),
        usage=page.plan.usage,
    )


def _sketch(document: Document) -> str:
    return ":".join(similar.sketch(document))


def slot_of(source: Source) -> Slot:
    """The slot that holds a source's index."""
    return Slot(
        customer=source.customer,
        source=source.name,
        embedder=source.pins.embedder,
        dimensions=source.pins.dimensions,
        build=source.build,
    )


def _waiting(job: Job, error: Exception) -> Failed:
    return Failed(job, type(error).__name__, str(error), transient=True)


def _paid(page: Parsed, result: Result) -> Result:
    """The result; one that failed says what its planning cost, wherever it failed."""
    if not isinstance(result, Failed) or not isinstance(page, Prepared | Failed):
        return result
    return replace(result, usage=page.plan.usage if isinstance(page, Prepared) else page.usage)
