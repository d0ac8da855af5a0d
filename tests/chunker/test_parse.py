"""Any page to a document: the whole way, and what must hold whatever the page is."""

import random
import re

import pytest

import chunker
from chunker.errors import TerminalError

URL = "https://example.com/docs/page"
PAGE = b"""<!DOCTYPE html><html lang="en-GB"><head><title>Fares | Example</title>
<meta property="og:site_name" content="Example"></head><body><main>
<h1>Fares</h1><p>All prices are in <b>euro</b>.</p>
<h2>Tables</h2><table><tr><th>Class<th>Fare<tr><td>First<td>90</table>
<h4>Skipped</h4><ol><li>Pay<li>Go</ol><pre><code class="language-sh">ls -l
  # done</code></pre><blockquote><p>Quoted</p></blockquote><img src="/map.png" alt="Map">
</main></body></html>"""


def test_document_of_a_page() -> None:
    document = chunker.parse(PAGE, URL, "text/html", source="example")
    assert (document.source, document.url, document.format) == ("example", URL, "html")
    assert (document.title, document.lang) == ("Fares", "en-gb")
    assert document.parser_version == chunker.PARSER_VERSION
    assert [(unit.id, unit.parent, unit.level, unit.depth) for unit in document.units] == [
        ("heading_1", None, 1, 1),
        ("text_2", "heading_1", None, None),
        ("heading_3", "heading_1", 2, 2),
        ("table_4", "heading_3", None, None),
        ("heading_5", "heading_3", 4, 3),
        ("list_6", "heading_5", None, None),
        ("code_7", "heading_5", None, None),
        ("quote_8", "heading_5", None, None),
        ("image_9", "heading_5", None, None),
    ]
    assert all(unit.locator and unit.tokens for unit in document.units)


def test_the_same_bytes_give_the_same_document() -> None:
    assert chunker.parse(PAGE, URL) == chunker.parse(PAGE, URL)


def test_content_hash_is_of_the_content_alone() -> None:
    one = chunker.parse(PAGE, URL)
    two = chunker.parse(PAGE.replace(b"<main>", b"<main class=x>"), URL, source="other")
    assert one.content_hash == two.content_hash
    assert one.content_hash != chunker.parse(PAGE.replace(b"90", b"91"), URL).content_hash


@pytest.mark.parametrize(
    ("head", "body", "expected"),
    [
        ("<title>Page - Site</title>", "<h1>Page</h1>", "Page"),
        ("<title>Page - Site</title><meta property=og:site_name content=Site>", "", "Page"),
        ("<title>Site: Page | Example</title>", "", "Site: Page"),
        ("<title>A - B</title>", "", "A - B"),
        ("<title>A guide \u2022 Jo Doe</title><meta property=og:site_name content='Jo Doe'>",
         "<h1>Jo Doe</h1>", "A guide"),
        ("<meta property=og:title content=Shared><title>Head</title>", "", "Shared"),
        ("", "<h1>Only h1 <a class=headerlink>\u00b6</a></h1>", "Only h1"),
        ("", "<p>x</p>", ""),
    ],
)  # fmt: skip
def test_titles(head: str, body: str, expected: str) -> None:
    html = f"<html><head>{head}</head><body>{body}<p>text</p></body></html>"
    assert chunker.parse(html.encode(), "https://www.example.com/x").title == expected


def test_markdown_is_kept_as_given() -> None:
    markdown = "---\ntitle: The title\nlang: de\n---\n\n# H\n\ntext  \nmore\n\n---\n\n* a\n"
    document = chunker.parse(markdown.encode(), "https://example.com/a-file.md")
    assert (document.markdown, document.title, document.lang) == (markdown, "The title", "de")
    assert [(unit.id, unit.role) for unit in document.units] == [
        ("code_1", "empty"),
        ("heading_2", "body"),
        ("text_3", "body"),
        ("list_4", "body"),
    ]


def test_line_ends_become_one_kind() -> None:
    document = chunker.parse(b"# H\r\n\r\na\r\nb\rc\r\n", "https://example.com/x.md")
    assert document.markdown == "# H\n\na\nb\nc\n"


