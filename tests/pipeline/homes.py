"""A home filled without a crawl: what was fetched is given, the loop's own stages do the rest."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from crawler.model import Outcome
from pipeline.caches.embeddings import EmbeddingCache
from pipeline.frontier import LedgerFrontier
from pipeline.index_stage import IndexStage
from pipeline.ledger import Source
from pipeline.ledger.work import Done
from pipeline.pages import Failed, Indexed
from pipeline.parse_stage import ParseStage
from pipeline.parts import Parts


def fill(opened: Parts, source: Source, visits: Sequence[Outcome], now: datetime) -> list[Indexed]:
    """Record the visits of `source` and index every page of it; none may fail."""
    LedgerFrontier(opened.ledger, opened.store, source).record_all(visits)
    parse = ParseStage(source, opened.store, opened.embedder.count)
    cache = EmbeddingCache(opened.caches["embeddings"])
    index = IndexStage(source, opened.store, opened.embedder, cache, opened.index)
    results = index.run(parse.run(opened.ledger.work.claim(source.name, "test", 64)))
    made = [result for result in results if isinstance(result, Indexed)]
    assert len(made) == len(results), [one for one in results if isinstance(one, Failed)]
    done = [Done(m.job, m.chunks, m.document_hash, m.title) for m in made]
    opened.ledger.work.done(done, now)
    return made
