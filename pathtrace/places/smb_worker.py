"""The process in which an SMB library runs: takes one operation after the other from a socket.

Started by ``smb_process`` with the socket as standard input. Data goes through memory that both
processes see. Times are ``time.monotonic_ns``, CPU is this process's own, with every thread of the
library. It ends when the other side hangs up, whatever it is doing.
"""

from __future__ import annotations

import mmap
import os
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from pathtrace.places.smb_frames import receive, send
from pathtrace.places.smb_libsmbclient import LibsmbclientSession, load
from pathtrace.places.smb_protocol import SmbprotocolSession
from pathtrace.places.smb_session import ENDS_CONNECTION, Facts, Fault, Logon, RemoteOpen, Session, Timing

_GOODBYE_S = 2.0
"""How long taking leave of the server may take once nobody waits for it."""


class Request(NamedTuple):
    """An operation's name and arguments, the memory it may use, and memory that is no more."""

    operation: str
    arguments: tuple[Any, ...]
    region: tuple[int, int] | None = None
    """Number of a region and how many of its bytes are meant."""
    new: tuple[tuple[int, int], ...] = ()
    """Number and size of the regions whose descriptors come with this."""
    gone: tuple[int, ...] = ()


class Worker:
    """One session, its open files, and the memory it shares."""

    def __init__(self, session: Session, target: str) -> None:
        self._session = session
        self._target = target
        self._connected = False
        self._files: dict[int, RemoteOpen] = {}
        self._regions: dict[int, mmap.mmap] = {}

    def share(self, request: Request, descriptors: list[int]) -> None:
        """Map regions that are new, let go of those that are gone."""
        for (number, size), descriptor in zip(request.new, descriptors, strict=True):
            self._regions[number] = mmap.mmap(descriptor, size)
            os.close(descriptor)
        for number in request.gone:
            self._regions.pop(number, None)

    def serve(self, request: Request) -> Any:
        """The result of one operation. Fault."""
        work: Callable[..., Any] = getattr(self, f"do_{request.operation}")
        memory = None
        if request.region is not None:
            number, length = request.region
            memory = memoryview(self._regions[number])[:length]
        try:
            return work(*request.arguments, *([] if memory is None else [memory]))
        except Fault as fault:
            if fault.kind in ENDS_CONNECTION:
                self._connected = False
            raise

    def do_connect(self) -> Facts:
        """Connect, forgetting what was open."""
        self._files.clear()
        facts = self._session.connect(self._target)
        self._connected = True
        return facts

    def do_size(self, path: str) -> int | None:
        """Of the file ``path``; None if it is a folder."""
        self._again()
        return self._session.size(path)

    def do_entries(self, path: str) -> list[tuple[Any, ...]]:
        """Of a folder, as plain tuples."""
        self._again()
        return [tuple(entry) for entry in self._session.entries(path)]

    def do_fetch(self, path: str, block_bytes: int, memory: memoryview | None = None) -> Timing:
        """One whole file into ``memory``, or into the answer if there is none or too little."""
        watch = _Watch()
        self._again()
        file = self._session.open(path)
        try:
            asking = time.monotonic_ns()
            size = file.size()
            opened = time.monotonic_ns()
            into = memory if memory is not None and size <= len(memory) else memoryview(bytearray(size))
            got, first = _read(file, into[:size], block_bytes)
            closing = time.monotonic_ns()
        finally:
            file.close()
        times = watch.timing(opened, asking, first, closing, got)
        return times if into is memory else times._replace(data=bytes(into[:got]))

    def do_open(self, handle: int, path: str) -> None:
        """Open a file, so that a fault of it shows."""
        self._again()
        self._files[handle] = self._session.open(path)

    def do_read(self, handle: int, path: str, offset: int, length: int, memory: memoryview) -> Timing:
        """A block; what it takes to open the file in this process too is part of the operation."""
        watch = _Watch()
        opened = watch.start
        file = self._files.get(handle) if self._connected else None
        if file is None:
            self._again()
            file = self._files[handle] = self._session.open(path)
            opened = time.monotonic_ns()
        got = file.read(offset, memory[:length])
        end = time.monotonic_ns()
        return watch.timing(opened, opened, end if got else -1, end, got)

    def do_close(self, handle: int) -> None:
        """Close a file, if this process has it open."""
        file = self._files.pop(handle, None)
        if file is not None and self._connected:
            file.close()

    def do_store(self, path: str, data: bytes | memoryview) -> Timing:
        """Write a whole file."""
        watch = _Watch()
        self._again()
        file = self._session.create(path)
        opened = time.monotonic_ns()
        try:
            file.write(data if isinstance(data, memoryview) else memoryview(bytearray(data)))
        except Fault:
            file.close()
            raise
        closing = time.monotonic_ns()
        file.finish()
        return watch.timing(opened, opened, -1, closing, len(data))

    def do_make_folder(self, path: str) -> None:
        """Make one folder."""
        self._again()
        self._session.make_folder(path)

    def do_remove_folder(self, path: str) -> None:
        """With all that is in it; links are removed, never followed."""
        self._again()
        try:
            self._remove(path)
        except Fault as fault:
            if fault.kind != "not_found":
                raise

    def close(self) -> None:
        """Hang up."""
        self._session.close()

    def _again(self) -> None:
        """Connect again if the connection was lost: once for each operation that is asked for."""
        if not self._connected:
            self.do_connect()

    def _remove(self, path: str) -> None:
        for entry in self._session.entries(path):
            inner = f"{path}/{entry.name}"
            if entry.folder and not entry.link:
                self._remove(inner)
            elif entry.folder:
                self._session.remove_empty_folder(inner)
            else:
                self._session.remove_file(inner)
        self._session.remove_empty_folder(path)


