"""`python -m indexer.edge HOME IDLE READY_FD`: leaves its parent, then becomes the index process.

The fork comes before anything heavy is imported, so that no thread is lost in it. Whoever started
this waits for a process that ends at once, and never for one that lives long.
"""

import os
import sys

if os.fork():
    os._exit(0)
os.setsid()

from indexer.edge.server import main  # noqa: E402

main(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]))
