"""Why a paragraph was not found: the first stage that lost it, with the evidence."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from chunker.html.decode import decode
from chunker.model import Document
from crawler import reasons
from crawler.scope import Rules
from crawler.urls import canonical
from pipeline import records
from pipeline.index_stage import slot_of
from pipeline.ledger import PageRow, Source
from pipeline.parts import Parts
from pipeline.why_place import HOLDS, held, holders, share, words
from pipeline.why_rank import place

Stage = Literal[
    "scope",
    "robots",
    "fetch",
    "noindex",
    "duplicate",
    "parse",
    "region",
    "dropped unit",
    "plan",
    "index",
    "filter",
    "rank",
    "found",
]
#: Formats whose bytes are text that a paragraph can be looked for in.
AS_TEXT = frozenset({"html", "markdown", "text", "csv"})
#: Reasons that were decided from the URL alone.
_BEFORE_ASKING = reasons.SKIPPED - {
    reasons.ROBOTS,
    reasons.FILE_TYPE,
    reasons.EMPTY,
    reasons.TOO_LARGE,
    reasons.NOT_FOUND,
    reasons.SOFT_404,
    reasons.LOGIN,
    reasons.GONE,
    reasons.DENIED,
}


@dataclass(frozen=True, slots=True)
class Why:
    """The stage that lost a paragraph, or `found`, and what shows it."""

    stage: Stage
    message: str
    evidence: dict[str, Any] = field(default_factory=dict)


def why(
    parts: Parts, sources: Sequence[Source], paragraph: str, url: str, query: str | None, k: int
) -> Why:
    """Follow a paragraph of a page through every stage, to the first that lost it.

    With a `query` the ranking over `sources` is the last stage; `k` is how many hits count as
    found.
    """
    url = canonical(url)
    for source in sources:
        row = parts.ledger.pages.get(source.name, url)
        if row is not None:
            return _page(parts, sources, source, row, paragraph, query, k)
    customers = {source.customer for source in sources}
    others = [one for customer in customers for one in parts.ledger.sources.all(customer)]
    if has := [one.name for one in others if parts.ledger.pages.get(one.name, url) is not None]:
        return Why("filter", f"{', '.join(has)} has this URL, and was not searched", {"in": has})
    verdicts = {
        source.name: Rules(source.scope).why_not(url) or "never linked from a page that was read"
        for source in sources
    }
    return Why("scope", "none of the searched sources has this URL", {"sources": verdicts})


def _page(
    parts: Parts,
    sources: Sequence[Source],
    source: Source,
    row: PageRow,
    paragraph: str,
    query: str | None,
    k: int,
) -> Why:
    evidence: dict[str, Any] = {"source": source.name, "url": row.url, "state": row.state}
    if row.canonical != row.url:
        target = parts.ledger.pages.get(source.name, row.canonical)
        if row.reason == reasons.OUT_OF_SCOPE:
            return Why("scope", f"it redirects out of scope, to {row.canonical}", evidence)
        if row.reason == reasons.REDIRECT and (target is None or target.reason == row.reason):
            return Why("fetch", f"it redirects to {row.canonical}, which leads nowhere", evidence)
        if target is None or target.canonical != target.url:
            return Why("duplicate", f"it stands for {row.canonical}", evidence)
        found = _page(parts, sources, source, target, paragraph, query, k)
        return Why(found.stage, found.message, {**found.evidence, "alias": row.url})
    lost = _before_parsing(row, evidence)
    if lost is not None:
        return lost
    stored = parts.store.record(source.customer, source.name, source.build, row.url)
    if stored is None:
        return Why("parse", row.detail or "the page has not been processed yet", evidence)
    record = records.from_json(stored)
    units, words_held = holders(record.document, paragraph)
    if words_held < HOLDS:
        return _not_in_units(parts, source, row, record.document, paragraph, evidence)
    names = [unit.id for unit in units]
    evidence |= {"units": names, "words_held": round(words_held, 2), "locator": units[0].locator}
    if dropped := [id for id in names if id in record.plan.dropped]:
        left_out = ", ".join(f"{id} ({record.plan.dropped[id]})" for id in dropped)
        return Why("dropped unit", f"the policy leaves out {left_out}", evidence)
    origins = [origin for origin in record.origins if set(names) & set(origin.unit_ids)]
    if not origins:
        return Why("plan", f"no chunk holds {' '.join(names)}", evidence)
    # Of a unit that was cut, only the pieces that hold most of the paragraph.
    shares = [held(record.text(one), paragraph, record.document.lang) for one in origins]
    ids = {one.point_id for one, of in zip(origins, shares, strict=True) if of == max(shares)}
    path = next(one.heading_path for one in origins if one.point_id in ids)
    evidence |= {"chunk_ids": sorted(ids), "heading_path": path}
    stored_ids = {point.id for point in parts.index.points(slot_of(source)) if point.url == row.url}
    if not ids <= stored_ids:
        return Why("index", "its chunk is not in the index; wrac verify says more", evidence)
    if query is None:
        return Why("found", "it is indexed", evidence)
    return _ranked(parts, sources, ids, query, k, evidence)


def _before_parsing(row: PageRow, evidence: dict[str, Any]) -> Why | None:
    evidence |= {
        key: value for key, value in (("reason", row.reason), ("status", row.status)) if value
    }
    if row.state == "indexed":
        return None
    if row.reason == "noindex":
        return Why("noindex", "the page asks not to be indexed", evidence)
    if row.reason == reasons.ROBOTS:
        return Why("robots", "robots.txt forbids it", evidence)
    if row.reason in _BEFORE_ASKING:
        return Why("scope", f"the URL is not in scope: {row.reason}", evidence)
    if row.reason in reasons.FAILED | reasons.SKIPPED:
        return Why("fetch", f"the page could not be had: {row.reason}", evidence)
    if row.state == "failed":
        return Why("parse", f"{row.reason}: {row.detail}", evidence)
    return None


def _not_in_units(
    parts: Parts,
    source: Source,
    row: PageRow,
    document: Document,
    paragraph: str,
    evidence: dict[str, Any],
) -> Why:
    if document.format not in AS_TEXT:
        evidence["format"] = document.format
        return Why("parse", f"what was read of the {document.format} file lacks it", evidence)
    for url, digest, _ in parts.ledger.pages.indexed(source.name):
        if url == row.url:
            body = decode(parts.store.body(source.customer, digest)).text
            visible = html.unescape(re.sub(r"<[^>]*>", " ", body))
            lang = document.lang
            of_body = share(words(paragraph, lang), set(words(visible, lang)))
            evidence["words_held_by_body"] = round(of_body, 2)
            if of_body >= HOLDS:
                return Why(
                    "region",
                    "the stored page holds it outside of what was taken as content",
                    evidence,
                )
    return Why("fetch", "the page as it was fetched does not hold it", evidence)


def _ranked(
    parts: Parts,
    sources: Sequence[Source],
    ids: set[str],
    query: str,
    k: int,
    evidence: dict[str, Any],
) -> Why:
    slots = [slot_of(source) for source in sources]
    stands = place(parts.index, parts.embedder, slots, ids, query, k)
    evidence |= stands.evidence
    if stands.instead is not None:
        message = f"its text is shown as hit {stands.rank}, from {stands.instead}"
        return Why("filter", message, evidence)
    if stands.rank is None:
        return Why("rank", f"it is not among the first {stands.looked_at} hits", evidence)
    if stands.rank <= k:
        return Why("found", f"it is hit {stands.rank}", evidence)
    return Why("rank", f"it is hit {stands.rank}; {k} were asked for", evidence)
