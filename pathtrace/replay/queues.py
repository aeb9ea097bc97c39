"""What waits between stages: the list that the first one works off, and each later one's bounded queue."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from pathtrace.model.work import Clock, Item
from pathtrace.replay.operations import StageSetup

BURST = 64
"""Reads that one worker takes from the list at once, at most."""
AHEAD = 64
"""Reads that wait at a lane, at most. What one has, no other worker can take when it is through."""


class Parcel(NamedTuple):
    """The input of one operation, on its way between two stages."""

    items: tuple[Item, ...]
    cause: int
    arrived_ns: int


class Inlet:
    """A stage's input queue, which also joins texts into the batches that the stage wants."""

    def __init__(self, setup: StageSetup, clock: Clock) -> None:
        self.queue: asyncio.Queue[Parcel | None] = asyncio.Queue(setup.queue)
        self._batch = setup.place.batch(setup.action)
        self._clock = clock
        self._open: list[Item] = []
        self._texts = 0
        self._cause = -1

    @property
    def free(self) -> int:
        """How many parcels can be put without waiting."""
        return self.queue.maxsize - self.queue.qsize()

    async def put(self, items: Sequence[Item], cause: int) -> int:
        """Hand items on; returns the nanoseconds for which the queue was full."""
        blocked_ns = 0
        for parcel in self._parcels(items, cause):
            blocked_ns += await self._put(parcel)
        return blocked_ns

    async def flush(self) -> None:
        """Hand on the last, incomplete batch."""
        if self._open:
            await self._put(self._close_batch())

    async def end(self, workers: int) -> None:
        """Tell every worker that nothing more will come."""
        for _ in range(workers):
            await self.queue.put(None)

    async def _put(self, parcel: Parcel) -> int:
        if not self.queue.full():
            self.queue.put_nowait(parcel)
            return 0
        started = self._clock()
        await self.queue.put(parcel._replace(arrived_ns=started))
        return self._clock() - started

    def _parcels(self, items: Sequence[Item], cause: int) -> list[Parcel]:
        if self._batch == 0:
            now = self._clock()
            return [Parcel((item,), cause, now) for item in items]
        return self._batches(items, cause)

    def _batches(self, items: Sequence[Item], cause: int) -> list[Parcel]:
        full = []
        self._cause = cause
        for item in items:
            rest = item
            while rest.texts:
                part, rest = _split(rest, self._batch - self._texts)
                self._open.append(part)
                self._texts += len(part.texts)
                if self._texts == self._batch:
                    full.append(self._close_batch())
        return full

    def _close_batch(self) -> Parcel:
        parcel = Parcel(tuple(self._open), self._cause, self._clock())
        self._open, self._texts = [], 0
        return parcel


def _split(item: Item, count: int) -> tuple[Item, Item]:
    """The first ``count`` texts (with their vectors) of an item, and the rest of it."""
    if len(item.texts) <= count:
        return item, item._replace(texts=(), vectors=())
    head = item._replace(texts=item.texts[:count], vectors=item.vectors[:count])
    return head, item._replace(texts=item.texts[count:], vectors=item.vectors[count:])


class WorkList:
    """What the first stage has still to do, in order; unfinished work can be given back."""

    def __init__(self, items: Sequence[Item], workers: int) -> None:
        self._items = items
        self._next = 0
        self._returned: deque[Item] = deque()
        self._workers = workers

    @property
    def left(self) -> int:
        """Items that nobody has taken."""
        return len(self._returned) + len(self._items) - self._next

    def take(self, room: int) -> list[Item]:
        """Up to ``room`` items, fewer near the end so that no worker is left without any."""
        count = max(1, min(BURST, room, self.left // self._workers))
        taken = [self._returned.popleft() for _ in range(min(count, len(self._returned)))]
        begin, self._next = self._next, min(self._next + count - len(taken), len(self._items))
        taken += self._items[begin : self._next]
        return taken

    def give_back(self, items: Sequence[Item]) -> None:
        self._returned.extendleft(reversed(items))
