"""Office files, sheets and PDFs come to the same kinds of units; broken ones have a named error."""

import io

import pytest
from pptx import Presentation
from pptx.util import Inches
from xlsxwriter import Workbook

import chunker
from chunker.errors import BrokenDocumentError
from chunker.model import Document
from tests.chunker.files import docx, line, paragraph, pdf, rule, workbook


def shown(document: Document) -> list[tuple[str, str]]:
    return [(unit.kind, document.markdown[unit.start : unit.end]) for unit in document.units]


def test_docx() -> None:
    cells = "".join(f"<w:tc>{paragraph(text)}</w:tc>" for text in ("a | b", "2"))
    body = docx(
        paragraph("Guide", "H1")
        + paragraph("Some *text*")
        + paragraph("Part", "H2")
        + paragraph("All bold", bold=True)
        + f"<w:tbl><w:tr>{cells}</w:tr><w:tr>{cells}</w:tr></w:tbl>"
    )
    document = chunker.parse(body, "https://example.com/x.docx")
    assert (document.format, document.title) == ("docx", "Guide")
    assert shown(document) == [
        ("heading", "# Guide"),
        ("text", "Some \\*text\\*"),
        ("heading", "## Part"),
        ("text", "**All bold**"),
        ("table", "|  |  |\n| --- | --- |\n| a \\| b | 2 |\n| a \\| b | 2 |"),
    ]
    assert document.units[3].emphasised
    assert [unit.locator for unit in document.units] == [f"block={n}" for n in range(1, 6)]


def test_pptx_a_slide_is_a_section() -> None:
    deck = Presentation()
    opening = deck.slides.add_slide(deck.slide_layouts[0])
    opening.shapes.title.text = "The deck"
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = "Steps"
    frame = slide.placeholders[1].text_frame
    frame.text = "First"
    nested = frame.add_paragraph()
    nested.text, nested.level = "Nested", 1
    table = slide.shapes.add_table(2, 2, Inches(1), Inches(1), Inches(4), Inches(1)).table
    for row in range(2):
        for column in range(2):
            table.cell(row, column).text = f"{row}{column}"
    slide.notes_slide.notes_text_frame.text = "Say this"
    made = io.BytesIO()
    deck.save(made)
    document = chunker.parse(made.getvalue(), "https://example.com/x.pptx")
    assert (document.format, document.title) == ("pptx", "The deck")
    assert shown(document) == [
        ("heading", "# The deck"),
        ("heading", "## Steps"),
        ("list", "- First\n  - Nested"),
        ("table", "| 00 | 01 |\n| --- | --- |\n| 10 | 11 |"),
        ("text", "Say this"),
    ]
    assert [unit.locator for unit in document.units] == ["slide=1"] + ["slide=2"] * 4


@pytest.mark.parametrize(("layout", "heading"), [(5, "### Prices"), (6, "## Prices")])
def test_pptx_a_bold_line_alone_over_a_table_is_its_heading(layout: int, heading: str) -> None:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[layout])
    if slide.shapes.title is not None:
        slide.shapes.title.text = "Parts"
    for over in (True, False):
        place = Inches(1), Inches(1), Inches(4), Inches(1)
        line = slide.shapes.add_textbox(*place).text_frame.paragraphs[0].add_run()
        line.text, line.font.bold = "Prices" if over else "Ask us", True
        if over:
            slide.shapes.add_table(1, 2, *place).table.cell(0, 0).text = "a"
    made = io.BytesIO()
    deck.save(made)
    found = shown(chunker.parse(made.getvalue(), "https://example.com/x.pptx"))
    assert found[-3:] == [
        ("heading", heading),
        ("table", "| a |\n| --- |"),
        ("text", "**Ask us**"),
    ]


def test_xlsx_a_sheet_is_a_table() -> None:
    body = workbook({"Prices": [["Part", "Price"], ["Filter", 400], ["", ""], ["Pads", 2.5]]})
    document = chunker.parse(body, "https://example.com/price_list.xlsx")
    assert (document.format, document.title) == ("xlsx", "price list")
    assert shown(document) == [
        ("table", "| Part | Price |\n| --- | --- |\n| Filter | 400 |\n| Pads | 2.5 |")
    ]
    assert document.units[0].locator == "sheet=Prices!A1:B4"


def test_xlsx_several_sheets_are_sections() -> None:
    body = workbook({"One": [["a"], ["b"]], "Empty": [], "Two": [["c"], ["d"]]})
    document = chunker.parse(body, "https://example.com/x.xlsx")
    assert [text for _, text in shown(document)] == [
        "## One",
        "| a |\n| --- |\n| b |",
        "## Two",
        "| c |\n| --- |\n| d |",
    ]


def test_hidden_sheets_are_left_out() -> None:
    made = io.BytesIO()
    book = Workbook(made)
    book.add_worksheet("Seen").write_row(0, 0, ["a"])
    hidden = book.add_worksheet("Hidden")
    hidden.write_row(0, 0, ["b"])
    hidden.hide()
    book.close()
    document = chunker.parse(made.getvalue(), "https://example.com/x.xlsx")
    assert shown(document) == [("table", "| a |\n| --- |")]


@pytest.mark.parametrize("sign", [",", ";", "\t", "|"])
def test_csv_finds_its_delimiter(sign: str) -> None:
    rows = [["name", "note"], ["a", '"x, y; z"'], ["b", "p"]]
    body = "\r\n".join(sign.join(row) for row in rows).encode()
    document = chunker.parse(body, "https://example.com/x.csv")
    assert shown(document) == [
        ("table", "| name | note |\n| --- | --- |\n| a | x, y; z |\n| b | p |")
    ]


