"""How long a response says that it stays as it is (RFC 9111, 4.2.1)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime

#: Of Cache-Control, what forbids to rely on the rest, and the lifetime; `s-maxage` is not for us.
NOT_KEPT = re.compile(r"(?:^|,)\s*(?:no-cache|no-store|must-revalidate\s*,\s*max-age=0)\b", re.I)
MAX_AGE = re.compile(r"(?:^|,)\s*max-age\s*=\s*\"?(\d+)", re.I)


def fresh_for(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds for which the response with these headers (lower-case names) is fresh; None: unsaid.

    A lifetime is counted from when the origin made the response: `Age` is taken off.
    """
    control = headers.get("cache-control", "")
    if NOT_KEPT.search(control):
        return None
    if found := MAX_AGE.search(control):
        age = headers.get("age", "")
        lifetime = float(found[1]) - (float(age) if age.isdecimal() else 0.0)
    else:
        until, since = _date(headers.get("expires")), _date(headers.get("date")) or now
        lifetime = (until - since).total_seconds() if until else 0.0
    return lifetime if lifetime > 0 else None


def _date(value: str | None) -> datetime | None:
    if not value:
        return None
    try:
        found = parsedate_to_datetime(value)
    except ValueError:
        return None  # also `0` and `-1`, which say that it is stale already
    return found if found.tzinfo else None
