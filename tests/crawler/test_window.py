"""Which tasks a crawl begins, in which order, whatever the order of the answers."""

from __future__ import annotations

import asyncio
import random
from collections import deque

from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.frontier_thread import FrontierThread
from crawler.memory import MemoryFrontier
from crawler.model import Found, Task
from crawler.window import Window
from tests.crawler.frontier_contract import SITE, page, url

Graph = dict[int, list[int]]
#: Pages with up to three links each, most of them further on.
GRAPHS = st.lists(st.lists(st.integers(1, 6), max_size=3), min_size=8, max_size=25).map(
    lambda steps: {
        number: [(number + step) % len(steps) for step in forward]
        for number, forward in enumerate(steps)
    }
)


async def crawl(graph: Graph, by_level: bool, max_depth: int | None, seed: int) -> list[Task]:
    """Tasks in the order they began; answers come in a random order that depends on the seed."""
    frontier = FrontierThread(MemoryFrontier())
    window = Window(frontier, size=6, by_level=by_level, finding=lambda: False)
    await frontier.discovered([Found(url(0), 0, None)])
    begun: list[Task] = []
    waiting: list[Task] = []
    chance = random.Random(seed)

    async def answer(task: Task) -> None:
        number = int(task.url.removeprefix(f"{SITE}/"))
        depth = task.depth + 1
        reason = "too_deep" if max_depth is not None and depth > max_depth else None
        links = [Found(url(child), depth, task.url, reason) for child in graph.get(number, [])]
        await frontier.record(page(number, *links))
        window.done()

    while True:
        if waiting and chance.random() < 0.7:
            await answer(waiting.pop(chance.randrange(len(waiting))))
        next_tasks = asyncio.ensure_future(window.next())
        while not next_tasks.done():
            done, _ = await asyncio.wait({next_tasks}, timeout=0.002)
            if not done and waiting:
                await answer(waiting.pop(chance.randrange(len(waiting))))
        tasks = next_tasks.result()
        if not tasks:
            break
        begun += tasks
        waiting += tasks
    assert not waiting
    frontier.close()
    return begun


def within(graph: Graph, max_depth: int | None) -> dict[str, int]:
    """The least depth of every page within the limit, by breadth-first search."""
    depths = {0: 0}
    queue = deque([0])
    while queue:
        number = queue.popleft()
        for child in graph.get(number, []):
            if child not in depths and (max_depth is None or depths[number] < max_depth):
                depths[child] = depths[number] + 1
                queue.append(child)
    return {url(number): depth for number, depth in depths.items()}


@settings(deadline=None)
@given(GRAPHS, st.integers(0, 4), st.integers(0, 3))
def test_with_a_limited_depth_the_order_of_answers_makes_no_difference(
    graph: Graph, max_depth: int, seed: int
) -> None:
    begun = asyncio.run(crawl(graph, True, max_depth, seed))
    assert {task.url: task.depth for task in begun} == within(graph, max_depth)
    depths = [task.depth for task in begun]
    assert depths == sorted(depths)


@settings(deadline=None)
@given(GRAPHS, st.integers(0, 50))
def test_every_task_begins_once_and_the_window_ends(graph: Graph, seed: int) -> None:
    begun = asyncio.run(crawl(graph, False, None, seed))
    assert sorted(task.url for task in begun) == sorted(within(graph, None))


def test_nothing_begins_after_it_was_closed() -> None:
    async def run() -> None:
        frontier = FrontierThread(MemoryFrontier())
        await frontier.discovered([Found(url(0), 0, None)])
        window = Window(frontier, size=4, by_level=False, finding=lambda: True)
        window.close()
        assert await window.next() == ()
        frontier.close()

    asyncio.run(run())
