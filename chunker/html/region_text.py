"""What a block's text says about itself: counts, and phrases of a closed list, as bits."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

#: Phrase groups: words and pairs of words (`log_in`). What they mean for the region is learned.
PHRASES: dict[str, str] = {
    "legal": "copyright rights_reserved privacy privacy_policy terms_of terms_and impressum "
    "disclaimer datenschutz mentions_légales",
    "cookie": "cookie cookies cookies_policy",
    "account": "log_in login logon sign_in signin sign_up signup register my_account password "
    "forgot account logout join_now anmelden connexion",
    "cart": "to_cart to_bag to_basket buy_now checkout wishlist in_stock of_stock quantity "
    "sold_out qty to_compare choose_options cart basket bag add_to warenkorb panier",
    "subscribe": "subscribe newsletter your_email email_address unsubscribe inbox mailing_list",
    "share": "share tweet facebook twitter linkedin pinterest whatsapp follow_us instagram "
    "youtube copy_link reddit telegram",
    "more": "read_more learn_more view_all see_all show_more load_more shop_now view_more "
    "shop_all see_more view_details quick_view find_out get_started book_a contact_sales "
    "continue_reading get_a download request_a",
    "related": "related recommended also_like might_like similar more_from popular trending "
    "recently_viewed most_read also_bought up_next suggested latest more_articles more_stories",
    "filter": "sort_by sort filter filters results result showing clear_all per_page relevance "
    "to_high newest items refine",
    "forum": "reply report like likes liked member members joined messages posts post reactions "
    "reaction to_expand last_edited profile thanks thread threads replies views quote upvote",
    "review": "review reviews rating ratings star stars verified helpful recommend recommended",
    "comment": "comment comments leave_a leave_comment",
    "site": "home menu search close back next previous contact_us about_us support help careers "
    "faq faqs sitemap accessibility contact about",
    "skip": "skip_to jump_to to_top scroll toggle expand collapse loading edit print skip",
    "price": "price prices usd eur gbp regular_price sale_price from save off msrp",
    "date": "jan feb mar apr may jun jul aug sep sept oct nov dec january february march april "
    "june july august september october november december ago yesterday today edited",
    "by": "by written_by posted_by author published updated min_read minute_read minutes_read",
    "spec": "material materials weight dimensions model brand sku size color colour width height "
    "capacity features specifications details description overview",
    "ships": "shipping returns return warranty refund delivery guarantee ship ships",
    "more_from": "next_article previous_article next_post previous_post you_may you_might "
    "customers_also people_also in_this on_this table_of more_in more_on recent_posts",
    "currency": "$ € £ ¥ ₹",
    "sign": "© ® → › » | ★ • ✓ ×",  # noqa: RUF001
}
PHRASE_BITS: dict[str, int] = {name: 1 << i for i, name in enumerate(PHRASES)}
_LOOK = 24
_WORD = re.compile(r"\w+")
_SENTENCE = re.compile(r"[.!?…](?=[\s\"'”’)\]]|$)|[。！？]")  # noqa: RUF001

#: Names of the columns that `counts` returns.
COUNTS = ("words", "chars", "sentences", "commas", "digits", "capitals")
#: For each of the last three columns, which bytes of UTF-8 it counts.
_SIGNS_OF = tuple(
    np.array([chr(byte) in signs for byte in range(256)], np.uint8)
    for signs in (",;", "0123456789", "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
)


def words(text: str) -> list[str]:
    """Words of a text, in lower case."""
    return _WORD.findall(text.lower())


def counts(texts: Sequence[str], tokens: Sequence[Sequence[str]]) -> npt.NDArray[np.float64]:
    """A row a text, with the columns named in `COUNTS`. No text is empty or has a line break."""
    page = "\n".join(texts)
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    ends = np.cumsum(lengths + 1)
    sentences = [found.start() for found in _SENTENCE.finditer(page)]
    inside = np.searchsorted(ends, np.array(sentences, np.int64), "right")
    data = np.frombuffer(page.encode("utf-8", "replace") + b"\n", np.uint8)
    breaks = np.flatnonzero(data == ord("\n"))
    starts = np.concatenate(([0], breaks[:-1] + 1))
    return np.column_stack(
        (
            np.fromiter(map(len, tokens), np.float64, len(tokens)),
            lengths,
            np.bincount(inside, minlength=len(texts)),
            *(np.add.reduceat(signs[data], starts, dtype=np.int64) for signs in _SIGNS_OF),
        )
    ).astype(np.float64)


def phrase_bits(text: str, tokens: list[str]) -> int:
    """Phrase groups found in the first words of a text, as a bit mask."""
    bits = 0
    head = tokens[:_LOOK]
    for token in _SAID.intersection(head):
        bits |= _SINGLE.get(token, 0)
    if not _SECOND.isdisjoint(head):
        for pair in pairwise(head):
            bits |= _PAIR.get(pair, 0)
    if not text.isascii():
        for sign, bit in _SIGNS:
            if sign in text:
                bits |= bit
    elif "$" in text:
        bits |= PHRASE_BITS["currency"]
    return bits


def _tables() -> tuple[dict[str, int], dict[tuple[str, str], int], list[tuple[str, int]]]:
    single: dict[str, int] = {}
    pair: dict[tuple[str, str], int] = {}
    signs: list[tuple[str, int]] = []
    for name, entries in PHRASES.items():
        bit = PHRASE_BITS[name]
        for entry in entries.split():
            first, _, second = entry.partition("_")
            if second:
                pair[first, second] = pair.get((first, second), 0) | bit
            elif entry.isalpha():
                single[entry] = single.get(entry, 0) | bit
            else:
                signs.append((entry, bit))
    return single, pair, signs


_SINGLE, _PAIR, _SIGNS = _tables()
_SECOND = frozenset(second for _, second in _PAIR)
_SAID = frozenset(_SINGLE)
