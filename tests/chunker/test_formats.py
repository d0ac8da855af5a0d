"""Office files, sheets and PDFs come to the same kinds of units; broken ones have a named error."""

import io
import zipfile
from collections.abc import Sequence

import pytest
from pptx import Presentation
from pptx.util import Inches
from xlsxwriter import Workbook

import chunker
from chunker.errors import BrokenDocumentError
from chunker.model import Document

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
CONTENT_TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" '
    'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/>'
    '<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-'
    'officedocument.wordprocessingml.document.main+xml"/></Types>'
)
RELATIONS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="r1" Target="word/document.xml" Type="http://schemas.openxmlformats.org/'
    'officeDocument/2006/relationships/officeDocument"/></Relationships>'
)
STYLES = (
    f'<w:styles {W}><w:style w:type="paragraph" w:styleId="H1"><w:name w:val="heading 1"/>'
    '</w:style><w:style w:type="paragraph" w:styleId="H2"><w:name w:val="heading 2"/></w:style>'
    "</w:styles>"
)


def shown(document: Document) -> list[tuple[str, str]]:
    return [(unit.kind, document.markdown[unit.start : unit.end]) for unit in document.units]


def docx(inside: str, *, extra: dict[str, str] | None = None) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("[Content_Types].xml", CONTENT_TYPES)
        file.writestr("_rels/.rels", RELATIONS)
        file.writestr("word/styles.xml", STYLES)
        file.writestr(
            "word/document.xml", f"<w:document {W}><w:body>{inside}</w:body></w:document>"
        )
        for name, text in (extra or {}).items():
            file.writestr(name, text)
    return made.getvalue()


def paragraph(text: str, style: str = "", bold: bool = False) -> str:
    properties = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    weight = "<w:rPr><w:b/></w:rPr>" if bold else ""
    return f"<w:p>{properties}<w:r>{weight}<w:t>{text}</w:t></w:r></w:p>"


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


def workbook(sheets: dict[str, Sequence[Sequence[object]]]) -> bytes:
    made = io.BytesIO()
    book = Workbook(made)
    for name, rows in sheets.items():
        sheet = book.add_worksheet(name)
        for number, row in enumerate(rows):
            sheet.write_row(number, 0, row)
    book.close()
    return made.getvalue()


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


def pdf(pages: Sequence[Sequence[str]], *, trailer: str = "") -> bytes:
    """A PDF: a page is lines of operators, /F1 Helvetica, /F2 its bold face, /F3 Courier."""
    kids = " ".join(f"{6 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Courier >>",
    ]
    for number, lines in enumerate(pages):
        content = "\n".join(lines)
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Resources "
            f"<< /Font << /F1 3 0 R /F2 4 0 R /F3 5 0 R >> >> /Contents {7 + 2 * number} 0 R >>"
        )
        objects.append(f"<< /Length {len(content)} >>\nstream\n{content}\nendstream")
    out = "%PDF-1.4\n"
    places = []
    for number, one in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{one}\nendobj\n"
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n"
    out += "".join(f"{place:010d} 00000 n \n" for place in places)
    out += f"trailer << /Size {len(objects) + 1} /Root 1 0 R {trailer} >>\n"
    return (out + f"startxref\n{start}\n%%EOF").encode("latin-1")


def line(
    x: float, y: float, text: str, size: float = 10, bold: bool = False, font: str = "F1"
) -> str:
    font = "F2" if bold else font
    return f"BT /{font} {size} Tf 1 0 0 1 {x} {y} Tm ({text}) Tj ET"


def rule(y: float) -> str:
    return f"100 {y} 300 0.5 re f"


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
