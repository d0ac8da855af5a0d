"""Why a paragraph was not found: the first stage that lost it, with the evidence."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from chunker.html.decode import decode
from chunker.model import Document, Unit
from chunker.plain import plain
from crawler import reasons
from crawler.scope import Rules
from crawler.urls import canonical
from indexer.model import Hit
from indexer.search import search
from indexer.sparse import language, terms
from pipeline import records
from pipeline.index_stage import slot_of
from pipeline.ledger import PageRow, Source
from pipeline.parts import Parts

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
#: Share of a paragraph's words that a text must hold to be where it is.
HOLDS = 0.8
#: How far down a ranking a chunk is looked for.
DEPTH = 1000
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
    verdicts = {
        source.name: Rules(source.scope).why_not(url) or "never linked from a page that was read"
        for source in sources
    }
    return Why("scope", "no source has this URL", {"sources": verdicts})


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
    unit, share = _best(record.document, paragraph)
    if unit is None or share < HOLDS:
        return _not_in_units(parts, source, row, record.document, paragraph, evidence)
    evidence |= {"unit": unit.id, "words_held": round(share, 2), "locator": unit.locator}
    if unit.id in record.plan.dropped:
        reason = record.plan.dropped[unit.id]
        return Why("dropped unit", f"{unit.id} is dropped: {reason}", evidence)
    origins = [origin for origin in record.origins if unit.id in origin.unit_ids]
    if not origins:
        return Why("plan", f"no chunk holds {unit.id}", evidence)
    ids = {origin.point_id for origin in origins}
    evidence |= {"chunk_ids": sorted(ids), "heading_path": origins[0].heading_path}
    held = {point.id for point in parts.index.points(slot_of(source)) if point.url == row.url}
    if not ids <= held:
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
            share = _share(_words(paragraph, lang), set(_words(visible, lang)))
            evidence["words_held_by_body"] = round(share, 2)
            if share >= HOLDS:
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
    hits = search(parts.index, parts.embedder, slots, query, limit=DEPTH)
    places = [number for number, hit in enumerate(hits, 1) if hit.chunk_id in ids]
    if not places:
        return Why("filter", f"it is not among the first {DEPTH} hits", evidence)
    best = hits[places[0] - 1]
    evidence |= {
        "rank": places[0],
        "dense_rank": best.dense_rank,
        "sparse_rank": best.sparse_rank,
        "above": list(_above(hits[: min(places[0] - 1, k)])),
    }
    if places[0] <= k:
        return Why("found", f"it is hit {places[0]}", evidence)
    return Why("rank", f"it is hit {places[0]}; {k} were asked for", evidence)


def _above(hits: Sequence[Hit]) -> Iterator[dict[str, Any]]:
    for hit in hits:
        yield {
            "url": hit.url,
            "heading_path": hit.heading_path,
            "score": hit.score,
            "dense_rank": hit.dense_rank,
            "sparse_rank": hit.sparse_rank,
        }


def _best(document: Document, paragraph: str) -> tuple[Unit | None, float]:
    """The unit that holds most of a paragraph's words, and the share that it holds."""
    words = _words(paragraph, document.lang)
    markdown = document.markdown
    shares = [
        (_share(words, set(_words(plain(markdown[unit.start : unit.end]), document.lang))), unit)
        for unit in document.units
    ]
    if not shares or not words:
        return None, 0.0
    share, unit = max(shares, key=lambda pair: pair[0])
    return unit, share


def _share(words: Sequence[str], held: set[str]) -> float:
    return sum(word in held for word in words) / len(words) if words else 0.0


def _words(text: str, lang: str) -> list[str]:
    """As the index has them: a sentence of a script without spaces is more than one word."""
    return terms(text.lower(), language(lang))
