"""What a document can do to the worker that parses it: it ends with a named error within the
deadline, and the next page is served by the same live worker."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from chunker import tokens
from pipeline.pages import Failed, Parsed, Prepared
from pipeline.pagestore import PageStore
from pipeline.parse_stage import Limits, ParseStage
from tests.chunker.files import docx, line, paragraph, pdf, workbook
from tests.pipeline.test_parse_stage import SMALL, SOURCE, job

ROWS = [[f"row {number}", number, "x"] for number in range(20_000)]
LAUGHS = "".join(f'<!ENTITY l{number} "{f"&l{number - 1};" * 10}">' for number in range(1, 10))
SVG = (
    f'<!DOCTYPE svg [<!ENTITY l0 "ha">{LAUGHS}]><svg xmlns="http://www.w3.org/2000/svg">&l9;</svg>'
)
ENCRYPTED = (
    "/Encrypt << /Filter /Standard /V 1 /R 2 /P -64 "
    f"/O <{'28' * 32}> /U <{'bf' * 32}> >> /ID [<00> <00>]"
)


@pytest.fixture
def serve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes, float], Parsed]:
    """What the worker says of a body within some seconds; it goes on with a page after it."""
    # On a busy machine a library may hold on for longer: what would end then are the tests.
    monkeypatch.setattr("pipeline.parse_stage.GRACE", 600.0)
    store = PageStore(str(tmp_path))
    stage = ParseStage(SOURCE, store, tokens.count)

    def answer(body: bytes, seconds: float) -> Parsed:
        [found] = stage.run([job(store, body, "hostile")], Limits(seconds, 0))
        [after] = stage.run([job(store, SMALL, "small")], Limits(60, 0))
        assert isinstance(after, Prepared)
        return found

    return answer


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (f'<?xml version="1.0"?>{SVG}'.encode(), "XML"),
        (SVG.encode(), "SVG"),
        (docx(paragraph("x"), extra={"word/media/a.bin": "\0" * 30_000_000}), "unpacks"),
        (docx(paragraph("x"), extra={"word/x.xml": SVG}), "entities"),
        (docx(paragraph("x"))[:900], "damaged"),
        (pdf([[line(100, 700, "x")]])[:200], "damaged"),
        (pdf([[line(100, 700, "x")]], trailer=ENCRYPTED), "password"),
        (bytes(range(256)) * 40, "binary"),
    ],
    ids=["laughs", "svg", "bomb", "entities", "cut docx", "cut pdf", "encrypted", "noise"],
)
def test_what_cannot_be_read_is_named(
    serve: Callable[[bytes, float], Parsed], body: bytes, says: str
) -> None:
    found = serve(body, 60)
    assert isinstance(found, Failed)
    assert (found.reason, found.transient) == ("unreadable", False)
    assert says in found.detail


@pytest.mark.parametrize(
    "body",
    [
        ("<html><svg>" + SVG + "</svg><main><p>" + "The office opens at nine. " * 9).encode(),
        b"<main>" + b"<div>" * 100_000 + b"The harbour office opens at nine o'clock.",
    ],
    ids=["svg inside", "nesting"],
)
def test_what_can_be_read_is(serve: Callable[[bytes, float], Parsed], body: bytes) -> None:
    assert isinstance(serve(body, 60), Prepared)


@pytest.mark.parametrize(
    "body",
    [
        b"<main>" + b"<p>The harbour office opens at nine o'clock, every day.</p>" * 60_000,
        b"<table>" + b"<tr><td>row<td>17<td>x" * 60_000,
        docx(paragraph("The office opens at nine.") * 30_000),
        workbook({"Rows": ROWS}),
        pdf([[line(100, 700 - n, f"Line {n} of the page") for n in range(600)]] * 100),
        "\n".join(",".join(map(str, row)) for row in ROWS * 5).encode(),
    ],
    ids=["html", "table", "docx", "xlsx", "pdf", "csv"],
)
def test_what_takes_too_long_ends_by_that_name(
    serve: Callable[[bytes, float], Parsed], body: bytes
) -> None:
    serve(SMALL, 60)  # what is imported on the way is not the page's
    found = serve(body, 0.05)
    assert isinstance(found, Failed)
    assert (found.reason, found.transient) == ("deadline", False)
