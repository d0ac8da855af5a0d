"""What of a page is its own: rules that hold whatever the classifier has learned, and pages that
it must get right."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from chunker.html.classifier.model import load
from chunker.html.region import Region, choose
from chunker.html.region_blocks import UNSEEN, blocks_of
from chunker.html.region_names import BITS, name_bits
from chunker.html.region_scores import CAUTION, most_expected
from chunker.profile import fingerprint

URL = "https://site.example/guides/brakes"
PROSE = (
    "The brake is wound on at the lever, and the blocks close on the rim. "
    "When the cable is new it stretches, so that the lever comes closer to the bar every week. "
)
FRAME = """<html><head><title>Brakes - Bikes</title></head><body>
<header class="site-header"><nav class="main-nav"><ul>{menu}</ul></nav></header>
<main><article><h1>Brakes</h1>{content}</article></main>
<aside class="sidebar"><h3>Related articles</h3><ul>{related}</ul></aside>
<div id="cookie-banner" class="cookie-consent"><p>We use cookies to improve your experience.</p>
<button>Accept all</button></div>
<footer class="site-footer"><ul>{menu}</ul><p>© 2026 Bikes. All rights reserved.</p></footer>
</body></html>"""
MENU = "".join(f'<li><a href="/{n}">{n}</a></li>' for n in "Home Shop Guides Support Login".split())  # noqa: SIM905
RELATED = "".join(f'<li><a href="/a{n}">How to change a chain {n}</a></li>' for n in range(5))


def shown(html: str, **how: object) -> str:
    """The text that is left of a page."""
    tree = LexborHTMLParser(html)
    return text_of(tree, choose(tree, URL, **how))  # type: ignore[arg-type]


def text_of(tree: LexborHTMLParser, region: Region) -> str:
    return " ".join(" ".join(left_of(tree, region).values()).split())


def left_of(tree: LexborHTMLParser, region: Region) -> dict[int, str]:
    """The text nodes that a walk over the body reaches past what is dropped."""
    out = {}
    assert tree.body is not None
    node = tree.body.first_child
    stack = []
    while node is not None or stack:
        if node is None:
            node = stack.pop()
            continue
        following = node.next
        if node.mem_id in region.dropped:
            node = following
        elif node.tag == "-text":
            out[node.mem_id] = node.text_content or ""
            node = following
        else:
            stack.append(following) if following is not None else None
            node = node.first_child
    return out


def framed(content: str) -> str:
    return FRAME.format(menu=MENU, related=RELATED, content=content)


def test_an_article_is_kept_and_its_frame_is_not() -> None:
    paragraphs = "".join(f"<p>{PROSE}Step {n} of ten.</p>" for n in range(10))
    text = shown(framed(f"{paragraphs}<h2>Tools</h2><ul><li>A 5 mm key for the bolt</li></ul>"))
    for wanted in ("Brakes", "Step 0 of ten", "Step 9 of ten", "Tools", "A 5 mm key"):
        assert wanted in text
    for other in ("Support", "cookies", "All rights reserved", "Accept all", "change a chain"):
        assert other not in text


def test_what_is_dropped_has_a_reason() -> None:
    tree = LexborHTMLParser(framed(f"<p>{PROSE * 5}</p>"))
    reasons = set(choose(tree, URL).dropped.values())
    assert {"navigation", "cookie", "footer"} <= reasons


def test_a_page_without_a_frame_is_kept_whole() -> None:
    body = f"<h1>Fees</h1><p>{PROSE}</p><table><tr><th>Kind</th><td>12.50</td></tr></table>"
    text = shown(f"<html><body>{body}<p>Short.</p></body></html>")
    assert text.startswith("Fees") and "12.50" in text and text.endswith("Short.")


def test_a_page_of_one_sentence_is_kept() -> None:
    assert shown("<p>Hello there, world.</p>") == "Hello there, world."
    assert shown("Hello there, world.") == "Hello there, world."


def test_hidden_text_is_out_and_what_a_click_shows_is_in() -> None:
    content = f"""<p>{PROSE * 3}</p><div hidden>secret one</div>
    <p style="color:red; display: none">secret two</p><div aria-hidden="true">secret three</div>
    <template><p>secret four</p></template>
    <button aria-controls="more">More</button><div id="more" hidden><p>{PROSE}Shown on click.</p>
    </div>"""
    text = shown(framed(content))
    assert "secret" not in text
    assert "Shown on click." in text


def test_a_page_that_waits_for_its_script_is_not_hidden() -> None:
    body = f"<h1>Brakes</h1><p>{PROSE * 6}</p>"
    assert "blocks close" in shown(f'<body><div style="visibility:hidden">{body}</div></body>')
    assert "blocks close" in shown(f'<body><p>Loading</p><div hidden id="S:1">{body}</div></body>')


def test_what_a_page_says_without_scripts_counts_where_it_is_the_page() -> None:
    needs = "<noscript>You need to enable JavaScript to run this app.</noscript>"
    assert shown(f"<body>{needs}</body>") == ""
    assert "need to enable" not in shown(framed(f"<p>{PROSE * 4}</p>{needs}"))
    topic = f"<h1>Squeal</h1><p>{PROSE * 3}</p><p>{PROSE * 2}</p>"
    assert "blocks close" in shown(f"<body><p>Loading</p><noscript>{topic}</noscript></body>")


def test_template_verdicts_take_a_run_out() -> None:
    notice = "Orders placed before noon leave our house on the same day, every day of the week."
    page = framed(f"<p>{notice}</p>" + f"<p>{PROSE}</p>" * 4)
    assert notice in shown(page)
    text = shown(page, verdicts={fingerprint(notice): True})
    assert notice not in text and "blocks close" in text


def test_a_long_text_that_stands_twice_is_kept_once() -> None:
    twice = "This brake fits every fork that was made after the spring of 1987."
    text = shown(framed(f"<p>{PROSE * 4}</p><p>{twice}</p><div class='card'><p>{twice}</p></div>"))
    assert text.count(twice) == 1


def test_the_host_is_not_looked_at() -> None:
    page = framed(f"<p>{PROSE * 4}</p>")
    tree = LexborHTMLParser(page)
    one = choose(tree, "https://one.example/guides/brakes")
    assert one == choose(tree, "https://forum.other.example/guides/brakes")


def test_deep_nesting_neither_crashes_nor_hangs() -> None:
    tree = LexborHTMLParser("<div>" * 5000 + f"<p>{PROSE}</p>")
    assert choose(tree, URL).confidence > 0


def test_a_table_of_very_many_cells_is_kept_and_its_frame_is_not() -> None:
    rows = "".join(f"<tr><td>Row {n}</td><td>{n * 3}</td></tr>" for n in range(5000))
    text = shown(framed(f"<table>{rows}</table>"))
    assert text.startswith("Brakes Row 0 0 Row 1 3")
    assert text.endswith("Row 4999 14997")


def test_a_page_without_text_has_no_region() -> None:
    assert choose(LexborHTMLParser("<script>x()</script><img src=a.png>"), URL).confidence == 0
    assert choose(LexborHTMLParser(""), URL).dropped == {}


def test_a_document_without_a_frame_is_kept_whole() -> None:
    rows = "<tr class='header'><th>Part</th><th>Phone</th></tr><tr><td>Lever</td><td>17</td></tr>"
    page = f"<h2 id='register-for-the-newsletter'>Register</h2><table>{rows}</table><p>Ask us.</p>"
    assert shown(page) == "Register Part Phone Lever 17 Ask us."


TAGS = st.sampled_from(["div", "p", "span", "a", "ul", "li", "nav", "h2", "table", "td", "button"])
WORDS = st.sampled_from(["alpha", "beta gamma.", "Log in", "one, two and three", "©", " ", "$5"])
TREES = st.recursive(
    WORDS,
    lambda inner: st.builds(
        lambda tag, name, parts: f"<{tag} class='{name}'>{''.join(parts)}</{tag}>",
        TAGS,
        st.sampled_from(["", "menu", "content", "footer", "post-body", "cookie"]),
        st.lists(inner, max_size=4),
    ),
    max_leaves=25,
)


@settings(deadline=None, max_examples=60)
@given(TREES)
def test_each_word_is_kept_or_dropped_and_the_same_page_gives_the_same_choice(html: str) -> None:
    tree = LexborHTMLParser(html)
    blocks = blocks_of(tree)
    region = choose(tree, URL)
    left = left_of(tree, region)
    for text, leaves in zip(blocks.text, blocks.leaves, strict=True):
        assert len({leaf in left for leaf in leaves}) == 1, text
    assert text_of(tree, region) == shown(html)


@settings(deadline=None, max_examples=60)
@given(TREES)
def test_blocks_hold_every_word_of_the_page_in_order(html: str) -> None:
    tree = LexborHTMLParser(html)
    blocks = blocks_of(tree)
    assert tree.body is not None
    apart = "".join(blocks.text).replace(" ", "")
    assert apart == "".join(text_of(tree, Region()).split())
    for element, parent in enumerate(blocks.parent):
        assert blocks.start[parent] <= blocks.start[element] <= blocks.end[element]
        assert blocks.end[element] <= blocks.end[parent]


def test_names_are_read_in_every_spelling() -> None:
    for name in ("mainNavigation", "site_nav", "nav-bar", "NAV"):
        assert name_bits(name) & BITS["nav"], name
    assert not name_bits("canvas") & BITS["nav"]
    assert "script" in UNSEEN


def test_the_choice_is_the_best_of_all_for_its_score() -> None:
    score = np.array([0.9, 0.2, 0.6, 0.5], np.float32)
    words = np.array([10, 50, 20, 5], np.float32)
    keep, best = most_expected(score, words)

    def curve(chosen: np.ndarray) -> float:
        hit = float((score * words)[chosen].sum())
        return 2 * hit / float(words[chosen].sum() + CAUTION * (score * words).sum())

    every = [np.array([bool(n >> i & 1) for i in range(4)]) for n in range(1, 16)]
    assert max(curve(chosen) for chosen in every) == curve(keep)
    assert 0 < best < curve(keep)
    assert not most_expected(np.zeros(2, np.float32), words[:2])[0].any()


def test_trees_answer_as_they_are_written() -> None:
    trees = load().trees
    rows = np.random.default_rng(0).random((7, int(trees.column.max()) + 1), np.float32)
    column = trees.column.reshape(-1, trees.depth)
    border = trees.border.reshape(-1, trees.depth)
    for row, found in zip(rows, trees.probability(rows), strict=True):
        raw = trees.bias
        for tree, values in enumerate(trees.value):
            leaf = sum(
                int(row[column[tree, level]] > border[tree, level]) << level
                for level in range(trees.depth)
            )
            raw += float(values[leaf])
        assert abs(1 / (1 + np.exp(-raw)) - found) < 1e-4
