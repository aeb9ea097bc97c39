"""A scheduler in the foreground, for containers: sleeps, starts a scan as a child, never two at once.

Looks at the wall clock at least twice a minute, so that a clock that is set, or a machine that slept, costs
nothing but the nights that it took. What the child does is its own; a scan that fails is said and outlived.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

from pathtrace.errors import PathtraceError
from pathtrace.scheduling.times import Times, next_start
from pathtrace.units import format_duration

LONGEST_SLEEP_S = 30.0
_CAN_BE_PID_1 = hasattr(os, "waitpid") and hasattr(os, "WNOHANG")


class Child(Protocol):
    """A scan that goes on."""

    async def wait(self) -> int:
        """How it ended; negative: by that signal."""

    def signal(self, number: int) -> None:
        """Pass a signal on; nothing happens if it has ended."""


class Start(NamedTuple):
    """What is started. ``environ`` is asked at each start, so that changed secrets count at the next."""

    words: Sequence[str]
    folder: str
    environ: Callable[[], Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Clock:
    """Where time comes from."""

    now: Callable[[], datetime]
    pause: Callable[[float, asyncio.Event], Awaitable[None]]
    """Wait so many seconds, or until the event."""


class Foreground:
    """``serve`` until ``stop`` is called; a second call passes the second signal on to the scan."""

    def __init__(
        self,
        times: Times,
        begin: Callable[[], Awaitable[Child]],
        clock: Clock,
        tell: Callable[[str], None],
    ) -> None:
        self._times = times
        self._begin = begin
        self._clock = clock
        self._tell = tell
        self._stopped = asyncio.Event()
        self._child: Child | None = None
        self._last: datetime | None = None

    def stop(self, number: int) -> None:
        """End after the scan that goes on, which gets the signal."""
        self._stopped.set()
        if self._child is not None:
            self._child.signal(number)

    async def serve(self) -> None:
        """Start a scan at each time."""
        told: datetime | None = None
        while not self._stopped.is_set():
            now = self._clock.now()
            due = next_start(self._times, now, self._last)
            if told is not None and now >= told:
                await self._scan_unless_late(told, now)
                told = None
                continue
            if due != told:
                self._tell(f"next scan: {due:%a %Y-%m-%d %H:%M}")
                told = due
            wait = (due - now).total_seconds()
            await self._clock.pause(min(max(wait, 0), LONGEST_SLEEP_S), self._stopped)

    async def _scan_unless_late(self, due: datetime, now: datetime) -> None:
        """A clock that was put right by more than a period, as soon after a start, names no night."""
        if (now - due).total_seconds() > self._times.every_s:
            self._tell(f"the clock was put forward beyond {due:%a %Y-%m-%d %H:%M}: that scan is left out")
        else:
            await self._scan(due)

    async def _scan(self, due: datetime) -> None:
        """One scan, to its end, whatever becomes of it."""
        self._last = due
        began = time.perf_counter()
        self._tell(f"{self._clock.now():%a %Y-%m-%d %H:%M}: scan starts")
        try:
            self._child = await self._begin()
            code = await self._child.wait()
        except (PathtraceError, OSError) as error:
            self._tell(f"the scan could not be started: {error}")
            return
        finally:
            self._child = None
            reap_orphans()
        self._tell(f"scan ended after {format_duration(time.perf_counter() - began)}: {_ended(code)}")


def _ended(code: int) -> str:
    """For people."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:  # one of the many that have no name
        return f"killed by signal {-code}"


def reap_orphans() -> None:
    """As process 1 of a container whatever lost its parent is ours; no child of our own is there now."""
    if not _CAN_BE_PID_1 or os.getpid() != 1:
        return
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            pass


async def pause(duration_s: float, until: asyncio.Event) -> None:
    """Really wait."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(duration_s):
            await until.wait()


class ScanProcess:
    """A child in a session of its own, so that a Ctrl-C of the terminal reaches it once, through us."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def wait(self) -> int:
        return await self._process.wait()

    def signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(number)


async def begin(start: Start) -> ScanProcess:
    """Start the child. UsageError if its variables cannot be read, OSError if it cannot be started."""
    process = await asyncio.create_subprocess_exec(
        *start.words,
        cwd=start.folder,
        env=dict(start.environ()),
        stdin=asyncio.subprocess.DEVNULL,
        start_new_session=True,
    )
    return ScanProcess(process)
