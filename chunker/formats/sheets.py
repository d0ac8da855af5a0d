"""XLSX and CSV: a sheet is a table with its first row as header."""

from __future__ import annotations

import csv
import datetime
import io
from collections.abc import Iterable, Sequence

from chunker.errors import BrokenDocumentError
from chunker.formats.archive import check, reading
from chunker.formats.source import Source, file_title
from chunker.formats.text import newlines
from chunker.html.decode import decode, well_formed
from chunker.html.markdown_inline import escape

#: Cells that are read of one file; the rest is cut off, with a note.
_MOST_CELLS = 1_000_000
#: A CSV field longer than this is a quote that was never closed.
_LONGEST_FIELD = 1024 * 1024


def read_workbook(body: bytes, url: str) -> Source:
    """Sheets as tables, each under its name where there are several. Raises
    `BrokenDocumentError`."""
    from python_calamine import CalamineWorkbook  # only workbooks need it

    check(body)
    with reading("the workbook"):
        book = CalamineWorkbook.from_filelike(io.BytesIO(body))
        names = [sheet.name for sheet in book.sheets_metadata if _is_seen(sheet)]
        sheets = [(name, book.get_sheet_by_name(name).to_python()) for name in names]
    title = file_title(url)
    text = ""
    locators: list[tuple[int, str]] = []
    left = _MOST_CELLS
    cut = False
    for name, rows in sheets:
        wide = max((len(row) for row in rows), default=0)
        kept = rows[: left // max(wide, 1)]
        cut |= len(kept) < len(rows)
        left -= len(kept) * wide
        table = table_of([[_shown(value) for value in row] for row in kept])
        if not table:
            continue
        place = f"sheet={name}!A1:{_letters(wide)}{len(kept)}"
        if len(sheets) > 1:
            locators.append((len(text), place))
            text += f"## {escape(' '.join(well_formed(name).split()))}\n\n"
        locators.append((len(text), place))
        text += table + "\n\n"
    notes = (f"cut after {_MOST_CELLS:,} cells",) if cut else ()
    return Source(text.rstrip() + "\n" if text else "", title, "", locators, notes)


def read_csv(body: bytes, url: str, content_type: str | None) -> Source:
    """A file of rows as a table."""
    decoded = decode(body, content_type, markup=False)
    text = newlines(decoded.text)
    csv.field_size_limit(_LONGEST_FIELD)
    try:
        rows = list(csv.reader(io.StringIO(text), delimiter=_delimiter(text)))
    except csv.Error as error:
        raise BrokenDocumentError(f"the rows cannot be read: {error}") from error
    wide = max((len(row) for row in rows), default=0)
    kept = rows[: _MOST_CELLS // max(wide, 1)]
    notes = decoded.notes
    if len(kept) < len(rows):
        notes += (f"cut after {_MOST_CELLS:,} cells",)
    table = table_of(kept)
    place = f"sheet=!A1:{_letters(wide)}{len(kept)}"
    return Source(table + "\n" if table else "", file_title(url), "", [(0, place)], notes)


def table_of(rows: Iterable[Sequence[str]]) -> str:
    """Rows as a GFM table; empty rows and columns go, the first row is the header."""
    lines = [[_cell(value) for value in row] for row in rows]
    lines = [line for line in lines if any(line)]
    wide = max((len(line) for line in lines), default=0)
    filled = [index for index in range(wide) if any(index < len(x) and x[index] for x in lines)]
    if not filled:
        return ""
    written = [
        "| " + " | ".join(line[at] if at < len(line) else "" for at in filled) + " |"
        for line in lines
    ]
    return "\n".join([written[0], "|" + " --- |" * len(filled), *written[1:]])


def _cell(value: str) -> str:
    lines = [" ".join(line.split()) for line in value.split("\n")]
    return "<br>".join(escape(line) for line in lines if line).replace("|", "\\|")


def _shown(value: object) -> str:
    """A cell's value as a reader would see it; whole numbers without a point."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, datetime.datetime):
        midnight = value.time() == datetime.time.min
        return value.date().isoformat() if midnight else value.isoformat(" ", "minutes")
    return well_formed(str(value))


def _is_seen(sheet: object) -> bool:
    return str(getattr(sheet, "visible", "")).rpartition(".")[2] not in {"Hidden", "VeryHidden"}


def _delimiter(text: str) -> str:
    """The one of four signs that parts the first lines alike, most often."""
    lines = [line for line in text[:20_000].split("\n")[:20] if line.strip()]
    best, most = ",", 0
    for sign in ",;\t|":
        counts = [len(next(csv.reader([line], delimiter=sign))) - 1 for line in lines]
        usual = max(set(counts), key=counts.count) if counts else 0
        score = usual * counts.count(usual)
        if score > most:
            best, most = sign, score
    return best


def _letters(number: int) -> str:
    """Name of a column, counted from 1: A, B, ... AA."""
    name = ""
    while number > 0:
        number, rest = divmod(number - 1, 26)
        name = chr(65 + rest) + name
    return name or "A"
