"""What is left of a URL when its numbers and values are taken out: pages of one kind share it."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, urlsplit

NUMBER = re.compile(r"\d+")
HASH = re.compile(r"(?<![0-9a-zA-Z])[0-9a-fA-F-]{12,}(?![0-9a-zA-Z])")


def template(url: str) -> str:
    """A canonical URL without its numbers, hashes and parameter values."""
    parts = urlsplit(url)
    return path_form(parts) + ("?" + "&".join(names_of(parts)) if parts.query else "")


def is_numbered(parts: SplitResult) -> bool:
    """Whether there can be many of its kind: plain names are written by people."""
    return bool(parts.query or NUMBER.search(parts.path) or HASH.search(parts.path))


def path_form(parts: SplitResult) -> str:
    """Host and path without numbers and hashes."""
    return parts.netloc + NUMBER.sub("0", HASH.sub("0", parts.path))


def names_of(parts: SplitResult) -> list[str]:
    """Names of the query's parameters, each once, in order."""
    return sorted({pair.partition("=")[0] for pair in parts.query.split("&")})