class _Watch:
    """Takes an operation's beginning, and makes its ``Timing`` at its end."""

    def __init__(self) -> None:
        self._cpu = time.process_time_ns()
        self.start = time.monotonic_ns()

    def timing(self, opened: int, asking: int, first: int, closing: int, got: int) -> Timing:
        end = time.monotonic_ns()
        start = self.start
        return Timing(
            start_ns=start,
            setup_ns=opened - start,
            stat_ns=opened - asking,
            first_byte_ns=first - start if first >= 0 else -1,
            finish_ns=end - closing,
            elapsed_ns=end - start,
            cpu_ns=time.process_time_ns() - self._cpu,
            got=got,
        )


def _read(file: RemoteOpen, into: memoryview, block_bytes: int) -> tuple[int, int]:
    """How many bytes came, and when the first of them had."""
    got, first = 0, -1
    while got < len(into):
        more = file.read(got, into[got : got + block_bytes])
        if more == 0:
            break
        first = time.monotonic_ns() if first < 0 else first
        got += more
    return got, first


def session(library: str | None, logon: Logon) -> Session:
    """Of the library that is named, else of libsmbclient where it can be loaded, else of smbprotocol."""
    if library != "smbprotocol":
        try:
            return LibsmbclientSession(logon, load())
        except OSError as error:
            if library is not None:
                raise Fault("no_library", str(error)) from None
    try:
        return SmbprotocolSession(logon)
    except ImportError:
        raise Fault("no_library") from None


def serve(connection: socket.socket) -> None:
    """Answer what comes until the other side hangs up. The first thing that comes says what to be."""
    (library, logon, target), _ = receive(connection)
    worker = None
    try:
        worker = Worker(session(library, logon), target)
        send(connection, (None, None))
    except Fault as fault:
        send(connection, ((fault.kind, fault.detail), None))
        return
    try:
        while True:
            values, descriptors = receive(connection)
            request = Request(*values)
            worker.share(request, descriptors)
            try:
                result = worker.serve(request)
            except Fault as fault:
                send(connection, ((fault.kind, fault.detail), None))
            else:
                # A plain tuple: a class would be looked up by its name on the other side, each time.
                send(connection, (None, tuple(result) if isinstance(result, tuple) else result))
    finally:
        worker.close()


def _end_with(connection: socket.socket) -> None:
    """End this process soon after the other side has hung up, also within a call that hangs."""
    watch = select.poll()
    watch.register(connection, 0)  # hanging up is always told
    watch.poll()
    time.sleep(_GOODBYE_S)
    os._exit(1)


def main() -> None:
    """Serve on standard input. An interrupt from the keyboard is the other process's business."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with socket.socket(fileno=os.dup(0)) as connection:
        threading.Thread(target=_end_with, args=(connection,), name="hang-up", daemon=True).start()
        try:
            serve(connection)
        except (EOFError, ConnectionError):
            sys.exit(0)


if __name__ == "__main__":
    main()
