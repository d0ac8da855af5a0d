"""Opens what a command or a worker needs, from the settings alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from pipeline import home as homes
from pipeline.caches import KINDS, Bounds, Cache, Kind, open_cache
from pipeline.home import Home
from pipeline.ledger import Ledger, open_ledger
from pipeline.pagestore import PageStore
from pipeline.settings import Settings

if TYPE_CHECKING:
    from indexer.ports import Embedder, VectorIndex


@dataclass(frozen=True)
class Parts:
    """The parts of the system, each opened when first asked for."""

    settings: Settings
    home: Home

    @classmethod
    def of(cls, settings: Settings, make: bool = False) -> Parts:
        """Parts over the settings' home; `make` creates the home where there is none."""
        opened = homes.create if make else homes.existing
        return cls(settings, opened(settings.home))

    @cached_property
    def ledger(self) -> Ledger:
        return open_ledger(self.settings.ledger_at(self.home))

    @cached_property
    def store(self) -> PageStore:
        return PageStore(self.settings.store_at(self.home))

    @cached_property
    def embedder(self) -> Embedder:
        from indexer.embedders import open_embedder

        return open_embedder(self.settings.embedder)

    @cached_property
    def caches(self) -> Mapping[Kind, Cache]:
        settings = self.settings
        bounds = Bounds(settings.cache_days * 24 * 3600, settings.cache_bytes)
        url = settings.cache_url or f"sqlite:///{self.home.caches}"
        return {kind: open_cache(url, kind, bounds) for kind in KINDS}

    @cached_property
    def index(self) -> VectorIndex:
        from indexer.backends import open_index

        return open_index(self.home.root, self.settings.index_url)

    def __reduce__(self) -> tuple[object, ...]:
        # What is open stays here: another process opens its own.
        return type(self), (self.settings, self.home)
