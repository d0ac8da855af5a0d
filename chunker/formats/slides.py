"""PPTX: a slide is a section, its title the heading, in reading order, notes at its end."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from html import escape
from typing import Any

from pptx import Presentation
from pptx.enum.shapes import MSO_SHAPE_TYPE, PP_PLACEHOLDER
from selectolax.lexbor import LexborHTMLParser

from chunker.formats.archive import check, reading
from chunker.formats.source import Source, file_title
from chunker.html.markdown import render

#: Characters of a bold line that may be a heading.
_LONGEST_HEADING = 120
_TITLES = {PP_PLACEHOLDER.TITLE, PP_PLACEHOLDER.CENTER_TITLE, PP_PLACEHOLDER.VERTICAL_TITLE}
#: Repeated on each slide: date, footer, slide number.
_FURNITURE = {PP_PLACEHOLDER.DATE, PP_PLACEHOLDER.FOOTER, PP_PLACEHOLDER.SLIDE_NUMBER}


def read(body: bytes, url: str) -> Source:
    """A presentation as Markdown. Raises `BrokenDocumentError`."""
    check(body)
    with reading("the presentation"):
        deck = Presentation(io.BytesIO(body))
        html = "".join(_slide(number, slide) for number, slide in enumerate(deck.slides, 1))
        title = (deck.core_properties.title or "").strip()
        lang = (deck.core_properties.language or "").strip().lower()
    tree = LexborHTMLParser(f"<body>{html}</body>")
    heading = tree.css_first("h1, h2")
    if not title or title.lower() in {"powerpoint presentation", "presentation"}:
        title = " ".join(heading.text(separator=" ").split()) if heading else ""
    rendered = render(tree, {}, url)
    blocks = [(start, _place(path)) for start, path in rendered.blocks]
    return Source(rendered.markdown, title or file_title(url), lang, blocks)


def _place(path: str) -> str:
    found = re.match(r"#slide-(\d+)", path)
    return f"slide={found[1]}" if found else ""


def _slide(number: int, slide: Any) -> str:
    opening = slide.slide_layout.name in {"Title Slide", "Section Header"}
    parts = [f'<section id="slide-{number}">']
    shapes = list(_in_order(slide.shapes))
    titled = False
    for place, shape in enumerate(shapes, 1):
        kind = shape.placeholder_format.type if shape.is_placeholder else None
        if kind in _FURNITURE:
            continue
        if kind in _TITLES and shape.has_text_frame:
            text = " ".join(shape.text_frame.text.split())
            level = 1 if opening else 2
            parts.append(f"<h{level}>{escape(text)}</h{level}>" if text else "")
            titled |= bool(text)
        else:
            listed = kind in {PP_PLACEHOLDER.OBJECT, PP_PLACEHOLDER.BODY}
            over = place < len(shapes) and shapes[place].has_table
            parts.append(_shape(shape, listed=listed, over=over, level=3 if titled else 2))
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        parts.extend(
            f"<p>{escape(paragraph.text)}</p>"
            for paragraph in slide.notes_slide.notes_text_frame.paragraphs
        )
    return "".join([*parts, "</section>"])


def _in_order(shapes: Iterable[Any]) -> Iterator[Any]:
    """Title first, then as the slide has them; the shapes of a group in their place."""
    rest = []
    for shape in shapes:
        if shape.is_placeholder and shape.placeholder_format.type in _TITLES:
            yield shape
        else:
            rest.append(shape)
    for shape in rest:
        if shape.shape_type == MSO_SHAPE_TYPE.GROUP:
            yield from _in_order(shape.shapes)
        else:
            yield shape


def _shape(shape: Any, *, listed: bool, over: bool, level: int) -> str:
    """One shape. `over`: it stands over a table; `level`: of a line that is a heading in it."""
    if shape.has_table:
        return _table(shape.table)
    if shape.has_text_frame:
        return _paragraphs(shape.text_frame.paragraphs, listed, over, level)
    if shape.shape_type == MSO_SHAPE_TYPE.PICTURE:
        alt = shape._element.xpath("string(.//p:cNvPr/@descr)")
        return f'<p><img alt="{escape(alt)}" src=""></p>' if alt else ""
    return ""


def _table(table: Any) -> str:
    rows = []
    for index, row in enumerate(table.rows):
        tag = "th" if index == 0 and table.first_row else "td"
        cells = []
        for cell in row.cells:
            if cell.is_spanned:
                continue
            span = (
                f' colspan="{cell.span_width}" rowspan="{cell.span_height}"'
                if cell.is_merge_origin
                else ""
            )
            inside = "<br>".join(_runs(paragraph) for paragraph in cell.text_frame.paragraphs)
            cells.append(f"<{tag}{span}>{inside}</{tag}>")
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return f"<table>{''.join(rows)}</table>"


def _paragraphs(paragraphs: Iterable[Any], listed: bool, over: bool, level: int) -> str:
    """Paragraphs with a bullet as a nested list, others as they are.

    A slide has no headings below its title: a short bold line over other lines, or alone over a
    table, is one.
    """
    parts: list[str] = []
    open_: list[str] = []
    shown = [(one, _runs(one)) for one in paragraphs]
    shown = [(one, inside) for one, inside in shown if inside.strip()]
    for paragraph, inside in shown:
        tag = _bullet(paragraph, listed)
        if not tag and (over or len(shown) > 1) and _is_bold(paragraph):
            inside = f"<h{level}>{re.sub('</?b>', '', inside)}</h{level}>"
        depth = paragraph.level + 1 if tag else 0
        while len(open_) > depth or (open_ and len(open_) == depth and open_[-1] != tag):
            parts.append(f"</{open_.pop()}>")
        while tag and len(open_) < depth:
            open_.append(tag)
            parts.append(f"<{tag}>")
        parts.append(f"<li>{inside}" if tag else f"<div>{inside}</div>")
    parts.extend(f"</{tag}>" for tag in reversed(open_))
    return "".join(parts)


def _bullet(paragraph: Any, listed: bool) -> str:
    """`ul`, `ol` or nothing, from the paragraph's own properties, else from its placeholder."""
    properties = paragraph._p.pPr
    if properties is not None:
        if properties.xpath("./a:buNone"):
            return ""
        if properties.xpath("./a:buAutoNum"):
            return "ol"
        if properties.xpath("./a:buChar"):
            return "ul"
    return "ul" if listed or paragraph.level else ""


