"""Hands operations to SMB workers: a free one each, the one that has the file open if it can choose.

A worker whose process has ended is started again by the next operation that comes to it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

from pathtrace.places.smb_memory import Loan, SharedMemory
from pathtrace.places.smb_process import WorkerProcess
from pathtrace.places.smb_session import Facts, Fault, Logon


class WorkerPool:
    """As many workers, and connections, as ``parallel``."""

    def __init__(self, library: str | None, logon: Logon, path: str, memory: SharedMemory) -> None:
        self._library = library
        self._logon = logon
        self._path = path
        self._memory = memory
        self._workers: list[WorkerProcess] = []
        self._free: list[WorkerProcess] = []
        self._turn = asyncio.Semaphore(0)

    @property
    def pids(self) -> tuple[int, ...]:
        """Of the processes that run."""
        return tuple(worker.pid for worker in self._workers if worker.pid is not None)

    async def open(self, parallel: int) -> Facts:
        """Connect one worker, then all others at once. Fault."""
        self._workers = [WorkerProcess(self._memory) for _ in range(parallel)]
        facts = await self._start(self._workers[0])
        # Each at its own pace; only when all have ended is it clear that nothing is left half started.
        started = await asyncio.gather(*map(self._start, self._workers[1:]), return_exceptions=True)
        for result in started:
            if isinstance(result, BaseException):
                raise result
        self._free = self._workers[::-1]
        self._turn = asyncio.Semaphore(parallel)
        return facts

    async def ask(
        self, operation: str, *arguments: object, loan: Loan | None = None, handle: int | None = None
    ) -> Any:
        """Have one worker do it, as soon as one is free. Fault. If cancelled, that worker is ended."""
        async with self._taken(handle) as worker:
            if worker.pid is None:
                await self._start(worker)
            if handle is not None:
                worker.handles.add(handle)
            return await worker.ask(operation, *arguments, loan=loan)

    async def close_handle(self, handle: int) -> None:
        """Close a file wherever it is open; a worker that is busy does so when it has finished."""
        for worker in self._workers:
            if handle in worker.handles:
                worker.handles.discard(handle)
                worker.unwanted.append(handle)
        for worker in [each for each in self._free if each.unwanted]:
            await self._turn.acquire()
            if worker in self._free:
                self._free.remove(worker)
                await self._give_back(worker)
            else:
                self._turn.release()

    async def close(self) -> None:
        """End the workers; none gets longer than two seconds."""
        workers, self._workers, self._free = self._workers, [], []
        await asyncio.gather(*(worker.close() for worker in workers))

    async def _start(self, worker: WorkerProcess) -> Facts:
        return await worker.start(self._library, self._logon, self._path)

    @contextlib.asynccontextmanager
    async def _taken(self, handle: int | None) -> AsyncIterator[WorkerProcess]:
        await self._turn.acquire()
        having = (
            worker for worker in reversed(self._free) if handle is not None and handle in worker.handles
        )
        worker = next(having, None)
        if worker is None:
            worker = self._free[-1]
        self._free.remove(worker)
        try:
            yield worker
        finally:
            await self._give_back(worker)

    async def _give_back(self, worker: WorkerProcess) -> None:
        try:
            while worker.unwanted:
                with contextlib.suppress(Fault):  # what cannot be closed is gone already
                    await worker.ask("close", worker.unwanted.pop())
        finally:
            self._free.append(worker)
            self._turn.release()
