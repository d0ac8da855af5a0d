"""One spelling for each URL.

Resolution follows RFC 3986 section 5; what a browser forgives (blanks and line ends around or
inside, backslashes) follows the WHATWG URL standard. Path normalisation is w3lib's.
"""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import SplitResult, urljoin, urlsplit, urlunsplit

from w3lib.url import canonicalize_url, safe_url_string

from crawler.errors import InvalidUrlError

#: Parameters that only say where a visitor came from.
TRACKING = re.compile(
    r"utm_\w+|gclid|gclsrc|dclid|gbraid|wbraid|fbclid|msclkid|yclid|twclid|ttclid|igshid|li_fat_id"
    r"|mc_[ce]id|mkt_tok|_ga|_gl|_hsenc|_hsmi|__hs\w+|hsctatracking|vero_(?:id|conv)|oly_\w+_id|s_kwcid"
    r"|(?:pk|mtm|piwik|matomo)_(?:campaign|kwd|keyword|source|medium|content|cid|group|placement)",
    re.IGNORECASE,
)
#: Parameters that carry a visitor's session.
SESSION = re.compile(
    r"jsessionid|phpsessid|aspsessionid\w*|asp\.net_sessionid|session_?id|cfid|cftoken|oscsid|zenid",
    re.IGNORECASE,
)
#: `sid` is a session where its value looks like one; else it may be a story or a section.
SESSION_VALUE = re.compile(r"[0-9a-zA-Z,-]{16,}")
PATH_SESSION = re.compile(r";jsessionid=[^/;?]*", re.IGNORECASE)
PERCENT = re.compile(r"%[0-9a-fA-F]{2}")
DEFAULT_PORTS = {"http": 80, "https": 443}


def join(base: str, href: str, encoding: str = "utf-8") -> str:
    """The absolute URL that `href` means on a page whose base is `base`, not yet canonical.

    `encoding` is the page's: it spells the non-ASCII characters of a query (WHATWG URL, 4.4), as
    far as it has them. Raises InvalidUrlError.
    """
    try:
        absolute = urljoin(base, _forgive(href))
        if absolute.isascii():
            return absolute
        try:
            return safe_url_string(absolute, encoding)
        except (UnicodeEncodeError, LookupError):
            return safe_url_string(absolute)
    except ValueError as error:
        raise InvalidUrlError(f"{href[:200]!r} is no URL: {error}") from error


@lru_cache(maxsize=65_536)
def canonical(url: str) -> str:
    """The one spelling of an absolute URL that is asked for and recorded. Raises InvalidUrlError.

    Scheme and host in lower case, no default port, no user name or password, dot segments
    resolved, no fragment, no tracking or session parameters, equal parameters once and in order.
    A trailing slash and `index.html` stay: only the site knows what they mean, and says so by a
    redirect or its canonical link.
    """
    try:
        parts = urlsplit(safe_url_string(_forgive(url)))
        netloc = _netloc(parts)
        bare = parts._replace(netloc=netloc, query="", fragment="")
        spelt = urlsplit(canonicalize_url(urlunsplit(bare)))
    except ValueError as error:
        raise InvalidUrlError(f"{url[:200]!r} is no URL: {error}") from error
    if not netloc:
        raise InvalidUrlError(f"{url[:200]!r} is no URL: it names no host")
    path = PATH_SESSION.sub("", spelt.path) or "/"
    return urlunsplit((spelt.scheme, spelt.netloc, path, _query(parts.query), ""))


def from_name(name: str) -> str:
    """The front page of a host that somebody named, with or without a port or brackets.

    Raises InvalidUrlError.
    """
    bare = name.strip()
    return canonical(
        f"http://[{bare}]" if bare.count(":") > 1 and "[" not in bare else f"http://{bare}"
    )


def host(url: str) -> str:
    """The host of a URL in lower case, without port or brackets; empty where there is none."""
    try:
        return (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:
        return ""


def origin(url: str) -> str:
    """Scheme, host and port: what a robots.txt speaks for."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _forgive(text: str) -> str:
    text = text.strip("\x00\x01\x02\x03\x04\x05\x06\x07\x08\x0b\x0e\x0f\x1f \t\n\r\f")
    text = text.replace("\t", "").replace("\n", "").replace("\r", "")
    if "\\" not in text:
        return text
    head = re.match(r"[^?#]*", text)
    end = head.end() if head else 0
    return text[:end].replace("\\", "/") + text[end:]


def _netloc(parts: SplitResult) -> str:
    name = (parts.hostname or "").rstrip(".")
    if ":" in name:
        name = f"[{name}]"
    port = parts.port
    if port is None or port == DEFAULT_PORTS.get(parts.scheme.lower()):
        return name
    return f"{name}:{port}"


def _query(query: str) -> str:
    if not query:
        return ""
    kept = {
        PERCENT.sub(lambda escape: escape.group().upper(), pair)
        for pair in query.split("&")
        if pair and not _is_noise(pair)
    }
    return "&".join(sorted(kept))


def _is_noise(pair: str) -> bool:
    name, _, value = pair.partition("=")
    if TRACKING.fullmatch(name) or SESSION.fullmatch(name):
        return True
    return name.lower() == "sid" and bool(SESSION_VALUE.fullmatch(value))
