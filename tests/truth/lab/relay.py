"""Delay between two TAP devices: each frame leaves the other device so many seconds after it came in.

A program of its own: ``python relay.py DEVICE DEVICE SECONDS``, run in the namespace that shall hold the
devices. It makes both, says so in one line, and they are gone when it ends. Frames pass unchanged, with
the kernel's offload header (IFF_VNET_HDR), so that TSO's 64 KB packets stay whole and several Gbit/s pass.
It ends no TCP connection, so connect times and TCP_INFO see the delay.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import select
import struct
import sys
import time
from collections import deque

_TUNSETIFF, _TUNSETOFFLOAD = 0x400454CA, 0x400454D0
_IFF_TAP, _IFF_NO_PI, _IFF_VNET_HDR = 0x0002, 0x1000, 0x4000
_CHECKSUM_AND_TSO = 0x01 | 0x02 | 0x04
_PR_SET_TIMERSLACK = 29
_LONGEST = 1 << 17
_AT_ONCE = 64  # frames taken from one side before the other gets its turn


def device(name: str) -> int:
    """Make the TAP device `name` and return its descriptor."""
    fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(fd, _TUNSETIFF, struct.pack("16sH22x", name.encode(), _IFF_TAP | _IFF_NO_PI | _IFF_VNET_HDR))
    fcntl.ioctl(fd, _TUNSETOFFLOAD, _CHECKSUM_AND_TSO)
    return fd


class Direction:
    """What is on its way from one device to the other, in order."""

    def __init__(self, source: int, target: int, delay_s: float) -> None:
        self.source = source
        self._target = target
        self._delay_s = delay_s
        self._under_way: deque[tuple[float, bytes]] = deque()

    def take(self) -> None:
        due = time.monotonic() + self._delay_s
        for _ in range(_AT_ONCE):
            try:
                self._under_way.append((due, os.read(self.source, _LONGEST)))
            except BlockingIOError:
                return

    def deliver(self) -> None:
        now = time.monotonic()
        while self._under_way and self._under_way[0][0] <= now:
            frame = self._under_way.popleft()[1]
            try:
                os.write(self._target, frame)
            except OSError:
                continue  # the device is down or full: lost, as on any network

    def next_s(self) -> float:
        """Seconds until something is due."""
        return max(0.0, self._under_way[0][0] - time.monotonic()) if self._under_way else 1.0


def relay(one: int, other: int, delay_s: float) -> None:
    directions = {one: Direction(one, other, delay_s), other: Direction(other, one, delay_s)}
    while True:
        wait_s = min(direction.next_s() for direction in directions.values())
        # select, as it alone waits to the microsecond
        for source in select.select(list(directions), [], [], wait_s)[0]:
            directions[source].take()
        for direction in directions.values():
            direction.deliver()


def be_punctual() -> None:
    """Wake up when something is due, also on a busy machine, and not up to 50 µs later."""
    with contextlib.suppress(PermissionError):  # a container may forbid it
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    ctypes.CDLL(None).prctl(_PR_SET_TIMERSLACK, 1, 0, 0, 0)


def main() -> None:
    one, other, delay_s = sys.argv[1:]
    be_punctual()
    ends = device(one), device(other)
    print("ready", flush=True)
    relay(*ends, float(delay_s))


if __name__ == "__main__":
    main()
