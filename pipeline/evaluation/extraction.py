"""How much of a page's own content comes out of it, and how much of what is around it.

A folder as `wcxb` has it: `html/<id>.html.gz` and `pages.jsonl`. Definitions in docs/parsing.md.
"""

from __future__ import annotations

import gzip
import importlib.metadata
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Any

from rich.table import Table

import chunker
from chunker.errors import TerminalError
from chunker.html.classifier.model import load, page_digest
from chunker.plain import plain
from pipeline.evaluation.formats import word_f1

#: Bytes of a page and its URL to the page's text.
Extractor = Callable[[bytes, str], str]

_WORD = re.compile(r"\w+")
_IMAGE = re.compile(r"!\[(?:[^\[\]\\]|\\.)*\]\([^()\s]*\)")


@dataclass(frozen=True, slots=True)
class Page:
    """A page with what is to be found in it."""

    id: str
    url: str
    kind: str
    body: bytes
    content: str
    required: tuple[str, ...]
    forbidden: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Score:
    """One page, one extractor."""

    id: str
    kind: str
    f1: float
    required: int
    required_found: int
    forbidden: int
    forbidden_found: int
    milliseconds: float
    error: str = ""


def evaluate(directory: Path) -> dict[str, Any]:
    """Scores of the product and of the peers that are installed, in one run.

    `{pages, trained_on, f1, with, without, ms_per_page, ms_median, by_type, failed, peers: {NAME:
    the same}, missing: [NAME]}`. `trained_on` of the pages are in the training of the region's
    classifier: the product's scores on them are not those of unseen pages. Times are process time
    on one core, bytes to units (peers: bytes to text).
    Raises `FileNotFoundError` where there is nothing to read.
    """
    pages = list(read(directory))
    if not pages:
        raise FileNotFoundError(f"no pages.jsonl with pages in {directory}")
    found, missing = peers()
    rows: dict[str, list[Score]] = {"wrac": [], **{name: [] for name in found}}
    extractors: dict[str, Extractor] = {"wrac": document_text, **found}
    for extract in extractors.values():  # what is imported at first use is no page's time
        measure(pages[0], extract)
    for page in pages:
        for name, extract in extractors.items():
            rows[name].append(measure(page, extract))
    return {
        "pages": len(pages),
        "trained_on": sum(page_digest(page.body) in load().pages for page in pages),
        **summary(rows.pop("wrac")),
        "peers": {
            name: {"version": importlib.metadata.version(name), **summary(scores)}
            for name, scores in rows.items()
        },
        "missing": missing,
    }


def table(result: Mapping[str, Any]) -> Table:
    """The result for a terminal: a row a number, a column an extractor."""
    rows = {"wrac": result, **result["peers"]}
    titles = (f"{name} {row.get('version', '')}".strip() for name, row in rows.items())
    shown = Table("", *titles, *(f"{name} (not installed)" for name in result["missing"]))
    others = [""] * (len(rows) - 1)
    shown.add_row("pages", *[str(result["pages"])] * len(rows))
    shown.add_row("pages trained on", str(result["trained_on"]), *others)
    for label, key, form in (
        ("F1", "f1", ".3f"),
        ("with", "with", ".3f"),
        ("without", "without", ".3f"),
        ("ms a page, mean", "ms_per_page", ".1f"),
        ("ms a page, median", "ms_median", ".1f"),
    ):
        shown.add_row(label, *(format(row[key], form) for row in rows.values()))
    for kind in sorted(result["by_type"]):
        shown.add_row(f"F1 {kind}", *(f"{row['by_type'][kind]:.3f}" for row in rows.values()))
    return shown


def read(directory: Path) -> Iterator[Page]:
    """The pages of a benchmark folder, in its order."""
    with (directory / "pages.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            path = directory / "html" / f"{row['id']}.html.gz"
            yield Page(
                row["id"],
                row["url"],
                row["page_type"],
                gzip.decompress(path.read_bytes()),
                row["main_content"],
                tuple(row["with"]),
                tuple(row["without"]),
            )


def document_text(body: bytes, url: str) -> str:
    """Text of the product's units, without marks and images."""
    document = chunker.parse(body, url)
    return "\n".join(
        plain(_IMAGE.sub("", document.markdown[unit.start : unit.end])) for unit in document.units
    )


def peers() -> tuple[dict[str, Extractor], list[str]]:
    """Other extractors by name, and the names of those that are not installed."""
    found: dict[str, Extractor] = {}
    missing = []
    for name, make in (("trafilatura", _trafilatura), ("resiliparse", _resiliparse)):
        try:
            found[name] = make()
        except ImportError:
            missing.append(name)
    return found, missing


def measure(page: Page, extract: Extractor) -> Score:
    """Score of one extractor on one page. A page that cannot be read has no text."""
    error = ""
    begin = time.process_time()
    try:
        text = extract(page.body, page.url)
    except TerminalError as problem:
        text, error = "", str(problem)
    spent = (time.process_time() - begin) * 1000
    spelled = f" {' '.join(_words(text))} "
    return Score(
        page.id,
        page.kind,
        word_f1(text, page.content),
        len(page.required),
        sum(holds(spelled, snippet) for snippet in page.required),
        len(page.forbidden),
        sum(holds(spelled, snippet) for snippet in page.forbidden),
        spent,
        error,
    )


def summary(scores: list[Score]) -> dict[str, Any]:
    """Means over pages; shares over snippets."""
    kinds = sorted({score.kind for score in scores})
    return {
        "f1": round(fmean(score.f1 for score in scores), 4),
        "with": _share((score.required_found, score.required) for score in scores),
        "without": _share((score.forbidden_found, score.forbidden) for score in scores),
        "ms_per_page": round(fmean(score.milliseconds for score in scores), 2),
        "ms_median": round(median(score.milliseconds for score in scores), 2),
        "by_type": {
            kind: round(fmean(score.f1 for score in scores if score.kind == kind), 4)
            for kind in kinds
        },
        "failed": {score.id: score.error for score in scores if score.error},
    }


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def holds(spelled: str, snippet: str) -> bool:
    """Whether a text, as its words with a space around each, has a snippet."""
    return f" {' '.join(_words(snippet))} " in spelled


def _share(pairs: Iterator[tuple[int, int]]) -> float:
    rows = list(pairs)
    total = sum(of for _, of in rows)
    return round(sum(found for found, _ in rows) / total, 4) if total else 0.0


def _trafilatura() -> Extractor:
    import trafilatura

    def extract(body: bytes, url: str) -> str:
        return trafilatura.extract(body, url=url) or ""

    return extract


def _resiliparse() -> Extractor:
    from resiliparse.extract.html2text import extract_plain_text
    from resiliparse.parse.encoding import bytes_to_str, detect_encoding

    def extract(body: bytes, url: str) -> str:
        text = bytes_to_str(body, detect_encoding(body) or "utf-8")
        found: str = extract_plain_text(text, main_content=True, alt_texts=False, noscript=True)
        return found

    return extract
