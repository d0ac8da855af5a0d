"""Small files of the formats that the tests read, made on the spot."""

import io
import zipfile
from collections.abc import Sequence

from xlsxwriter import Workbook

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


def workbook(sheets: dict[str, Sequence[Sequence[object]]]) -> bytes:
    made = io.BytesIO()
    book = Workbook(made)
    for name, rows in sheets.items():
        sheet = book.add_worksheet(name)
        for number, row in enumerate(rows):
            sheet.write_row(number, 0, row)
    book.close()
    return made.getvalue()


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
