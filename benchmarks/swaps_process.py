"""The index process of `benchmarks.swaps`: it kills itself where it is told to in a swap.

The engine, the process and its recovery are the product's; what is added is the kill. The file
`kill` in the home names the step after which the next swap ends (0: before the first).
"""

import os
import signal
import sys
from pathlib import Path
from typing import Any

ORDER = "kill"
STEPS = ("before it", "after the note", "after the upsert", "after the delete")


def main() -> None:
    if os.fork():
        os._exit(0)
    os.setsid()
    from indexer.edge import server
    from indexer.edge.shard import Shard

    order, home = Path(sys.argv[1]) / ORDER, sys.argv[1]
    replace, note, update = Shard.replace_page, Shard._note, Shard._update
    step: int | None = None

    def passed() -> None:
        if step is not None and order.exists() and int(order.read_text()) == step:
            order.unlink()
            os.kill(os.getpid(), signal.SIGKILL)

    def replace_page(shard: Shard, *arguments: Any) -> Any:
        nonlocal step
        step = 0
        passed()
        try:
            return replace(shard, *arguments)
        finally:
            step = None

    def stepped(of: Any) -> Any:
        def call(shard: Shard, *arguments: Any) -> None:
            nonlocal step
            of(shard, *arguments)
            if step is not None:  # not what mends a swap that was cut
                step += 1
                passed()

        return call

    Shard.replace_page = replace_page  # type: ignore[method-assign]
    Shard._note = stepped(note)  # type: ignore[method-assign]
    Shard._update = stepped(update)  # type: ignore[method-assign]
    server.main(home, float(sys.argv[2]), int(sys.argv[3]))


if __name__ == "__main__":
    main()