def _is_bold(paragraph: Any) -> bool:
    text = paragraph.text.strip()
    bold = all(run.font.bold for run in paragraph.runs if run.text.strip())
    return bold and len(text) <= _LONGEST_HEADING and not text.endswith((".", ":", ",", ";"))


def _runs(paragraph: Any) -> str:
    """Text of a paragraph with bold, italics and links."""
    parts = []
    for child in paragraph._p:
        name = child.tag.rpartition("}")[2]
        if name == "br":
            parts.append("<br>")
        elif name in {"r", "fld"}:
            parts.append(_run(child, paragraph))
    return "".join(parts)


def _run(element: Any, paragraph: Any) -> str:
    text = escape("".join(element.xpath("./a:t/text()"))).replace("\x0b", "<br>")
    properties = element.find("{*}rPr")
    if properties is None or not text.strip():
        return text
    if properties.get("b") in {"1", "true"}:
        text = f"<b>{text}</b>"
    if properties.get("i") in {"1", "true"}:
        text = f"<i>{text}</i>"
    for link in properties.xpath("./a:hlinkClick/@r:id"):
        relation = paragraph.part.rels.get(link)
        if relation is not None and relation.is_external:
            text = f'<a href="{escape(relation.target_ref)}">{text}</a>'
    return text
