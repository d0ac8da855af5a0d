"""The sources' files while a run lasts: read again when one of them changes."""

from __future__ import annotations

from pathlib import Path

import structlog

from pipeline.errors import UsageError
from pipeline.sources.files import Declared, files, read

__all__ = ["Declared", "WatchedFiles"]

log = structlog.get_logger()


class WatchedFiles:
    """What the files declare. A change that is a mistake is logged, and what held before holds."""

    def __init__(self, root: Path = Path()) -> None:
        """Raises `UsageError` where the files are wrong to begin with."""
        self._root = root
        self.sources = read(root)
        self._seen = self._stamp()

    def refreshed(self) -> dict[str, Declared]:
        """The sources by name, as the files have them by now."""
        if self._stamp() != self._seen:
            try:
                self.sources = read(self._root)
                log.info("the sources' files were read again", sources=len(self.sources))
            except UsageError as error:
                log.error("the sources' files have a mistake", error=str(error), hint=error.hint)
            self._seen = self._stamp()
        return self.sources

    def _stamp(self) -> tuple[tuple[str, int, int], ...]:
        """Changes whenever one of the files does, or a policy that they name."""
        policies = [one.policy_file for one in self.sources.values() if one.policy_file]
        watched = [*files(self._root), *policies]
        stats = [(file, file.stat()) for file in watched if file.is_file()]
        return tuple((str(file), stat.st_mtime_ns, stat.st_size) for file, stat in stats)
