"""Reads on in one thread while what it has read is handed on and recorded elsewhere.

What waits is read in order, one item at a time, and handed over in bursts, so that neither the hop between
threads nor the work of whoever asked holds up the next read. How an item is read, and how much may wait, is
left to others.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from threading import Lock

from pathtrace.model.work import Clock, Done, Item
from pathtrace.places.reading import Burst


class Lane:
    """See ``ports.Lane``. Made within the running loop; a thread of ``pool`` is taken while items wait."""

    def __init__(self, pool: Executor, one: Callable[[Item], Done], clock: Clock, worth: Burst) -> None:
        self._pool = pool
        self._one = one
        self._clock = clock
        self._worth = worth
        self._loop = asyncio.get_running_loop()
        self._lock = Lock()
        self._running = False
        self._waiting: deque[Item] = deque()
        self._burst: list[Done] = []
        self._bursts: deque[list[Done]] = deque()
        self._asked: asyncio.Future[None] | None = None
        self._bug: BaseException | None = None
        self.ahead = 0
        self.since_ns = clock()

    def feed(self, items: Sequence[Item]) -> None:
        if not items:
            return
        self.ahead += len(items)
        with self._lock:
            self._waiting.extend(items)
            start, self._running = not self._running, True
        if start:
            self.since_ns = self._clock()
            self._pool.submit(self._read_all).add_done_callback(self._ended)

    async def ready(self) -> list[Done]:
        if not self._bursts and self._bug is None:
            self._asked = self._loop.create_future()
            await self._asked
        if not self._bursts and self._bug is not None:
            raise self._bug
        return self._taken([])

    def nudge(self) -> None:
        if self._asked is not None and not self._asked.done():
            self._asked.set_result(None)

    def take(self) -> list[Done]:
        return self._taken(list(self._burst))

    def end(self) -> list[Item]:
        unread: list[Item] = []
        with contextlib.suppress(IndexError):  # the thread takes from the same end
            while True:
                unread.append(self._waiting.popleft())
        self.ahead -= len(unread)
        return unread

    def _taken(self, last: Sequence[Done]) -> list[Done]:
        done: list[Done] = self._bursts.popleft() if self._bursts else []
        while self._bursts:
            done += self._bursts.popleft()
        done += last
        self.ahead -= len(done)
        return done

    def _read_all(self) -> None:
        """In the thread: until nothing waits."""
        while True:
            self._read_burst()
            with self._lock:
                self._running = bool(self._waiting)
                if not self._running:
                    return

    def _read_burst(self) -> None:
        """At most half of what waits, so that there is more to read while somebody brings the next."""
        waiting, burst, one, clock = self._waiting, self._burst, self._one, self._clock
        count, held = (len(waiting) + 1) // 2, 0
        now = clock()
        until = now + self._worth.time_ns
        while count and held < self._worth.bytes and now < until:
            try:
                item = waiting.popleft()
            except IndexError:  # taken back meanwhile
                break
            self.since_ns = now
            burst.append(done := one(item))
            held += done.bytes
            count -= 1
            now = clock()
        self._burst = []
        if burst:
            self._bursts.append(burst)
            self._tell()

    def _ended(self, future: Future[None]) -> None:
        if not future.cancelled() and (bug := future.exception()) is not None:
            self._bug = bug
            self._tell()

    def _tell(self) -> None:
        with contextlib.suppress(RuntimeError):  # a read that hung came back after the loop had gone
            self._loop.call_soon_threadsafe(self.nudge)
