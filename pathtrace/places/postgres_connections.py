"""A place's connections to its server: lent to one operation at a time, replaced when one is lost.

Knows connections, not what is done over them.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import NamedTuple

import psycopg

from pathtrace.model.work import Clock
from pathtrace.places.postgres_server import Connection


class Lent(NamedTuple):
    """A connection for one operation; ``opened_ns`` is what opening it took just now, usually 0."""

    connection: Connection
    opened_ns: int


class Connections:
    """At most ``most`` at a time; whoever comes when all are lent waits for one."""

    def __init__(self, most: int, connect: Callable[[], Awaitable[Connection]], clock: Clock) -> None:
        self._connect = connect
        self._clock = clock
        self._most = most
        self._room = asyncio.Semaphore(most)
        self.idle: list[Connection] = []

    async def fill(self) -> None:
        """Open all of them, so that no operation has to."""
        while len(self.idle) < self._most:
            self.idle.append(await self._connect())

    @contextlib.asynccontextmanager
    async def lend(self) -> AsyncIterator[Lent]:
        """One connection, its own while in use. After a failure it is rolled back, or else replaced."""
        async with self._room:
            lent = await self._take()
            connection = lent.connection
            try:
                yield lent
            except psycopg.Error:
                await _rolled_back(connection)
                raise
            except BaseException:
                # Cut off in the middle of something: what the server would say next is anybody's guess.
                await connection.close()
                raise
            finally:
                if not connection.closed:
                    self.idle.append(connection)

    async def close(self) -> None:
        """Close those that are not lent."""
        ended, self.idle = self.idle, []
        for connection in ended:
            await connection.close()

    async def _take(self) -> Lent:
        while self.idle:
            connection = self.idle.pop()
            if not connection.closed:
                return Lent(connection, 0)
        start = self._clock()
        opened = await self._connect()
        return Lent(opened, self._clock() - start)


async def _rolled_back(connection: Connection) -> None:
    try:
        await connection.rollback()
    except psycopg.Error:
        await connection.close()
