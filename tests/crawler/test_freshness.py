"""How long a response says that it stays as it is."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from crawler.freshness import fresh_for

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
AT = "Fri, 01 May 2026 12:00:00 GMT"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"cache-control": "public, max-age=600"}, 600),
        ({"cache-control": 'max-age="600"'}, 600),
        ({"cache-control": "s-maxage=900"}, None),
        ({"cache-control": "s-maxage=900, max-age=60"}, 60),
        ({"cache-control": "max-age=600", "age": "200"}, 400),
        ({"cache-control": "max-age=600", "age": "700"}, None),
        ({"cache-control": "max-age=0, must-revalidate"}, None),
        ({"cache-control": "no-cache, max-age=600"}, None),
        ({"cache-control": "no-store"}, None),
        ({"cache-control": "max-age=-5"}, None),
        ({"expires": "Fri, 01 May 2026 13:00:00 GMT", "date": AT}, 3600),
        ({"expires": "Fri, 01 May 2026 13:00:00 GMT"}, 3600),
        ({"expires": "Fri, 01 May 2026 11:00:00 GMT", "date": AT}, None),
        ({"expires": "0"}, None),
        ({"expires": "-1"}, None),
        ({"cache-control": "max-age=10", "expires": "Fri, 01 May 2026 13:00:00 GMT"}, 10),
    ],
)
def test_cache_control_goes_before_expires(headers: dict[str, str], seconds: float | None) -> None:
    assert fresh_for(headers, NOW) == seconds
