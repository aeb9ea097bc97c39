"""Waits for a scan's turn: until no other scan goes on, and the host is as quiet as it was asked to be."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from pathtrace.app.quiet import Use, busy
from pathtrace.app.scanning_locks import ScanLocks
from pathtrace.model.work import Clock
from pathtrace.ports import Progress
from pathtrace.replay.stop import StopRequest
from pathtrace.units import format_duration, seconds

LOOK_S = 5.0
"""From one look to the next."""

Look = Callable[[], Awaitable[Sequence[Use]]]


@dataclass(frozen=True, slots=True)
class Turn:
    """``busy``: why it did not come, in words; None: the locks are held, and the host is quiet."""

    waited_s: float
    busy: str | None


@dataclass(frozen=True, slots=True)
class Patience:
    """``below``: a ratio that CPU, disks and network must be under; None: whatever else goes on."""

    wait_s: float
    below: float | None


async def wait_for_turn(
    locks: ScanLocks, patience: Patience, look: Look, clock: Clock, progress: Progress, stop: StopRequest
) -> Turn:
    """Wait as long as there is patience for it; the first request to stop ends that. StoreError."""
    began_ns, said = clock(), False
    while True:
        why = await _busy(locks, patience.below, look)
        waited_s = seconds(clock() - began_ns)
        if why is None:
            return Turn(waited_s, None)
        if stop.asked:
            return Turn(waited_s, f"stopped while it waited: {why}")
        left_s = patience.wait_s - waited_s
        if left_s <= 0:
            return Turn(waited_s, why)
        if not said:
            progress.message(f"waiting for up to {format_duration(left_s)}: {why}")
            said = True
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), min(LOOK_S, left_s))


async def _busy(locks: ScanLocks, below: float | None, look: Look) -> str | None:
    """Once taken the locks are kept while the host is busy: two that wait would wake each other."""
    other = locks.take()
    if other is not None:
        return f"{other} is under way"
    return None if below is None else busy(await look(), below)
