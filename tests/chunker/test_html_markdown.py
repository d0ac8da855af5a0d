"""HTML to Markdown: nothing visible lost, nothing invented, order kept."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from chunker.html.markdown import render
from chunker.plain import plain
from chunker.units import units

PAGE = "https://example.com/docs/page.php"


def markdown(html: str, url: str = PAGE) -> str:
    return render(LexborHTMLParser(html), {}, url).markdown.strip()


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>one <b>two</b> <i>three</i></p>", "one **two** *three*"),
        ("<p>a <b> spaced </b>b</p>", "a **spaced** b"),
        ("<p>a<br>b</p>", "a  \nb"),
        ("<p>a<br><br>b</p>", "a\n\nb"),
        ("<div>loose<p>para</p>tail</div>", "loose\n\npara\n\ntail"),
        ("<h2>T <small>s</small></h2>", "## T s"),
        ("<h2><div>T</div></h2>", "## T"),
        ('<div role="heading" aria-level="4">T</div>', "#### T"),
        ("<p>x &amp; y &lt; z</p>", "x & y < z"),
        ("<p>soft\u00adhyphen zero\u200bwidth</p>", "softhyphen zerowidth"),
        ("<p>a<del>b</del></p>", "a~~b~~"),
        ("<p>said <q>so</q></p>", 'said "so"'),
        ("<hr><p>a</p><hr><hr><p>b</p>", "a\n\n---\n\nb"),
        ("<p><b><b>deep</b></b></p>", "**deep**"),
        ("<b><p>one</p><p>two</p></b>", "**one**\n\n**two**"),
    ],
)
def test_running_text(html: str, expected: str) -> None:
    assert markdown(html) == expected


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>10<sup>5</sup> is not 105</p>", "10^5 is not 105"),
        ("<p>1<sup>st</sup> of H<sub>2</sub>O</p>", "1st of H2O"),
        ("<p><ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby></p>", "漢(kan)"),
        (
            '<p><math><semantics><mi>x</mi><annotation encoding="application/x-tex">x^2'
            "</annotation></semantics></math></p>",
            "$x^2$",
        ),
        ('<p><math display="block" alttext="a_b"><mi>a</mi></math></p>', "$$a_b$$"),
        ("<p><math><mi>x</mi><mo>=</mo><mn>1</mn></math></p>", "x = 1"),
        (
            '<p><span class="katex"><math><semantics><annotation encoding="application/x-tex">E'
            '</annotation></semantics></math><span class="katex-html">E</span></span></p>',
            "$E$",
        ),
    ],
)
def test_superscripts_ruby_and_maths(html: str, expected: str) -> None:
    assert markdown(html) == expected


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p># no heading</p>", "\\# no heading"),
        ("<p>1. Park safely</p>", "1\\. Park safely"),
        ("<p>- dash<br>+ plus</p>", "\\- dash  \n\\+ plus"),
        ("<p>&gt; no quote</p>", "\\> no quote"),
        ("<p>---</p>", "\\---"),
        ("<p>a | b</p>", "a | b"),
        ("<p>snake_case and 2*3*4</p>", "snake_case and 2\\*3\\*4"),
        ("<p>[x](y) and &lt;b&gt;</p>", "[x\\](y) and \\<b>"),
        ("<p>`tick`</p>", "\\`tick\\`"),
        ("<h3>C #</h3>", "### C \\#"),
        ("<h3>1. Park safely</h3>", "### 1. Park safely"),
        (
            "<table><tr><th>1.<th>- b<tr><td># c<td>d</table>",
            "| 1. | - b |\n| --- | --- |\n| # c | d |",
        ),
    ],
)
def test_text_that_looks_like_marks_stays_text(html: str, expected: str) -> None:
    assert markdown(html) == expected


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ('<a href="pdf/a.pdf">a</a>', "[a](https://example.com/docs/pdf/a.pdf)"),
        ('<a href="/x">a</a>', "[a](https://example.com/x)"),
        ('<a href="//cdn.net/x">a</a>', "[a](https://cdn.net/x)"),
        ('<a href="#part">a</a>', "[a](https://example.com/docs/page.php#part)"),
        ('<a href="javascript:void(0)">a</a>', "a"),
        ('<a href="/a b(c)">a</a>', "[a](https://example.com/a%20b%28c%29)"),
        ('<a href="http://[broken">a</a>', "[a](http://[broken)"),
        ("<a>a</a>", "a"),
        (
            '<a href="/a">x</a><a href="/b">y</a>',
            "[x](https://example.com/a) [y](https://example.com/b)",
        ),
        ('<a href="/c"><h3>T</h3><p>text</p></a>', "### T\n\n[text](https://example.com/c)"),
        ('<h2>T<a class="headerlink" href="#t">¶</a></h2>', "## T"),
        ('<a class="card-headerlink" href="/t">Which?</a>', "[Which?](https://example.com/t)"),
        ('<img src="i.png" alt="A map">', "![A map](https://example.com/docs/i.png)"),
        ('<p>a<img src="i.png" alt=""></p>', "a"),
        (
            '<img src="data:image/gif;base64,R0" data-src="/i.png" alt="x">',
            "![x](https://example.com/i.png)",
        ),
    ],
)
def test_links_and_images_have_absolute_targets(html: str, expected: str) -> None:
    assert markdown(html) == expected


def test_base_href_is_resolved_against_the_page_first() -> None:
    html = '<head><base href="../other/"></head><a href="x">a</a>'
    assert markdown(html) == "[a](https://example.com/other/x)"


def test_lists_nest_keep_their_numbers_and_stay_apart() -> None:
    html = (
        "<ol start=3><li>three<ul><li>x</li><li>y</li></ul></li>"
        "<li><p>four</p><p>more</p></li></ol>"
        "<ul><li>a</li></ul><ul><li>b</li></ul>"
    )
    assert markdown(html) == ("3. three\n   - x\n   - y\n4. four\n\n   more\n\n- a\n\n* b")


def test_a_list_that_hangs_under_a_list_belongs_to_its_last_item() -> None:
    assert markdown("<ul><li>a</li><ul><li>b</li></ul></ul>") == "- a\n  - b"


def test_a_list_of_cards_is_laid_out() -> None:
    html = "<ul><li><h3>A</h3><p>one</p></li><li><h3>B</h3><p>two</p></li></ul>"
    assert markdown(html) == "### A\n\none\n\n### B\n\ntwo"


def test_steps_keep_the_code_between_them() -> None:
    html = "<ol><li>Run<pre>make  all</pre></li><li>Wait</li></ol>"
    assert markdown(html) == "1. Run\n\n   ```\n   make  all\n   ```\n2. Wait"


def test_definition_list() -> None:
    html = "<dl><dt>HTTP</dt><dd>A protocol</dd><dt>TCP</dt><dd>Another</dd></dl>"
    assert markdown(html) == "- **HTTP**\n\n  A protocol\n- **TCP**\n\n  Another"


def test_details_admonitions_and_quotes() -> None:
    assert markdown("<details><summary>Why?</summary><p>So</p></details>") == "**Why?**\n\nSo"
    html = '<div class="admonition note"><p class="admonition-title">Note</p><p>Mind it</p></div>'
    assert markdown(html) == "> **Note**\n>\n> Mind it"
    assert markdown("<blockquote>a<blockquote>b</blockquote></blockquote>") == "> a\n>\n> > b"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<pre>\n  a\n\tb  c\n</pre>", "```\n  a\n\tb  c\n```"),
        ('<pre><code class="language-py">x = 1</code></pre>', "```py\nx = 1\n```"),
        (
            '<div class="highlight-rust"><pre><span>a</span> <b>b</b></pre></div>',
            "```rust\na b\n```",
        ),
        ("<pre>a```b</pre>", "````\na```b\n````"),
        ("<pre>a<br>b</pre>", "```\na\nb\n```"),
        ("<pre># not a heading</pre>", "```\n# not a heading\n```"),
        ('<pre><span class="lineno">1</span>x</pre>', "```\nx\n```"),
        (
            '<table class="highlight"><tr><td class="linenos"><pre>1\n2</pre>'
            "<td class=code><pre>a\nb</pre></table>",
            "```\na\nb\n```",
        ),
        ("<p><code>a`b</code> <code>*c*</code></p>", "``a`b`` `*c*`"),
    ],
)
def test_code_is_verbatim(html: str, expected: str) -> None:
    assert markdown(html) == expected


def test_spans_become_a_grid() -> None:
    html = (
        "<table><caption>Fares</caption><thead><tr><th rowspan=2>Class<th colspan=2>Fare</tr>"
        "<tr><th>Low<th>High</tr></thead>"
        "<tr><td rowspan=2>First<td>1<td>2</tr><tr><td>3<td>4</tr>"
        "<tr><td colspan=3>Notes</tr></table>"
    )
    assert markdown(html) == (
        "Fares\n\n"
        "| Class | Fare Low | Fare High |\n| --- | --- | --- |\n"
        "| First | 1 | 2 |\n| First | 3 | 4 |\n| Notes |  |  |"
    )


def test_a_table_keeps_what_its_cells_wrap() -> None:
    html = (
        "<table><tr><th>a<th>b</tr><tr><td><p><b>bold</b></p><td><ul><li>x<li>y</ul></tr>"
        "<tr><td>p|q<br>r<td><pre>c  d</pre></tr></table>"
    )
    assert markdown(html) == (
        "| a | b |\n| --- | --- |\n| **bold** | - x<br>- y |\n| p\\|q<br>r | c  d |"
    )


def test_row_headers_and_headerless_tables() -> None:
    html = "<table><tr><th scope=row>Speed<td>9</tr><tr><th scope=row>Mass<td>7</tr></table>"
    assert markdown(html) == "|  |  |\n| --- | --- |\n| **Speed** | 9 |\n| **Mass** | 7 |"


def test_a_title_over_the_whole_table_is_said_once() -> None:
    html = "<table><tr><th colspan=2>Capital<tr><th>Country<td>Germany<tr><th>Area<td>9</table>"
    assert markdown(html).startswith("| Capital |  |\n| --- | --- |\n| Country | Germany |")


def test_layout_tables_are_only_layout() -> None:
    html = "<table><tr><td><h2>Left</h2><p>a</p><td><table><tr><td>in</table></tr></table>"
    assert markdown(html) == "## Left\n\na\n\nin"


def test_a_table_in_a_cell_of_a_data_table_keeps_its_words() -> None:
    html = (
        "<table><tr><th>a<th>b</tr><tr><td>x<td><table><tr><td>1<td>2<tr><td>3<td>4</table>"
        "</tr></table>"
    )
    text = markdown(html)
    assert text.startswith("| a | b |")
    assert all(word in text for word in "1234")


def test_huge_spans_are_bounded() -> None:
    cells = "<td rowspan=60000 colspan=1000>x" * 50
    text = markdown(f"<table><tr><th>h</tr><tr>{cells}</tr><tr>{cells}</tr></table>")
    assert len(text) < 200_000


def test_words_of_touching_elements_stay_apart_and_letters_together() -> None:
    html = '<p><span class="y">2026</span><span class="d">1h 54m</span></p>'
    assert markdown(html) == "2026 1h 54m"
    assert markdown("<p><label>Name</label><b>Ann</b></p>") == "Name **Ann**"
    assert markdown("<p><b>Hel</b><i>lo</i></p>") == "**Hel***lo*"
    letters = "".join(f'<span class="l">{letter}</span>' for letter in "Hello")
    assert markdown(f"<p>{letters}</p>") == "Hello"
    assert markdown("<p><span style='color:red'>Hel</span><span>lo</span></p>") == "Hello"


def test_what_is_no_text_is_left_out() -> None:
    html = (
        "<p>a</p><script>no()</script><style>no</style><template><p>no</p></template>"
        "<svg><text>no</text></svg><!-- no --><iframe>no</iframe>"
    )
    assert markdown(html) == "a"


def test_dropped_nodes_go_with_all_that_is_under_them() -> None:
    tree = LexborHTMLParser("<p>a</p><div id=x><p>b</p></div><p>c</p>")
    node = tree.css_first("#x")
    assert node is not None
    assert render(tree, {node.mem_id: "navigation"}, PAGE).markdown == "a\n\nc\n"


@pytest.mark.parametrize(
    ("tag", "reason", "expected"),
    [
        ("th", "navigation", "| a | b |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |"),
        ("th", "hidden", "| b |  |\n| --- | --- |\n| 1 |  |\n| 3 | 4 |"),
        ("td", "navigation", "|  |  |\n| --- | --- |\n|  | b |\n| 1 |  |\n| 3 | 4 |"),
    ],
)
def test_a_table_keeps_its_shape_whatever_is_dropped_in_it(
    tag: str, reason: str, expected: str
) -> None:
    tree = LexborHTMLParser(
        f"<table><tr><{tag} id=h>a</{tag}><{tag}>b</{tag}></tr>"
        "<tr><td>1<td id=c>2</tr><tr><td>3<td>4</tr></table>"
    )
    nodes = [tree.css_first("#h"), tree.css_first("#c")]
    assert render(tree, {node.mem_id: reason for node in nodes}, PAGE).markdown.strip() == expected


def test_locators_are_css_paths_to_the_block() -> None:
    html = "<div><p>a</p><p>b</p></div><section id=s><ul><li>c</li></ul></section>"
    tree = LexborHTMLParser(html)
    rendered = render(tree, {}, PAGE)
    found = [
        (rendered.markdown[start : start + 1], tree.css_first(path).tag)
        for start, path in rendered.blocks
    ]
    assert found == [("a", "p"), ("b", "p"), ("-", "ul")]
    assert rendered.blocks[2][1] == "#s > ul:nth-child(1)"


BLOCKS = st.sampled_from(
    ["<p>%s</p>", "<h2>%s</h2>", "<ul><li>%s<li>b</ul>", "<div>%s</div>", "<pre>%s</pre>",
     "<table><tr><td>%s<td>c</table>", "<blockquote>%s</blockquote>", "<b>%s", "<a href=x>%s</a>",
     "<dl><dt>%s<dd>d</dl>", "<details><summary>%s</summary>e</details>", "<span>%s</span><br>",
     "<ol start=7><li>%s</ol>", "<code>%s</code>", "</div>%s", "<td>%s", "<li>%s", "%s<!--"]
)  # fmt: skip
WORDS = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), max_size=12)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(BLOCKS, WORDS), max_size=12))
def test_words_survive_in_order(blocks: list[tuple[str, str]]) -> None:
    names = [f"wordnr{number}" for number in range(len(blocks))]
    html = "".join(
        form % (text.replace("&", "").replace("<", "") + f" {name} ")
        for (form, text), name in zip(blocks, names, strict=True)
    )
    html = html.split("<!--")[0]
    tree = LexborHTMLParser(f"<!DOCTYPE html><body><p>start</p>{html}")
    written = render(tree, {}, PAGE).markdown
    text = "\n".join(plain(written[unit.start : unit.end]) for unit in units(written))
    wanted = re.findall(r"wordnr\d+", html)
    # the parser of HTML itself moves what stands in a table and not in a cell
    found = re.findall(r"wordnr\d+", text)
    assert sorted(found) == sorted(wanted)
    if "<table" not in html:
        assert found == wanted
