# mypy: disable-error-code="import-not-found,misc"
"""docling-core's hybrid chunker. It chunks a `DoclingDocument`, made here from our own units.

docling's own Markdown reader comes with torch, and is not what is compared.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from docling_core.transforms.chunker.hybrid_chunker import HybridChunker
from docling_core.transforms.chunker.tokenizer.base import BaseTokenizer
from docling_core.types.doc import DocItemLabel, DoclingDocument, TableCell, TableData

from chunker import parse
from chunker.model import Unit
from chunker.tokens import Counter

_ITEM = re.compile(r"\s*([-*+]|\d{1,9}[.)])\s+")


class _Tokenizer(BaseTokenizer):
    count: Callable[[str], int]
    limit: int

    def count_tokens(self, text: str) -> int:
        return self.count(text)

    def get_max_tokens(self) -> int:
        return self.limit

    def get_tokenizer(self) -> Any:
        return self.count


def hybrid(count: Counter, limit: int) -> Callable[[str], Iterable[str]]:
    """A splitter of Markdown whose texts carry their headings, as docling embeds them."""
    chunker = HybridChunker(tokenizer=_Tokenizer(count=count, limit=limit))

    def split(markdown: str) -> Iterator[str]:
        for chunk in chunker.chunk(_document(markdown)):
            yield chunker.contextualize(chunk)

    return split


def _document(markdown: str) -> DoclingDocument:
    parsed = parse(markdown.encode(), "file:///document.md", "text/markdown")
    document = DoclingDocument(name="document")
    for unit in parsed.units:
        _add(document, unit, parsed.markdown[unit.start : unit.end])
    return document


def _add(document: DoclingDocument, unit: Unit, text: str) -> None:
    if unit.kind == "heading":
        document.add_heading(text.lstrip("# ").rstrip("# "), level=unit.level or 1)
    elif unit.kind == "list":
        group = document.add_list_group()
        for item in _items(text):
            mark = _ITEM.match(item)
            marker = mark[1] if mark else "-"
            document.add_list_item(
                _ITEM.sub("", item, count=1), marker.isalnum(), marker, parent=group
            )
    elif unit.kind == "table":
        document.add_table(_table(text))
    elif unit.kind == "code":
        document.add_code(text)
    else:
        document.add_text(DocItemLabel.TEXT, text)


def _items(text: str) -> list[str]:
    items: list[str] = []
    for line in text.splitlines():
        if _ITEM.match(line) or not items:
            items.append(line)
        else:
            items[-1] += "\n" + line
    return items


def _table(text: str) -> TableData:
    rows = [
        [cell.strip() for cell in line.strip().strip("|").split("|")]
        for line in text.splitlines()
        if not re.fullmatch(r"[\s|:-]*", line)
    ]
    width = max((len(row) for row in rows), default=0)
    cells = [
        TableCell(
            text=row[column] if column < len(row) else "",
            start_row_offset_idx=number,
            end_row_offset_idx=number + 1,
            start_col_offset_idx=column,
            end_col_offset_idx=column + 1,
            column_header=number == 0,
        )
        for number, row in enumerate(rows)
        for column in range(width)
    ]
    return TableData(num_rows=len(rows), num_cols=width, table_cells=cells)
