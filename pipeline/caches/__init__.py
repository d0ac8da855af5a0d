"""Where is kept what was paid for once: embeddings, a planner's answers. May be lost at any time.

One cache for all kinds of values, on a SQLite file or on Redis (`stores.py` is what both do). The
kinds are `embeddings.py` and `plans.py`.
"""

from pipeline.caches.cache import Cache, open_cache
from pipeline.caches.stores import KINDS, Bounds, Kind, Size

__all__ = ["KINDS", "Bounds", "Cache", "Kind", "Size", "open_cache"]
