"""What a unit is for, by rules on its own text. The page's template is mostly gone before this.

The rules look for what *says* that it is not content (short, and made of the words of a box),
never for a subject: a page about cookies or about how to log in is content.
"""

from __future__ import annotations

import re

from chunker.model import Kind, Role

_WORD = re.compile(r"\w")
_LINK = re.compile(r"\[((?:[^\[\]\\]|\\.)*)\]\([^()\s]*\)")

#: Longest text, in characters, that a rule other than `empty` may take for a box.
_LONGEST = 400

_COOKIE = re.compile(
    r"\b(?:we|this (?:web)?site|our (?:web)?site|wir|nous|utilizamos)\b.{0,60}\b(?:uses?|using|"
    r"verwenden|utilisons|utilizamos)\b.{0,40}\bcookies?\b.*\b(?:accept|agree|consent|continu|"
    r"reject|decline|settings|preferences|learn more|akzeptier|zustimm|accepte)|"
    r"^(?:accept|reject|allow|decline|manage)(?: all)? cookies(?: (?:accept|reject).*)?$|"
    r"^cookie (?:settings|preferences|consent)$",
    re.I | re.S,
)
_LOGIN = re.compile(
    r"^(?:(?:please )?(?:log|sign) ?in|register|sign up|create (?:an )?account|"
    r"(?:you (?:must|need to) (?:be )?(?:log|sign)(?:ged|ed)? ?in\b.{0,60})|"
    r"(?:log|sign) ?in (?:or|to) (?:register|sign up|continue|comment|reply|your account).{0,40}|"
    r"already (?:have an account|registered|a member)\?.{0,20}|"
    r"forgot(?:ten)? (?:your )?password\??)"
    r"[.!]?$",
    re.I,
)
_SHARE = re.compile(
    r"^(?:share(?: (?:this|on|via|with|article|page|post).{0,30})?|tweet|pin(?: it)?|"
    r"follow us(?: on.{0,40})?|facebook|twitter|linkedin|whatsapp|pinterest|email|reddit|"
    r"copy link|print|[\s|,/•·-])+:?$",
    re.I,
)
_LEGAL = re.compile(
    r"^(?:copyright\s*)?(?:©|\(c\)|&copy;)\s*(?:copyright\s*)?(?:\d{4}|\w)|"
    r"^copyright\s+(?:©|\(c\)|\d{4}).{0,120}$|^.{0,80}\ball rights reserved\.?$",
    re.I,
)
_NAVIGATION = re.compile(
    r"^(?:(?:skip|jump) to (?:main |primary )?(?:content|navigation|search)|back to top|"
    r"(?:«|\u2039|←|<)?\s*(?:previous|prev|next|older|newer)(?: (?:page|post|posts|article|entry))?"
    r"\s*(?:»|\u203a|→|>)?|read more|see more|show more|load more|view all|toggle navigation|menu|"
    r"(?:page )?\d+ of \d+)$",
    re.I,
)
_RULES: tuple[tuple[Role, re.Pattern[str]], ...] = (
    ("legal", _LEGAL),
    ("navigation", _NAVIGATION),
    ("login", _LOGIN),
    ("share", _SHARE),
    ("cookie", _COOKIE),
)


def role_of(kind: Kind, text: str, plain: str) -> Role:
    """The role of a unit.

    `text` is its Markdown, `plain` its words. A unit without a word is `empty`. Headings, tables,
    code and quotes are never anything else than body or empty. A short text or list is a box
    where its words say so from end to end; a list that is only short links is navigation when it
    is a trail (`Home > Products > ...`).
    """
    if not _WORD.search(plain):
        return "empty"
    if kind not in {"text", "list"} or len(plain) > _LONGEST:
        return "body"
    line = " ".join(plain.split())
    for role, pattern in _RULES:
        if pattern.search(line):
            return role
    return "navigation" if kind == "text" and _is_trail(text) else "body"


def _is_trail(text: str) -> bool:
    """Breadcrumbs: two or more links with nothing but arrows or slashes between them."""
    links = _LINK.findall(text)
    if len(links) < 2:
        return False
    rest = _LINK.sub("\x00", text)
    between = rest.strip().split("\x00")[1:-1]
    return all(re.fullmatch(r"\s*(?:[>/»\u203a→]|\\>|::)\s*", one) for one in between)
