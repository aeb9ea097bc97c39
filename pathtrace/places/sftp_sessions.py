"""A place's SFTP sessions: lent to operations, spread over connections, replaced when one is lost.

An SFTP server works off a session's requests one after the other, so each operation in progress gets a
session of its own as long as the server allows. Knows connections and sessions, not what is done with them.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass

import asyncssh

from pathtrace.errors import PlaceError
from pathtrace.places.ssh_connection import Login, connect, hang_up

_SESSIONS = 8
"""Of one connection; OpenSSH allows 10 (MaxSessions)."""
_MOST = 64


@dataclass(eq=False, slots=True)
class Session:
    """``users`` work with it now; a retired one gets no more, and ends with the last of them."""

    sftp: asyncssh.SFTPClient
    connection: asyncssh.SSHClientConnection
    users: int = 0
    retired: bool = False

    @property
    def usable(self) -> bool:
        return not self.retired and not self.connection.is_closed()


class Sessions:
    """Up to ``wanted`` sessions, fewer if the server refuses more: then operations share them."""

    def __init__(self, login: Login) -> None:
        self._login = login
        self._wanted = 1
        self._sessions: list[Session] = []
        self._connections: list[asyncssh.SSHClientConnection] = []
        self._opening = asyncio.Lock()

    async def fill(self, wanted: int) -> None:
        """Open them all, so that no operation has to. PlaceError if not even one can be had."""
        self._wanted = min(max(1, wanted), _MOST)
        while len(self._sessions) < self._wanted:
            await self._open_one()

    async def take(self) -> Session:
        """A session of one's own if there is one, else the least used. PlaceError if none can be had."""
        async with self._opening:
            self._sessions = [session for session in self._sessions if session.usable]
            idle = any(not session.users for session in self._sessions)
            if not idle and len(self._sessions) < self._wanted:
                await self._open_one()
            session = min(self._sessions, key=lambda each: each.users)
            session.users += 1
            return session

    def give_back(self, session: Session) -> None:
        """The operation is done with it."""
        session.users -= 1
        if session.retired and not session.users:
            session.sftp.exit()

    def retire(self, session: Session) -> None:
        """Something hangs or is lost there: nobody else gets it. Still to be given back."""
        session.retired = True

    async def close(self) -> None:
        """End all of them."""
        connections, self._connections, self._sessions = self._connections, [], []
        await asyncio.gather(*(hang_up(connection) for connection in connections))

    async def _open_one(self) -> None:
        connection = self._with_room()
        if connection is not None:
            try:
                self._sessions.append(await _started(connection))
                return
            except (OSError, asyncssh.Error):
                if self._sessions:
                    self._wanted = len(self._sessions)  # it allows no more
                    return
                # What hangs there may still count for the server: only a new connection helps.
                self._connections.remove(connection)
                connection.abort()
        connection = await connect(self._login)
        self._connections.append(connection)
        try:
            self._sessions.append(await _started(connection))
        except (OSError, asyncssh.Error) as error:
            raise PlaceError(
                f"{self._login.host} lets us in, but offers no files over SFTP: {error}",
                hint="switch SFTP on there (in sshd_config: Subsystem sftp internal-sftp)",
            ) from error

    def _with_room(self) -> asyncssh.SSHClientConnection | None:
        """A connection that may take another session."""
        self._connections = [each for each in self._connections if not each.is_closed()]
        for connection in self._connections:
            if sum(session.connection is connection for session in self._sessions) < _SESSIONS:
                return connection
        return None


async def _started(connection: asyncssh.SSHClientConnection) -> Session:
    return Session(await connection.start_sftp_client(path_encoding=None), connection)


async def closed(file: asyncssh.SFTPClientFile) -> None:
    """Close a file whose operation has failed already."""
    with contextlib.suppress(OSError, asyncssh.Error):
        await file.close()
