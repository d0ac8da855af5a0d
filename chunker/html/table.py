"""Tables: cells with spans become a grid, a grid becomes a GFM table."""

from __future__ import annotations

from dataclasses import dataclass, field

#: Cells that spans may add to a table, for each cell that is really there.
_GROWTH = 50
_WIDEST = 1000


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell as it stands in the source."""

    text: str
    """One line of Markdown, pipes escaped."""
    header: bool = False
    columns: int = 1
    rows: int = 1
    row_header: bool = False


@dataclass(slots=True)
class Row:
    """One row as it stands in the source."""

    cells: list[Cell] = field(default_factory=list)
    head: bool = False
    """It is in `<thead>`."""


def grid(rows: list[Row]) -> list[list[str]]:
    """Rows of equal length, spans filled in: a spanned place repeats the text of its cell.

    A cell over the whole width (a title) is said once. After the HTML standard, "Forming a
    table"; the cells that spans add are bounded.
    """
    real = sum(len(row.cells) for row in rows)
    budget = 1000 + _GROWTH * real
    width = max((sum(_span(cell.columns) for cell in row.cells) for row in rows), default=0)
    open_: dict[int, tuple[int, str]] = {}
    done: list[list[str]] = []
    for row in rows:
        line: dict[int, str] = {}
        for column, (left, text) in list(open_.items()):
            line[column] = text
            if left > 1:
                open_[column] = (left - 1, text)
            else:
                del open_[column]
        at = 0
        for cell in row.cells:
            while at in line:
                at += 1
            columns = _span(cell.columns)
            budget -= columns
            if budget < 0:
                columns = 1
            once = columns >= width > 1
            for step in range(columns):
                text = "" if once and step else cell.text
                line.setdefault(at + step, text)
                if cell.rows != 1 and budget > 0:
                    left = len(rows) if cell.rows == 0 else cell.rows - 1
                    open_[at + step] = (left, text)
            at += columns
        done.append([line.get(column, "") for column in range(max(line, default=-1) + 1)])
    widest = max((len(line) for line in done), default=0)
    return [line + [""] * (widest - len(line)) for line in done]


def to_markdown(rows: list[Row]) -> str:
    """A GFM table. Several header rows are joined by column; without any the header is empty."""
    rows = [row for row in rows if row.cells]
    if not rows:
        return ""
    places = grid(rows)
    heads = _header_rows(rows)
    keep = [index for index in range(len(places[0])) if any(line[index] for line in places)]
    if not keep:
        return ""
    body = [[line[index] for index in keep] for line in places[heads:]]
    header = [_joined([line[index] for line in places[:heads]]) for index in keep]
    body = [line for line in body if any(line)]
    written = [_line(header), "|" + " --- |" * len(keep), *map(_line, body)]
    return "\n".join(written)


def _header_rows(rows: list[Row]) -> int:
    count = 0
    for row in rows:
        if row.head or all(cell.header and not cell.row_header for cell in row.cells):
            count += 1
        else:
            break
    if count == len(rows) and count > 1 and not all(row.head for row in rows):
        return 1
    if count == 0 and _first_row_is_header(rows):
        return 1
    return count


def _first_row_is_header(rows: list[Row]) -> bool:
    """Authors leave `<th>` out: a first row that is bold throughout, over rows that are not."""
    if len(rows) < 2 or len(rows[0].cells) < 2:
        return False
    first = [cell.text for cell in rows[0].cells if cell.text]
    second = [cell.text for cell in rows[1].cells if cell.text]
    return bool(first) and all(map(_bold, first)) and not all(map(_bold, second))


def _bold(text: str) -> bool:
    return text.startswith("**") and text.endswith("**")


def _joined(texts: list[str]) -> str:
    said: list[str] = []
    for text in texts:
        if text and text not in said:
            said.append(text)
    return " ".join(said)


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _span(value: int) -> int:
    return min(max(value, 1), _WIDEST)
