"""Hits within a budget of tokens: what a reader, or a model, is given of a ranking.

The ranking is walked from its best hit. A hit that says nothing beyond a taken one is passed
over, chunks that stand side by side on a page become one, in the page's order, and the first that
does not fit is cut at the last line or sentence that does. Every line stays the page's own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from chunker.cut import RULER
from chunker.model import show
from indexer.model import Hit

_WORD = re.compile(r"\w+")
#: Ends of lines and sentences; `4.` before an item is neither.
_END = re.compile(r"\n|(?<=[^\W\d][.!?]) |(?<=[\u3002\uff01\uff1f])|$")
_HEADING = re.compile(r"\s*#{1,6}\s")

Counter = Callable[[str], int]


def packed(hits: Sequence[Hit], budget: int, count: Counter) -> list[Hit]:
    """As much of `hits`, best first, as `budget` tokens hold; `count` counts what is shown."""
    taken: list[Hit] = []
    for hit in hits:
        if any(_repeats(hit, one) for one in taken):
            continue
        more = _with(taken, hit, count)
        if sum(one.tokens for one in more) > budget:
            part = beginning(hit, budget - sum(one.tokens for one in taken), count)
            return _with(taken, part, count) if part else taken
        taken = more
    return taken


def beginning(hit: Hit, room: int, count: Counter) -> Hit | None:
    """The lines and sentences of `hit` that `room` tokens hold; None where that is nothing."""
    found = None
    for end in _END.finditer(hit.text):
        text = hit.text[: end.start()].rstrip()
        tokens = count(show(hit.heading_path, text))
        if tokens > room:
            break
        if not _HEADING.match(text.rpartition("\n")[2]):
            found = replace(hit, text=text, tokens=tokens, cut=True)
    return found


def _repeats(hit: Hit, taken: Hit) -> bool:
    """Whether `taken` holds every word and number of `hit`. Pages of one template differ in few,
    and those few are what is asked for: a share would not do."""
    words, held = (
        {*_WORD.findall(show(one.heading_path, one.text).casefold())} for one in (hit, taken)
    )
    return words <= held


def _with(taken: Sequence[Hit], hit: Hit, count: Counter) -> list[Hit]:
    """`taken` and one hit more, which is joined to those beside it, at the place of the best."""
    places = [at for at, one in enumerate(taken) if _adjoin(one, hit)]
    for at in places:
        hit = _join(taken[at], hit, count)
    rest = [one for at, one in enumerate(taken) if at not in places]
    rest.insert(places[0] if places else len(rest), hit)
    return rest


def _adjoin(one: Hit, other: Hit) -> bool:
    if (one.customer, one.source, one.url) != (other.customer, other.source, other.url):
        return False
    first, second = sorted((one, other), key=lambda hit: hit.position)
    return first.position + 1 + len(first.joined) == second.position and not first.cut


def _join(better: Hit, hit: Hit, count: Counter) -> Hit:
    first, second = sorted((better, hit), key=lambda one: one.position)
    text = second.text
    same_unit = first.unit_ids[-1:] == second.unit_ids[:1]
    if same_unit:
        text = _without_header(text, first.text)
    text = first.text + ("\n" if same_unit else "\n\n") + text
    return replace(
        better,
        text=text,
        heading_path=first.heading_path,
        unit_ids=tuple(dict.fromkeys((*first.unit_ids, *second.unit_ids))),
        position=first.position,
        tokens=count(show(first.heading_path, text)),
        joined=(*better.joined, hit.chunk_id, *hit.joined),
        cut=second.cut,
    )


def _without_header(text: str, before: str) -> str:
    """A piece of a table without the header row that the piece before it shows."""
    header, _, rest = text.partition("\n")
    ruler, _, body = rest.partition("\n")
    return body if RULER.match(ruler) and f"{header}\n{ruler}" in before else text
