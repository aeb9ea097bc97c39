"""Starts a process that works with an SMB library, asks it one thing at a time, and ends it.

A process each, since libsmbclient is not safe among threads; so a crash of the library costs one
operation, and a call that hangs is ended with its process. Secrets go over the socket only.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
from typing import Any, cast

from pathtrace.errors import PlaceError
from pathtrace.places.smb_frames import missing, packed, unpacked
from pathtrace.places.smb_memory import Loan, SharedMemory
from pathtrace.places.smb_session import Facts, Fault, Kind, Logon

_GRACE_S = 2.0
"""How long a worker gets to say good-bye to the server."""
_POLL_S = 0.005
_CHUNK = 1 << 18
_PASSWORD = "PATHTRACE_SMB_PASSWORD"


class WorkerProcess:
    """One process with one connection."""

    def __init__(self, memory: SharedMemory) -> None:
        self._memory = memory
        self._known: set[int] = set()
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self._watched = False
        self._waiting: asyncio.Future[None] | None = None
        self.handles: set[int] = set()
        """Files that are open in it."""
        self.unwanted: list[int] = []
        """Files that it should close when it has time."""

    @property
    def pid(self) -> int | None:
        """Of the process, while it runs."""
        return None if self._process is None else self._process.pid

    async def start(self, library: str | None, logon: Logon, path: str) -> Facts:
        """Start the process and connect. Fault."""
        ours, theirs = _socket_pair()
        ours.setblocking(False)
        self._socket = ours
        with theirs:
            self._process = subprocess.Popen(  # noqa: ASYNC220  # asyncio's own would add a watcher and pipes
                [sys.executable, "-m", "pathtrace.places.smb_worker"],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=_environment(),
                process_group=0,
            )
        await self._exchange((library, logon, path), [])
        try:
            return Facts(*await self.ask("connect"))
        except Fault as fault:
            if fault.kind != "lost":
                raise
        return Facts(*await self.ask("connect"))  # a server that many call at once may drop one: once more

    async def ask(self, operation: str, *arguments: object, loan: Loan | None = None) -> Any:
        """The worker's answer. Fault. If cancelled, the process is ended."""
        new: tuple[tuple[int, int], ...] = ()
        descriptors: list[int] = []
        region = None
        if loan is not None:
            region = (loan.region.number, loan.view.nbytes)
            if loan.region.number not in self._known:
                new, descriptors = ((loan.region.number, loan.region.size),), [loan.region.descriptor]
        gone = self._memory.gone(self._known) if new else set()
        self._known = self._known - gone | {number for number, _ in new}
        return await self._exchange((operation, arguments, region, new, tuple(gone)), descriptors)

    async def close(self) -> None:
        """Have it say good-bye; end it if that takes longer than two seconds."""
        if self._socket is not None:
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)  # also wakes whoever still waits for an answer
        process = self._process
        if process is None:
            return
        for _ in range(round(_GRACE_S / _POLL_S)):
            if process.poll() is not None:
                break
            await asyncio.sleep(_POLL_S)
        self.kill()

    def kill(self) -> None:
        """End the process at once."""
        self._hang_up()
        process, self._process = self._process, None
        self.handles.clear()
        self.unwanted.clear()
        self._known.clear()
        if process is not None:
            process.kill()
            process.wait()

    async def _exchange(self, request: object, descriptors: list[int]) -> Any:
        connection = self._socket
        if connection is None:
            raise Fault("lost", "the process that spoke with the server has ended")
        try:
            await _send(connection, packed(request), descriptors)
            fault, value = unpacked(await self._answer(connection))
        except (OSError, EOFError):
            raise self._ended() from None
        except BaseException:  # cancelled: nobody will take the answer any more
            self.kill()
            raise
        if fault is not None:
            kind, detail = fault
            raise Fault(cast("Kind", kind), detail)
        return value

    async def _answer(self, connection: socket.socket) -> bytearray:
        """A whole frame. The loop watches the socket all the time: to start and end that is dear."""
        loop = asyncio.get_running_loop()
        frame = bytearray()
        if not self._watched:
            loop.add_reader(connection, self._wake)
            self._watched = True
        while missing(frame):
            self._waiting = loop.create_future()
            await self._waiting
            with contextlib.suppress(BlockingIOError):  # woken once more by what had been read already
                data = connection.recv(_CHUNK)
                if not data:
                    raise EOFError
                frame += data
        return frame

    def _wake(self) -> None:
        """There is something to read: an answer, or that the process has ended."""
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)
        elif self._socket is not None:
            with contextlib.suppress(BlockingIOError):
                if not self._socket.recv(1, socket.MSG_PEEK):
                    self._unwatch()  # nobody waits: the next who asks will see it

    def _unwatch(self) -> None:
        if self._watched and self._socket is not None:
            asyncio.get_running_loop().remove_reader(self._socket)
        self._watched = False

    def _hang_up(self) -> None:
        if self._socket is not None:
            self._unwatch()
            self._socket.close()
            self._socket = None

    def _ended(self) -> Fault:
        process = self._process
        code = None
        if process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                code = process.wait(0.2)
        self.kill()
        how = f"by signal {signal.Signals(-code).name}" if code is not None and code < 0 else f"with {code}"
        return Fault("lost", f"the process of the SMB library ended {how}")


def _socket_pair() -> tuple[socket.socket, socket.socket]:
    if not hasattr(socket, "AF_UNIX") or not hasattr(socket, "send_fds"):
        raise PlaceError(
            "smb:// is not available on this system",
            hint="write the share as a path of this system, such as path: \\\\server\\share\\folder",
        )
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name != _PASSWORD}
    return kept | {"PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}


async def _send(connection: socket.socket, data: bytes, descriptors: list[int]) -> None:
    # One request at a time: the socket's buffer is empty and takes at least a part of it.
    sent = socket.send_fds(connection, [data], descriptors) if descriptors else connection.send(data)
    if sent < len(data):
        await asyncio.get_running_loop().sock_sendall(connection, data[sent:])
