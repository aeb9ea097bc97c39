from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import TypeVar

import pytest

from pathtrace.model.work import Done, Item
from pathtrace.places.lane import Lane
from pathtrace.places.reading import Burst

T = TypeVar("T")
LONG = Burst(10**12, 10**12)


def items(number: int) -> list[Item]:
    return [Item(f"{n}", n) for n in range(number)]


def read(item: Item) -> Done:
    return Done(0, 0, item.size_bytes, (item,))


def play(story: Callable[[Lane], Awaitable[T]], one: Callable[[Item], Done] = read, worth: Burst = LONG) -> T:
    async def run(pool: ThreadPoolExecutor) -> T:
        return await story(Lane(pool, one, count().__next__, worth))

    with ThreadPoolExecutor(4) as pool:
        return asyncio.run(run(pool))


async def all_of(lane: Lane) -> list[list[Done]]:
    bursts = []
    while lane.ahead:
        bursts.append(await lane.ready())
    return bursts


def test_everything_comes_back_in_order_also_what_was_fed_later() -> None:
    async def story(lane: Lane) -> list[str]:
        names: list[str] = []
        work = items(100)
        while work or lane.ahead:
            lane.feed(work[:7])
            del work[:7]
            names += [done.items[0].name for done in await lane.ready()]
        return names

    assert play(story) == [item.name for item in items(100)]


def test_one_thread_at_a_time_reads() -> None:
    inside, most = [0], [0]
    lock = threading.Lock()

    def one(item: Item) -> Done:
        with lock:
            inside[0] += 1
            most[0] = max(most[0], inside[0])
        done = read(item)
        with lock:
            inside[0] -= 1
        return done

    async def story(lane: Lane) -> None:
        for item in items(200):
            lane.feed([item])
            await asyncio.sleep(0)
        await all_of(lane)

    play(story, one)
    assert most == [1]


def bursts_of(worth: Burst, number: int) -> list[int]:
    """How many are handed over at once by a lane that nobody asks before it is through."""

    async def story(lane: Lane) -> list[int]:
        lane.feed(items(number))
        while lane._running:
            await asyncio.sleep(0)
        return [len(burst) for burst in lane._bursts]

    return play(story, worth=worth)


def test_a_burst_is_half_of_what_waits_or_as_much_as_is_worth_a_hop() -> None:
    assert bursts_of(LONG, 16) == [8, 4, 2, 1, 1]
    assert bursts_of(Burst(10**12, 3), 5) == [3, 1, 1]  # 0 + 1 + 2 bytes
    assert bursts_of(Burst(1, 10**12), 3) == [1, 1, 1]


def test_what_has_not_been_read_is_given_back_and_the_read_in_progress_still_comes() -> None:
    began, go_on = threading.Event(), threading.Event()

    def one(item: Item) -> Done:
        began.set()
        go_on.wait(10)
        return read(item)

    async def story(lane: Lane) -> tuple[list[Item], int, list[Done], list[list[Done]]]:
        lane.feed(items(3))
        await asyncio.to_thread(began.wait, 10)
        unread, ahead, taken = lane.end(), lane.ahead, lane.take()
        go_on.set()
        return unread, ahead, taken, await all_of(lane)

    assert play(story, one) == (items(3)[1:], 1, [], [[read(items(1)[0])]])


def test_a_nudge_ends_the_wait_with_nothing() -> None:
    go_on = threading.Event()

    def one(item: Item) -> Done:
        go_on.wait(10)
        return read(item)

    async def story(lane: Lane) -> tuple[list[Done], list[list[Done]]]:
        lane.feed(items(1))
        asyncio.get_running_loop().call_soon(lane.nudge)
        nothing = await lane.ready()
        go_on.set()
        return nothing, await all_of(lane)

    assert play(story, one) == ([], [[read(items(1)[0])]])


def test_a_bug_in_reading_comes_out_where_the_result_is_asked_for() -> None:
    def one(item: Item) -> Done:
        raise IndexError("planted")

    async def story(lane: Lane) -> None:
        lane.feed(items(3))
        await lane.ready()

    with pytest.raises(IndexError, match="planted"):
        play(story, one)


def test_a_read_that_outlives_the_loop_disturbs_nobody() -> None:
    began, go_on = threading.Event(), threading.Event()

    def one(item: Item) -> Done:
        began.set()
        go_on.wait(10)
        return read(item)

    async def story(lane: Lane) -> Lane:
        lane.feed(items(2))
        await asyncio.to_thread(began.wait, 10)
        lane.end()
        return lane

    async def run() -> Lane:
        return await story(Lane(pool, one, count().__next__, LONG))

    with ThreadPoolExecutor(1) as pool:
        lane = asyncio.run(run())
        go_on.set()
    assert [len(burst) for burst in lane._bursts] == [1]
    assert lane._bug is None
