"""What a site repeats: a fold over its pages that says which blocks are the site's template.

The profile is a sample: the pages whose addresses hash lowest, at most `PAGES` of them, each with
its blocks' fingerprints (a bottom-k sketch; Cohen and Kaplan 2007). Which pages are in it depends
on the addresses alone, so pages may come in any order and from any number of workers, and
profiles merge. Its size is bounded whatever the size of the site.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

#: Pages in the sample, and fingerprints kept of one page (those that hash lowest).
PAGES = 256
BLOCKS = 1024
#: A block becomes template when it stands on this share of the sampled pages, and on this many.
ENTER = 0.3
#: It stays template until it stands on less than this share.
LEAVE = 0.2
FEWEST = 4
#: Words that template blocks in a row must have together to count: a lone repeated label
#: ("Description", "Features") between blocks of the page's own belongs to the page.
RUN = 6


@dataclass(frozen=True, slots=True)
class Profile:
    """Fingerprints of a site's sampled pages, by hash of the page's address."""

    pages: Mapping[str, frozenset[str]] = field(default_factory=dict)


def fingerprint(text: str) -> str:
    """Name of a block: a hash of its text, whatever its case and spacing."""
    plain = " ".join(text.casefold().split())
    return hashlib.blake2b(plain.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def fold(profile: Profile, url: str, found: Iterable[str]) -> Profile:
    """The profile with one more page. A page that is in it already is the union of both."""
    return merge(profile, Profile({address(url): frozenset(found)}))


def merge(one: Profile, other: Profile) -> Profile:
    """Both profiles' pages: commutative, associative, idempotent."""
    pages = dict(one.pages)
    for address, found in other.pages.items():
        pages[address] = pages.get(address, frozenset()) | found
    lowest = sorted(pages)[:PAGES]
    return Profile({address: _bounded(pages[address]) for address in lowest})


def verdicts(profile: Profile, previous: Mapping[str, bool] | None = None) -> dict[str, bool]:
    """Fingerprints that are template, each with True, from a profile at the end of a pass.

    `previous` are the verdicts published last: a block enters at `ENTER` and leaves under
    `LEAVE`, so that one page more or less flips nothing.
    """
    before = previous or {}
    total = len(profile.pages)
    count = Counter(mark for found in profile.pages.values() for mark in found)
    out = {}
    for mark, pages in count.items():
        share = LEAVE if before.get(mark, False) else ENTER
        if pages >= max(FEWEST, share * total):
            out[mark] = True
    return dict(sorted(out.items()))


def flips(previous: Mapping[str, bool], current: Mapping[str, bool]) -> set[str]:
    """Fingerprints whose verdict changed: pages that hold one of them have to be parsed again."""
    marks = previous.keys() | current.keys()
    return {mark for mark in marks if previous.get(mark, False) != current.get(mark, False)}


def template_runs(
    known: npt.NDArray[np.bool_], words: npt.NDArray[np.float32]
) -> npt.NDArray[np.bool_]:
    """Of blocks in document order that have a template verdict, those in runs that are long
    enough to be a piece of template."""
    out = np.zeros(len(known), bool)
    edges = np.flatnonzero(np.diff(np.concatenate(([False], known, [False])).astype(np.int8)))
    for start, end in zip(edges[::2], edges[1::2], strict=True):
        out[start:end] = words[start:end].sum() >= RUN
    return out


def address(url: str) -> str:
    """Hash of a page's address: the pages of a site whose addresses hash lowest are its sample."""
    return hashlib.blake2b(url.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _bounded(found: frozenset[str]) -> frozenset[str]:
    return found if len(found) <= BLOCKS else frozenset(sorted(found)[:BLOCKS])
