"""Spans of time as people write them in a file: `15m`, `6h`, `1d`, `2w`."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Annotated

from pydantic import BeforeValidator, PlainSerializer

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_SPAN = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdw])")
#: A source is not asked for anything more often than this.
SHORTEST = timedelta(minutes=1)
LONGEST = timedelta(days=366)


def parse(text: object) -> timedelta:
    """The span that a text like `6h` or `1.5d` names. Raises `ValueError`, saying what would do."""
    found = _SPAN.fullmatch(text.strip()) if isinstance(text, str) else None
    if found is None:
        raise ValueError(f"{text!r} is no span of time: write a number and s, m, h, d or w, as 6h")
    span = timedelta(**{_UNITS[found[2]]: float(found[1])})
    if not SHORTEST <= span <= LONGEST:
        raise ValueError(f"{text} is not between one minute (1m) and a year (366d)")
    return span


def spell(span: timedelta) -> str:
    """The shortest text that `parse` reads as that span, to the second."""
    seconds = round(span.total_seconds())
    for unit, size in (("w", 604_800), ("d", 86_400), ("h", 3_600), ("m", 60)):
        if seconds % size == 0:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


Duration = Annotated[timedelta, BeforeValidator(parse), PlainSerializer(spell, return_type=str)]
