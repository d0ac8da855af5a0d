"""Compacts one shard, in a process of its own: `python -m indexer.edge.compact FOLDER`.

The engine keeps Python's interpreter lock while it compacts (measured: 10 s for 20,000 points), so
the index process would answer nobody. It has closed the shard before, and kills this process
when somebody asks for the shard: the engine uses what it compacted only when that is whole.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from pathlib import Path

from qdrant_edge import EdgeShard

from indexer.edge.shard import SHARD_FOLDER

_PR_SET_PDEATHSIG = 1


def main() -> None:
    parent = os.getppid()
    if sys.platform == "linux":  # elsewhere a compaction may outlive the index process; it ends
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            return
    os.nice(10)
    engine = EdgeShard.load(str(Path(sys.argv[1]) / SHARD_FOLDER))
    if engine.optimize():
        engine.flush()
    engine.close()


if __name__ == "__main__":
    main()
