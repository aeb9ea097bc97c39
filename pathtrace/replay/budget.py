"""What a run may still read and how long it may still take."""

from __future__ import annotations

import asyncio
import contextlib

from pathtrace.model.work import Clock
from pathtrace.replay.stop import StopRequest
from pathtrace.units import nanoseconds, seconds


class Budget:
    """Bytes and seconds of a run. Asked between operations; never cuts one short."""

    def __init__(self, bytes_limit: int, seconds_limit: float, clock: Clock, stop: StopRequest) -> None:
        self._bytes_left = bytes_limit
        self._clock = clock
        self._deadline_ns = clock() + nanoseconds(seconds_limit)
        self._stop = stop
        self.ended_by: str | None = None
        """What ended the run early: ``bytes``, ``time`` or the reason given to ``end``."""

    def spend(self, count: int) -> None:
        """Take note of bytes that were read."""
        self._bytes_left -= count

    def ends(self) -> bool:
        """True when nothing more may be started: budget gone, or a stop was asked for."""
        if self._stop.asked or self.ended_by is not None:
            return True
        if self._bytes_left <= 0:
            self.ended_by = "bytes"
        elif self._clock() >= self._deadline_ns:
            self.ended_by = "time"
        return self.ended_by is not None

    def allows(self, count: int, duration_s: float) -> bool:
        """True if a repeat of this size would still fit; False also notes why not."""
        if self.ends():
            return False
        if count > self._bytes_left:
            self.ended_by = "bytes"
        elif self._clock() + nanoseconds(duration_s) > self._deadline_ns:
            self.ended_by = "time"
        return self.ended_by is None

    async def pause(self, duration_s: float) -> bool:
        """Wait so long, or until the run ends; False if it ended."""
        left_s = seconds(max(0, self._deadline_ns - self._clock()))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(min(duration_s, left_s)):
                await self._stop.wait()
        return not self.ends()

    def end(self, reason: str) -> None:
        """End the run from outside: nothing more is started."""
        self.ended_by = self.ended_by or reason
