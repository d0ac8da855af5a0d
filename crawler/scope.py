"""Which URLs belong to a source, decided from the URL alone and always with a reason."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePosixPath
from urllib.parse import urlsplit, urlunsplit

from crawler import reasons
from crawler.errors import InvalidUrlError, SeedError
from crawler.model import Scope
from crawler.urls import canonical, from_name

#: The longest URL that is asked for, in characters: what Scrapy and most servers take.
MAX_LENGTH = 2083
#: Names of files that hold no text worth reading. All other bodies are decided by their bytes.
SKIPPED_SUFFIX = re.compile(
    r"\.(?:7z|apk|avi|avif|bin|bmp|bz2|css|deb|dmg|eot|exe|flac|flv|gif|gz|ico|iso|jar|jpeg|jpg"
    r"|js|m4a|m4v|map|mjs|mkv|mov|mp3|mp4|mpeg|mpg|msi|ogg|ogv|otf|png|rar|rpm|svg|swf|tar"
    r"|tgz|tif|tiff|ttf|wasm|wav|webm|webmanifest|webp|wmv|woff|woff2|xz|zip|zst)",
    re.IGNORECASE,
)


class Rules:
    """A scope made ready to be asked."""

    def __init__(self, scope: Scope) -> None:
        self.max_depth = scope.max_depth
        self._parameters = None if scope.parameters is None else frozenset(scope.parameters)
        self.seeds = tuple(self.spelt(_seed(seed)) for seed in scope.seeds)
        self._sites = {_site(seed) for seed in self.seeds}
        self._hosts = {_bare(name) for name in scope.hosts if not name.startswith("*.")}
        self._domains = tuple(
            f".{_bare(name[2:])}" for name in scope.hosts if name.startswith("*.")
        )
        self._include = _any_of(scope.include)
        self._exclude = _any_of(scope.exclude)

    def why_not(self, url: str, depth: int = 0) -> str | None:
        """None where the canonical `url` belongs to the source, else the reason why it does not."""
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https"):
            return reasons.BAD_SCHEME
        if len(url) > MAX_LENGTH:
            return reasons.TOO_LONG
        if not self.on_site(url):
            return reasons.OUT_OF_SCOPE
        if self._exclude and self._exclude.fullmatch(url):
            return reasons.EXCLUDED
        if self._include and not self._include.fullmatch(url) and url not in self.seeds:
            return reasons.NOT_INCLUDED
        if self.max_depth is not None and depth > self.max_depth:
            return reasons.TOO_DEEP
        if SKIPPED_SUFFIX.fullmatch(PurePosixPath(parts.path).suffix):
            return reasons.FILE_TYPE
        return None

    def spelt(self, url: str) -> str:
        """A canonical `url` without the query parameters that the source does not keep."""
        if self._parameters is None or "?" not in url:
            return url
        parts = urlsplit(url)
        pairs = parts.query.split("&")
        kept = [pair for pair in pairs if pair.partition("=")[0] in self._parameters]
        return urlunsplit(parts._replace(query="&".join(kept)))

    def on_site(self, url: str) -> bool:
        """Whether a canonical `url` is on one of the source's hosts."""
        site = _site(url)
        if site in self._sites or site in self._hosts:
            return True
        name = site.partition(" ")[0]
        return name in self._hosts or f".{name}".endswith(self._domains)

    def may_ask(self, url: str) -> bool:
        """Whether a page of the source may load `url` (as a browser spells it) for its text."""
        try:
            known = canonical(url)
        except InvalidUrlError:
            return False
        excluded = self._exclude is not None and self._exclude.fullmatch(known)
        return known.startswith(("http://", "https://")) and self.on_site(known) and not excluded


def _seed(seed: str) -> str:
    try:
        url = canonical(seed if "://" in seed else f"https://{seed}")
    except InvalidUrlError as error:
        raise SeedError(f"the seed {seed!r} is no URL: {error}") from error
    if not url.startswith(("http://", "https://")):
        raise SeedError(f"the seed {seed!r} is neither http nor https")
    return url


def _site(url: str) -> str:
    """Host without `www.`, and the port where it is not a default one: `host` or `host port`."""
    parts = urlsplit(url)
    name = (parts.hostname or "").removeprefix("www.")
    return f"{name} {parts.port}" if parts.port else name


def _bare(name: str) -> str:
    return _site(from_name(name))


def _any_of(patterns: Iterable[str]) -> re.Pattern[str] | None:
    choices = [_pattern(pattern) for pattern in patterns]
    return re.compile("|".join(choices), re.DOTALL) if choices else None


def _pattern(pattern: str) -> str:
    """A URL pattern as a regular expression over whole URLs.

    `*` matches anything. `/docs/*` is matched against path and query, `host/docs/*` against
    everything after the scheme, `https://...` and `*...` against all; a `/` at the end takes in
    what is below it.
    """
    text = pattern + "*" if pattern.endswith("/") else pattern
    first, *rest = [re.escape(piece) for piece in text.split("*")]
    # What lies between two stars is found at its first place and nowhere else (an atomic group):
    # that decides the same, and no address can make it slow.
    found = "".join(f"(?>.*?{piece})" for piece in rest[:-1])
    body = f"{first}{found}.*{rest[-1]}" if rest else first
    if pattern.startswith("/"):
        return f"[a-z]+://[^/]+{body}"
    if "://" in pattern or pattern.startswith("*"):
        return body
    return f"[a-z]+://{body}"
