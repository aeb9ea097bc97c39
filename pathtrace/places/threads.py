"""Runs one piece of blocking work in a pool's thread and, if cancelled, sees that it ends.

Knows threads and cancellation; what the work is, and how it is stopped, its caller says.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import TypeVar

Result = TypeVar("Result")

GRACE_S = 1.0
"""How long a thread gets to end after each way of stopping it."""


async def in_thread(
    pool: Executor, work: Callable[[], Result], stops: Sequence[Callable[[], None]] = ()
) -> Result:
    """The result of ``work``. On cancellation ``stops`` are tried in turn until the thread has ended.

    A second cancellation tries the remaining ones at once. The cancellation is always passed on.
    """
    submitted = pool.submit(work)
    future = asyncio.wrap_future(submitted)
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        if not submitted.cancel():  # the asyncio future's own `cancel` would not say that it runs
            future.add_done_callback(_nobody_asks)
            await _stop(future, stops)
        raise


async def paced(pool: Executor, work: Callable[[Callable[[], bool]], Result], patience_s: float) -> Result:
    """The result of ``work(stopped)`` in a thread, which asks ``stopped`` at each step.

    TimeoutError if a step takes longer than ``patience_s``: as long as it goes on, it may take its time.
    """
    stop, asked = threading.Event(), [time.monotonic()]

    def stopped() -> bool:
        asked[0] = time.monotonic()
        return stop.is_set()

    task = asyncio.ensure_future(in_thread(pool, lambda: work(stopped), (stop.set,)))
    try:
        while not task.done():
            left_s = asked[0] + patience_s - time.monotonic()
            if left_s <= 0:
                raise TimeoutError
            await asyncio.wait({task}, timeout=left_s)
        return task.result()
    finally:
        task.cancel()
        await asyncio.wait({task})


def _nobody_asks(future: asyncio.Future[Result]) -> None:
    """Take the fault of work that was stopped, which asyncio would else print for want of a reader."""
    if not future.cancelled():
        future.exception()


async def _stop(future: asyncio.Future[Result], stops: Sequence[Callable[[], None]]) -> None:
    remaining = list(stops)
    try:
        while remaining and not future.done():
            remaining.pop(0)()
            await asyncio.wait({future}, timeout=GRACE_S)
    finally:
        for stop in remaining:
            stop()