@pytest.mark.parametrize(
    ("markdown", "url", "title"),
    [
        ("# From *heading*\n", "https://e.com/x.md", "From heading"),
        ("From setext\n===\n", "https://e.com/x.md", "From setext"),
        ("```\n# no\n```\n", "https://e.com/the_file-name.md", "the file name"),
        ("text\n", "https://e.com/index.md", ""),
        ("text\n", "https://e.com/what%20is%20it.md", "what is it"),
    ],
)
def test_titles_of_markdown(markdown: str, url: str, title: str) -> None:
    assert chunker.parse(markdown.encode(), url).title == title


@pytest.mark.parametrize(
    ("text", "role"),
    [
        ("Skip to main content", "navigation"),
        ("[Home](/) > [Products](/p) > Lamps", "navigation"),
        ("We use cookies to improve your visit. Accept all cookies?", "cookie"),
        ("Log in to continue", "login"),
        ("Share this article", "share"),
        ("\u00a9 2024 Example Ltd. All rights reserved.", "legal"),
        ("***", None),
        ("\\* \\*", "empty"),
        ("<!-- a remark\n\nof the author -->", "empty"),
        ('<div align="center">\n<img src="x.png">\n</div>', "empty"),
        ("To log in, open the menu and choose Account.", "body"),
        ("We use cookies for three purposes, which this policy explains.", "body"),
        ("You can share a file with up to ten people.", "body"),
        ("Copyright law protects works of authorship in most countries of the world.", "body"),
        ("Next, tighten the nuts.", "body"),
    ],
)
def test_roles_go_by_what_a_unit_says_of_itself(text: str, role: str | None) -> None:
    units = chunker.parse(f"{text}\n".encode(), "https://example.com/x.md").units
    assert [unit.role for unit in units] == ([role] if role else [])


def test_a_heading_is_never_a_box() -> None:
    (unit,) = chunker.parse(b"# Log in\n", "https://example.com/x.md").units
    assert unit.role == "body"


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 100_000 + "x",
        "<ul><li>" * 50_000 + "x",
        "<table><tr><td>" * 30_000 + "x",
        "<b><i>" * 50_000 + "x" + "</i></b>" * 50_000,
        "<blockquote>" * 100_000 + "x",
        "".join(f"<font color={number}><p>x" for number in range(5_000)),
    ],
    ids=["div", "list", "table", "format", "quote", "unclosed"],
)
def test_depth_is_no_danger(html: str) -> None:
    document = chunker.parse(f"<html><body>{html}".encode(), URL)
    assert "nesting cut" in document.notes
    assert "x" in document.markdown


def test_a_long_table_keeps_its_rows() -> None:
    rows = "".join(f"<tr><td>{number}<td>x" for number in range(5_000))
    document = chunker.parse(f"<table><tr><th>n<th>v{rows}</table>".encode(), URL)
    (unit,) = document.units
    assert document.markdown.count("\n") == 5_002
    assert unit.kind == "table"


def test_mutated_pages_keep_the_invariants() -> None:
    source = random.Random(7)
    pieces = [b"<table>", b"<td rowspan=9>", b"</div>", b"<ul>", b"<!--", b"&#0;", b"\xff"]
    pieces += [b"\x00", b"```", b"<pre>", b"|", b"<math>", b"<svg>", b"<base href='//['>", b"<th>"]
    for _ in range(300):
        body = bytearray(PAGE)
        for _ in range(source.randrange(1, 12)):
            at = source.randrange(len(body))
            if source.random() < 0.7:
                body[at:at] = source.choice(pieces) * source.choice([1, 1, 20])
            else:
                del body[at : at + source.randrange(40)]
        try:
            document = chunker.parse(bytes(body), URL, "text/html")
        except TerminalError:
            continue
        done = 0
        for unit in document.units:
            assert done <= unit.start < unit.end <= len(document.markdown)
            assert not re.sub(r"[-*_\s>]", "", document.markdown[done : unit.start])
            done = unit.end
        assert len({unit.anchor for unit in document.units}) == len(document.units)
        document.markdown.encode()
