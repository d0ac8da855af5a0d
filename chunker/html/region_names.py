"""Closed word groups over `class`, `id` and `role` values, as bits of one integer.

Web authors name their containers in a few hundred words. A group is a bit; what a group means for
the region is learned, not written here. Host names and whole class values are never looked at.
"""

from __future__ import annotations

import re
from functools import lru_cache

#: Group to words. A word of five letters or more also matches inside a longer one
#: (`mainNavigation`, `productcard`); a shorter one only as a whole word.
GROUPS: dict[str, str] = {
    "nav": "nav navbar navigation topnav subnav navi",
    "menu": "menu megamenu submenu dropdown flyout hamburger",
    "header": "header masthead topbar hdr banner",
    "footer": "footer ftr colophon bottom",
    "sidebar": "sidebar aside rail secondary side",
    "breadcrumb": "breadcrumb crumbs crumb",
    "paging": "pagination pager paging paginate next prev previous",
    "related": "related recommend similar upsell crosssell suggested alsolike",
    "popular": "popular trending latest recent recently viewed mostread",
    "promo": "promo promotion advert ad ads adv sponsor sponsored advertisement marketing offer",
    "newsletter": "newsletter subscribe subscription signup optin mailing email",
    "social": "social share sharing facebook twitter follow pinterest addthis whatsapp linkedin",
    "cookie": "cookie consent gdpr onetrust privacy ccpa",
    "login": "login signin register account auth logon paywall",
    "modal": "modal popup overlay lightbox offcanvas drawer dialog toast tooltip popover",
    "cart": "cart basket checkout wishlist bag buybox addtocart minicart",
    "filter": "filter facet facets refine sort sorting sortby refinement toolbar",
    "search": "search searchbox typeahead autocomplete",
    "form": "form field input checkbox textarea captcha newsletterform",
    "button": "btn button cta buttons link links",
    "comment": "comment comments disqus discussion respond",
    "review": "review reviews rating ratings stars testimonial testimonials feedback yotpo",
    "author": "author byline writer bio contributor profile username",
    "date": "date time published posted timestamp updated",
    "meta": "meta metadata info details stats counter count views",
    "tags": "tag tags keyword keywords category categories topics label labels badge",
    "toc": "toc tableofcontents onthispage contents jump anchor",
    "title": "title heading headline subtitle headings name",
    "article": "article blogpost entry story articlebody",
    "post": "post posts thread topic message reply replies postbody",
    "body": "body text copy prose markdown richtext rte wysiwyg paragraph",
    "content": "content main primary maincontent",
    "desc": "description desc summary excerpt intro lead teaser blurb",
    "product": "product prod item sku pdp variant",
    "price": "price pricing amount currency cost sale",
    "spec": "spec specs specification specifications attribute attributes features feature",
    "card": "card tile cards tiles box panel teasercard",
    "grid": "grid row list listing collection results result items products",
    "hero": "hero jumbotron masthero splash cover",
    "slider": "slider carousel slide swiper slick splide gallery slideshow",
    "media": "image img picture photo figure thumbnail thumb video icon",
    "caption": "caption credit credits",
    "tabs": "tab tabs accordion collapse collapsible toggle expandable panelbody",
    "faq": "faq faqs question answer questions answers qanda",
    "user": "user avatar member userinfo profilecard usercard",
    "signature": "signature sig postprofile quote quoted blockquote",
    "hiddenname": "hidden hide invisible sr-only sronly visuallyhidden screenreader offscreen skip",
    "alert": "alert notice notification message-bar announcement warning admonition note",
    "legal": "legal copyright disclaimer terms policy shipping returns",
    "lang": "language lang locale country region geo store stores location",
    "event": "event events calendar schedule",
    "section": "section container wrapper wrap block module widget component",
    "widget": "widget plugin elementor gutenberg wpb shopify",
    "code": "code highlight pre snippet terminal",
    "table": "table tbl datatable",
    "print": "print download edit action actions tools tool vote votes like likes reactions",
}
BITS: dict[str, int] = {name: 1 << i for i, name in enumerate(GROUPS)}


def bits_of(groups: str) -> int:
    """Bit mask of some groups, by their names."""
    return sum(BITS[group] for group in groups.split())


def _tables() -> tuple[dict[str, int], dict[str, list[tuple[str, int]]]]:
    """Bits of whole words; and of the longer ones by their first letters, longest first."""
    whole: dict[str, int] = {}
    for group, words in GROUPS.items():
        for word in words.split():
            whole[word] = BITS[group]
    starts: dict[str, list[tuple[str, int]]] = {}
    for word in sorted(whole, key=lambda word: (-len(word), word)):
        if len(word) > _START:
            starts.setdefault(word[:_START], []).append((word, whole[word]))
    return whole, starts


_START = 4
_WHOLE, _STARTS = _tables()
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_NUMBER = re.compile(r"[\d_-]+")
_WORD = re.compile(r"[a-z]+")


@lru_cache(maxsize=16384)
def class_of(value: str) -> tuple[int, str]:
    """Groups of a class attribute, and its first word without numbers."""
    words = value.split(None, 1)
    return name_bits(value), _NUMBER.sub("", words[0][:80]) if words else ""


@lru_cache(maxsize=16384)
def name_bits(value: str) -> int:
    """Groups that the words of an attribute value belong to, as a bit mask."""
    bits = 0
    for token in value[:400].split():
        bits |= _token_bits(token)
    return bits


@lru_cache(maxsize=16384)
def _token_bits(token: str) -> int:
    if not token.islower():
        token = _CAMEL.sub(" ", token).lower()
    bits = 0
    for word in _WORD.findall(token):
        bits |= _word_bits(word)
    return bits


@lru_cache(maxsize=16384)
def _word_bits(word: str) -> int:
    found = _WHOLE.get(word)
    if found is None and word.endswith("s"):
        found = _WHOLE.get(word[:-1])
    if found is not None:
        return found
    bits = place = 0
    while place < len(word) - _START:
        for stem, group in _STARTS.get(word[place : place + _START], ()):
            if word.startswith(stem, place):
                bits |= group
                place += len(stem)
                break
        else:
            place += 1
    return bits
