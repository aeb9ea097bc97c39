"""How a run is asked to end early: once politely, twice at once."""

from __future__ import annotations

import asyncio


class StopRequest:
    """Told of signals by the terminal, asked by the engine between operations.

    The first request lets operations in flight finish; the second cancels the run's task.
    Both are to be made from the event loop's own thread.
    """

    def __init__(self) -> None:
        self.signal: int | None = None
        self._task: asyncio.Task[object] | None = None
        self._asked = asyncio.Event()

    @property
    def asked(self) -> bool:
        return self.signal is not None

    async def wait(self) -> None:
        """Returns once a stop has been asked for."""
        await self._asked.wait()

    def attach(self, task: asyncio.Task[object] | None) -> None:
        """The task that a second request cancels; None once there is nothing left to cut short."""
        self._task = task

    def request(self, signal: int) -> None:
        """Note a signal; the first number decides the exit code."""
        if self.signal is None:
            self.signal = signal
            self._asked.set()
        elif self._task is not None:
            self._task.cancel()
