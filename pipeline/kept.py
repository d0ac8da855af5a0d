"""Pages whose chunks come out as they are indexed: nothing of them is looked up or written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from indexer.model import Swap
from indexer.points import mark, point_ids
from pipeline import records
from pipeline.index_stage import indexed, slot_of
from pipeline.ledger import Source
from pipeline.pages import Indexed, Prepared
from pipeline.pagestore import PageStore


def kept(
    source: Source, store: PageStore, page: Prepared, record: Mapping[str, Any]
) -> Indexed | None:
    """The result of a page whose points would be those that its `record` says are in the index.

    `record` is the one that the page's document is from. Another plan that leads to the same
    points is put into it. None: the page is to be swapped, since a point differs, or since it is
    not known that the index holds what the record says. That is so from a page's claim until its
    result is on record, and of records that an older release wrote.
    """
    job, document = page.job, page.document
    if not job.is_settled or job.fetched_at is None:
        return None
    slot = slot_of(source)
    wanted = mark(slot, job.url, document.title, document.lang, job.fetched_at, page.chunks)
    if record.get("mark") != wanted:
        return None
    ids = point_ids(slot, job.url, page.chunks)
    changed = records.replanned(record, page.plan, page.chunks, ids)
    if changed is not None:
        store.put_record(source.customer, source.name, source.build, job.url, changed)
    return indexed(page, Swap(0, len(ids), 0), sketch=None)
