"""How many more visits a pass may begin where its pages are limited."""

from __future__ import annotations

#: Visits that may come to nothing however small the limit is; beyond them one for each page.
FREE_MISSES = 20


def left(max_pages: int | None, pages: int, misses: int, in_flight: int) -> int | None:
    """Visits that may be begun now; None: no limit.

    A visit that comes to no page gives its place to another, so that a redirect costs no page. But
    a site of dead links must end too: they are bounded as well.
    """
    if max_pages is None:
        return None
    of_pages = max_pages - pages - in_flight
    of_all = 2 * max_pages + FREE_MISSES - pages - misses - in_flight
    return max(0, min(of_pages, of_all))