def test_plain_text_is_kept() -> None:
    document = chunker.parse(b"One.\n\nTwo\nlines.\n", "https://example.com/notes.txt")
    assert (document.format, document.title) == ("text", "notes")
    assert shown(document) == [("text", "One."), ("text", "Two\nlines.")]


def test_pdf_headings_paragraphs_and_lists() -> None:
    first = [
        line(100, 700, "The Title", 18, bold=True),
        line(100, 670, "A paragraph that is long enough to run over into the line below it and"),
        line(100, 658, "ends here."),
        line(100, 630, "Bold heading", 10, bold=True),
        line(100, 612, "* one item that is long enough to run over into the line that is below"),
        line(110, 600, "it"),
        line(100, 588, "* two is an item that runs over into a line that begins at the margin"),
        line(100, 576, "here"),
        line(300, 40, "1"),
    ]
    second = [line(100, 700, "Last words."), line(300, 40, "2")]
    document = chunker.parse(pdf([first, second]), "https://example.com/x.pdf")
    assert (document.format, document.title) == ("pdf", "The Title")
    assert shown(document) == [
        ("heading", "# The Title"),
        (
            "text",
            "A paragraph that is long enough to run over into the line below it and ends here.",
        ),
        ("heading", "## Bold heading"),
        (
            "list",
            "- one item that is long enough to run over into the line that is below it\n"
            "- two is an item that runs over into a line that begins at the margin here",
        ),
        ("text", "Last words."),
    ]
    assert [unit.locator for unit in document.units] == ["page=1"] * 4 + ["page=2"]


def test_pdf_table_between_rules() -> None:
    lines = [rule(700), line(100, 690, "Part"), line(250, 690, "Price"), rule(685)]
    for number, name in enumerate(["Filter", "Pads", "Bulb", "Belt"]):
        y = 670 - 12 * number
        lines += [line(100, y, name), line(250, y, f"{number}00")]
    lines += [rule(620), line(100, 590, "Below the table.")]
    document = chunker.parse(pdf([lines]), "https://example.com/x.pdf")
    assert shown(document) == [
        (
            "table",
            "| Part | Price |\n| --- | --- |\n| Filter | 000 |\n| Pads | 100 |\n"
            "| Bulb | 200 |\n| Belt | 300 |",
        ),
        ("text", "Below the table."),
    ]


def test_pdf_running_heads_are_left_out() -> None:
    pages = [
        [line(100, 770, f"Annual report {number}"), line(100, 600, f"Words of page {name}.")]
        for number, name in enumerate(["one", "two", "three", "four"], 1)
    ]
    document = chunker.parse(pdf(pages), "https://example.com/x.pdf")
    assert [text for _, text in shown(document)] == [
        f"Words of page {name}." for name in ("one", "two", "three", "four")
    ]


def test_pdf_running_heads_that_count_with_the_pages_are_left_out() -> None:
    pages = [
        [line(100, 770, f"{title} {number + 4}"), line(100, 600, f"Words of {title} {number}.")]
        for number, title in enumerate(["Cover", "First", "First", "Second", "Second"], 1)
    ]
    document = chunker.parse(pdf(pages), "https://example.com/x.pdf")
    assert [text for _, text in shown(document)] == [
        "Cover 5",
        "Words of Cover 1.",
        "Words of First 2.",
        "Words of First 3.",
        "Words of Second 4.",
        "Words of Second 5.",
    ]


def test_pdf_code_keeps_indents_and_empty_lines() -> None:
    code = [line(100, 700, "if x:", font="F3"), line(112, 688, "go()", font="F3")]
    code.append(line(100, 664, "end", font="F3"))
    document = chunker.parse(pdf([code]), "https://example.com/x.pdf")
    assert shown(document) == [("code", "```\nif x:\n  go()\n\nend\n```")]


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"%PDF-1.4\nnothing that is one", "damaged"),
        (pdf([[]]), "no text"),
        (docx(paragraph("x"))[:700], "damaged"),
        (docx(paragraph("x"), extra={"word/x.xml": "<!DOCTYPE a [<!ENTITY b 'c'>]>"}), "entities"),
        (docx(paragraph("x"), extra={"word/media/a.bin": "\0" * 30_000_000}), "unpacks"),
        (docx("<w:p>"), "cannot be read"),
    ],
    ids=["pdf", "empty pdf", "truncated", "entities", "bomb", "malformed"],
)
def test_broken_documents_are_named(body: bytes, says: str) -> None:
    with pytest.raises(BrokenDocumentError, match=says):
        chunker.parse(body, "https://example.com/x")


def test_encrypted_documents_are_named() -> None:
    trailer = (
        "/Encrypt << /Filter /Standard /V 1 /R 2 /P -64 "
        f"/O <{'28' * 32}> /U <{'bf' * 32}> >> /ID [<00> <00>]"
    )
    with pytest.raises(BrokenDocumentError, match="password"):
        chunker.parse(pdf([[line(100, 700, "x")]], trailer=trailer), "https://example.com/x.pdf")
    body = bytearray(docx(paragraph("x")))
    at = body.index(b"PK\x01\x02")
    body[at + 8] |= 1  # the flag of an encrypted part, in the central directory
    with pytest.raises(BrokenDocumentError, match="encrypted"):
        chunker.parse(bytes(body), "https://example.com/x.docx")
