"""Runs one command of the user's to its end: feeds it, reads it, times it, counts what it used.

Blocking; made for a worker thread. Knows processes, pipes and the kernel's accounts of them. What
goes in and what the output means is left to ``process``. POSIX only; off Linux ``io_bytes`` is -1.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import IO

from pathtrace.model.work import Clock
from pathtrace.units import nanoseconds

OUTPUT_BYTES = 64 * 1024 * 1024
"""More output than this is taken for a command gone wild."""
_STDERR_BYTES = 8192
_PIPE_BYTES = 65536
_LOOK_S = 0.1
_REAPING = threading.Lock()
"""One child is reaped at a time, so that our own counter tells what each of them read."""


@dataclass(slots=True)
class Finished:
    """What one execution gave. ``status`` is as of ``subprocess``: negative for a signal."""

    start_ns: int
    setup_ns: int
    first_byte_ns: int
    elapsed_ns: int
    cpu_ns: int
    io_bytes: int
    status: int
    output: bytes
    errors: bytes
    too_much: bool


@dataclass(slots=True)
class _Talk:
    """What has gone through the pipes so far."""

    waiting: memoryview
    output: list[bytes] = field(default_factory=list)
    size: int = 0
    errors: bytes = b""
    first_ns: int = -1


class Command:
    """One execution, in a session and process group of its own so that all of it can be ended."""

    def __init__(self, clock: Clock, output_bytes: int = OUTPUT_BYTES, proc: str = "/proc") -> None:
        self._clock = clock
        self._limit = output_bytes
        self._proc = proc
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False
        self._reaped = False
        self._cpu_ns = -1
        self._inherited = -1
        """What our own counter gained by reaping it: the kernel adds an ended child's reads to its parent's.
        An ordinary user may not see the child's own counters any more; what we read in that instant counts
        with it."""

    def run(self, arguments: Sequence[str], document: bytes | memoryview | None) -> Finished:
        """Run to the end, with ``document`` on standard input (None: nothing). OSError if it cannot start."""
        start = self._clock()
        process = self._spawn(arguments, document is not None)
        spawned = self._clock()
        talk = _Talk(memoryview(document or b"").cast("B"))
        try:
            self._converse(process, talk)
        finally:
            self._close_pipes(process)
            io_bytes, ended, cpu_ns = self._reap(process)
        return Finished(
            start_ns=start,
            setup_ns=spawned - start,
            first_byte_ns=talk.first_ns - start if talk.first_ns >= 0 else -1,
            elapsed_ns=ended - start,
            cpu_ns=cpu_ns,
            io_bytes=io_bytes,
            status=process.returncode,
            output=b"".join(talk.output),
            errors=talk.errors,
            too_much=talk.size > self._limit,
        )

    def terminate(self) -> None:
        """Ask the whole group to end. From any thread, also before it began and after it ended."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """End the whole group."""
        self._signal(signal.SIGKILL)

    def _spawn(self, arguments: Sequence[str], fed: bool) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._stopped:
                raise ProcessLookupError("stopped before it began")
            self._process = subprocess.Popen(
                arguments,
                stdin=subprocess.PIPE if fed else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
            )
            return self._process

    def _signal(self, number: int) -> None:
        # Under the lock the number of a reaped process cannot be hit, whoever has it by then.
        with self._lock:
            self._stopped = True
            if self._process is not None and not self._reaped:
                _signal_group(self._process.pid, number)

    def _converse(self, process: subprocess.Popen[bytes], talk: _Talk) -> None:
        with selectors.DefaultSelector() as selector:
            for pipe, events in (
                (process.stdin, selectors.EVENT_WRITE),
                (process.stdout, selectors.EVENT_READ),
                (process.stderr, selectors.EVENT_READ),
            ):
                if pipe is not None:
                    os.set_blocking(pipe.fileno(), False)
                    selector.register(pipe, events, pipe)
            # Looks up now and then: after a stop, a stray grandchild may hold the pipes open.
            while selector.get_map() and not self._stopped:
                for key, _ in selector.select(_LOOK_S):
                    if not self._move(process, key.data, talk):
                        selector.unregister(key.data)
                        key.data.close()

    def _move(self, process: subprocess.Popen[bytes], pipe: IO[bytes], talk: _Talk) -> bool:
        """Move what one pipe takes or gives; False when it is done with."""
        if pipe is process.stdin:
            return _feed(pipe, talk)
        piece = os.read(pipe.fileno(), _PIPE_BYTES)
        if pipe is process.stderr:
            talk.errors = (talk.errors + piece)[-_STDERR_BYTES:]
            return bool(piece)
        if piece and talk.first_ns < 0:
            talk.first_ns = self._clock()
        talk.size += len(piece)
        if talk.size > self._limit:
            self.kill()
        else:
            talk.output.append(piece)
        return bool(piece)

    def _close_pipes(self, process: subprocess.Popen[bytes]) -> None:
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()

    def _reap(self, process: subprocess.Popen[bytes]) -> tuple[int, int, int]:
        """Wait for the end; bytes read by its own counters, the moment it ended, its CPU time."""
        io_bytes = -1
        if hasattr(os, "waitid"):
            # Wait without reaping: only a process that is still in the table shows its counters.
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
            io_bytes = _bytes_read(f"{self._proc}/{process.pid}/io")
        ended = self._clock()
        while not self._collect(process):
            time.sleep(_LOOK_S / 50)  # only where waitid is missing (macOS)
            ended = self._clock()
        return (self._inherited if io_bytes < 0 else io_bytes), ended, self._cpu_ns

    def _collect(self, process: subprocess.Popen[bytes]) -> bool:
        with self._lock:
            if self._stopped:
                _signal_group(process.pid, signal.SIGKILL)  # whoever outlived its leader
            with _REAPING:
                before = _bytes_read(f"{self._proc}/self/io")
                pid, status, usage = os.wait4(process.pid, os.WNOHANG)
                after = _bytes_read(f"{self._proc}/self/io")
            if pid == 0:
                return False
            self._reaped = True
            self._inherited = after - before if before >= 0 and after >= 0 else -1
            process.returncode = os.waitstatus_to_exitcode(status)
            self._cpu_ns = nanoseconds(usage.ru_utime + usage.ru_stime)
            return True


def _feed(pipe: IO[bytes], talk: _Talk) -> bool:
    try:
        written = os.write(pipe.fileno(), talk.waiting[:_PIPE_BYTES]) if talk.waiting else 0
    except BrokenPipeError:
        return False  # it does not want the rest; its exit code says whether that is fine
    talk.waiting = talk.waiting[written:]
    return bool(talk.waiting)


def _signal_group(pid: int, number: int) -> None:
    # Gone already, or (macOS) nothing but a zombie left in it.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)


def _bytes_read(path: str) -> int:
    """``rchar`` of a process and its ended children: every byte its reads returned, cached or not."""
    try:
        with open(path, encoding="ascii") as counters:
            fields = dict(line.split(": ") for line in counters)
        return int(fields["rchar"])
    except (OSError, KeyError, ValueError):
        return -1
