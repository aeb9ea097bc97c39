from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from pathtrace.places.threads import in_thread, paced


def test_the_result_of_the_work_is_handed_back() -> None:
    with ThreadPoolExecutor(1) as pool:
        assert asyncio.run(in_thread(pool, lambda: 42)) == 42


def test_a_fault_of_the_work_is_passed_on() -> None:
    def work() -> None:
        raise ValueError("no")

    with ThreadPoolExecutor(1) as pool, pytest.raises(ValueError, match="no"):
        asyncio.run(in_thread(pool, work))


def cancelled(stop: Callable[[threading.Event], None]) -> bool:
    """Cancel work that runs; True if its thread had ended when the cancellation came out."""
    running, ended = threading.Event(), threading.Event()

    def work() -> None:
        running.set()
        ended.wait(10)

    async def run(pool: ThreadPoolExecutor) -> bool:
        task = asyncio.create_task(in_thread(pool, work, (lambda: stop(ended),)))
        await asyncio.to_thread(running.wait, 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return ended.is_set()

    with ThreadPoolExecutor(1) as pool:
        return asyncio.run(run(pool))


def test_cancelling_stops_the_work_and_waits_for_its_thread() -> None:
    assert cancelled(threading.Event.set)


def test_work_that_has_not_begun_is_never_begun() -> None:
    done = []

    async def run(pool: ThreadPoolExecutor) -> None:
        gate = threading.Event()
        first = asyncio.create_task(in_thread(pool, gate.wait))
        second = asyncio.create_task(in_thread(pool, lambda: done.append(1)))
        await asyncio.sleep(0)
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        gate.set()
        await first

    with ThreadPoolExecutor(1) as pool:
        asyncio.run(run(pool))
    assert done == []


def test_the_fault_of_work_that_was_stopped_is_not_printed() -> None:
    printed: list[object] = []

    async def run(pool: ThreadPoolExecutor) -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: printed.append(context))
        running, ended = threading.Event(), threading.Event()

        def work() -> None:
            running.set()
            ended.wait(10)
            raise ValueError("stopped")

        task = asyncio.create_task(in_thread(pool, work, (ended.set,)))
        await asyncio.to_thread(running.wait, 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        del task
        gc.collect()

    with ThreadPoolExecutor(1) as pool:
        asyncio.run(run(pool))
    assert printed == []


def test_work_that_goes_on_may_take_longer_than_each_of_its_steps() -> None:
    steps = threading.Event()

    def work(stopped: Callable[[], bool]) -> int:
        return sum(not stopped() and not steps.wait(0.02) for _ in range(10))

    with ThreadPoolExecutor(1) as pool:
        assert asyncio.run(paced(pool, work, 0.1)) == 10


def test_a_step_that_hangs_is_given_up() -> None:
    hanging = threading.Event()

    def work(stopped: Callable[[], bool]) -> bool:
        return stopped() or hanging.wait(20) or stopped()

    async def given_up(pool: ThreadPoolExecutor) -> None:
        with pytest.raises(TimeoutError):
            await paced(pool, work, 0.05)
        hanging.set()

    with ThreadPoolExecutor(1) as pool:
        asyncio.run(asyncio.wait_for(given_up(pool), 10))
