"""Sources as files have them: `[sources.NAME]` in `wrac.toml` and in `sources.d/*.toml`.

The files are the desired state. What is known of a source, and whether it is paused, is in the
ledger.
"""

from pipeline.sources.files import Declared, read
from pipeline.sources.spec import SourceSpec

__all__ = ["Declared", "SourceSpec", "read"]
