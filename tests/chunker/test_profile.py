"""The site profile: order shows nowhere, size is bounded, verdicts flip only when they must."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from chunker import profile
from chunker.html.region import choose
from chunker.profile import Profile

SITES = st.dictionaries(
    st.integers(0, 400).map("https://site.example/{}".format),
    st.sets(st.integers(0, 30).map(lambda n: profile.fingerprint(f"block {n}")), max_size=8),
    max_size=40,
)

URL = "https://a.example/x"


def folded(pages: list[tuple[str, set[str]]]) -> Profile:
    out = Profile()
    for url, found in pages:
        out = profile.fold(out, url, found)
    return out


@given(SITES, st.randoms(use_true_random=False), st.integers(0, 40))
def test_the_order_of_pages_and_the_split_over_workers_do_not_show(
    site: dict[str, set[str]], chance: random.Random, cut: int
) -> None:
    pages = list(site.items())
    shuffled = chance.sample(pages, len(pages))
    one = folded(pages)
    two = profile.merge(folded(shuffled[cut:]), folded(shuffled[:cut]))
    assert one == two
    assert profile.verdicts(one) == profile.verdicts(two)


@given(SITES)
def test_a_page_seen_twice_counts_once(site: dict[str, set[str]]) -> None:
    one = folded(list(site.items()))
    assert profile.merge(one, one) == one
    assert folded([*site.items(), *site.items()]) == one


def test_the_size_is_bounded_whatever_the_site(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profile, "PAGES", 16)
    monkeypatch.setattr(profile, "BLOCKS", 10)
    marks = [profile.fingerprint(str(n)) for n in range(40)]
    small = folded([(f"https://s.example/{n}", set(marks)) for n in range(100)])
    assert len(small.pages) == 16
    assert {len(found) for found in small.pages.values()} == {10}


def test_a_block_on_many_pages_is_template_and_one_on_a_few_is_not() -> None:
    menu, own = profile.fingerprint("Home Products Contact"), profile.fingerprint("Two of these")
    pages = [(f"https://s.example/{n}", {menu, str(n)} | ({own} if n < 3 else set()))
             for n in range(40)]  # fmt: skip
    assert profile.verdicts(folded(pages)) == {menu: True}
    assert profile.verdicts(folded(pages[:3])) == {}, "three pages are too few to tell"


def test_one_page_more_or_less_flips_nothing() -> None:
    menu = profile.fingerprint("menu")

    def share(have: int, of: int) -> Profile:
        return folded([(f"https://s.example/{n}", {menu} if n < have else set())
                       for n in range(of)])  # fmt: skip

    on = profile.verdicts(share(30, 100))
    assert on == {menu: True}
    assert profile.verdicts(share(25, 100)) == {}, "not enough to enter"
    assert profile.verdicts(share(25, 100), on) == on, "enough to stay"
    off = profile.verdicts(share(15, 100), on)
    assert off == {}
    assert profile.flips(on, off) == {menu}
    assert profile.flips(on, on) == set()


def test_a_page_depends_on_the_verdicts_of_its_own_blocks_only() -> None:
    html = "<nav><a href='/a'>All our bicycles and their parts</a></nav><p>Open from nine.</p>"
    tree = LexborHTMLParser(html)
    own = dict.fromkeys(choose(tree, URL).blocks[:1], True)
    other = own | {profile.fingerprint("a block of another page"): True}
    assert choose(tree, URL, own) == choose(tree, URL, other)


def test_a_lone_repeated_label_stays_and_a_long_run_goes() -> None:
    known = np.array([True, False, True, True, False, True])
    words = np.array([1, 9, 3, 4, 9, 12], np.float32)
    assert profile.template_runs(known, words).tolist() == [False, False, True, True, False, True]


def test_blocks_are_named_by_their_text_wherever_they_stand() -> None:
    one = choose(LexborHTMLParser("<div><p>Our  <b>Shop</b></p><p>x</p></div>"), URL).blocks
    two = choose(LexborHTMLParser("<main><ul><li>our shop</li></ul></main>"), URL).blocks
    assert one[0] == two[0]
    assert len(one) == 2
