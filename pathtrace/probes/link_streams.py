"""Moves bytes between memory and TCP as fast as they go, and tells how many arrived in what time.

Both ends use it. Each end counts by its own monotonic clock; the receiver's figure is the one that counts,
and the first part, in which TCP finds its speed, stays out of it.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, fields
from functools import cache

from pathtrace.model.tcp_info import MOST_BYTES, TcpInfo, decode
from pathtrace.model.work import Clock
from pathtrace.units import MIB, seconds

BUFFER_BYTES = MIB

Take = Callable[[int], bool]
"""Asks whether so many more bytes may be moved."""


class Allowance:
    """Bytes that may be moved in all, both ways together; asked by several threads."""

    def __init__(self, limit_bytes: int) -> None:
        self.limit_bytes = limit_bytes
        self.used_bytes = 0
        self._lock = threading.Lock()

    @property
    def over(self) -> bool:
        """True once something was asked for that the limit did not allow."""
        return self.used_bytes > self.limit_bytes

    def take(self, count: int) -> bool:
        with self._lock:
            self.used_bytes += count
            return self.used_bytes <= self.limit_bytes


@dataclass(frozen=True, slots=True)
class StreamReport:
    """One stream as one end saw it."""

    bytes: int
    window_bytes: int
    """Of a receiver: what arrived in the timed part."""
    window_s: float
    tcp: TcpInfo | None
    """The socket's counters at the end."""

    @property
    def bytes_per_s(self) -> float:
        """0 if nothing arrived in the timed part."""
        return self.window_bytes / self.window_s if self.window_s > 0 else 0.0

    def document(self) -> dict[str, object]:
        """For the other end."""
        return asdict(self)


def read_report(document: object) -> StreamReport | None:
    """What the other end reported; None if it cannot be understood."""
    if not isinstance(document, dict):
        return None
    moved, window, window_s = (document.get(name) for name in ("bytes", "window_bytes", "window_s"))
    if not (isinstance(moved, int) and isinstance(window, int) and isinstance(window_s, (int, float))):
        return None
    return StreamReport(moved, window, float(window_s), _read_tcp(document.get("tcp")))


def _read_tcp(document: object) -> TcpInfo | None:
    """Of another version's fields, the ones that both know."""
    if not isinstance(document, dict):
        return None
    found = {item.name: document.get(item.name) for item in fields(TcpInfo)}
    kept = {name: value if isinstance(value, (int, float, str)) else None for name, value in found.items()}
    return TcpInfo(**kept)  # type: ignore[arg-type]  # told by the other end, shown to people only


@dataclass
class Meter:
    """The timed part of a transfer, shared by its streams: it begins with the first byte of any of them."""

    clock: Clock
    warmup_ns: int
    length_ns: int
    begun_ns: int | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self) -> int:
        """When the first byte of any stream came."""
        with self.lock:
            if self.begun_ns is None:
                self.begun_ns = self.clock()
            return self.begun_ns


def receive_stream(connection: socket.socket, meter: Meter, take: Take) -> StreamReport:
    """Receive until the timed part is over, the other end closes or ``take`` says no."""
    view, total, window = memoryview(bytearray(BUFFER_BYTES)), 0, _Window()
    with contextlib.suppress(OSError):  # reset or shut down by a watchdog: what came counts
        while got := connection.recv_into(view):
            total += got
            if not take(got) or not window.add(total, meter):
                break
    return StreamReport(total, window.bytes, seconds(window.elapsed_ns), tcp_info(connection))


class _Window:
    """What one stream received between its first look inside the timed part and its last."""

    def __init__(self) -> None:
        self._marks: list[tuple[int, int]] = []
        self._last = (0, 0)
        self._opens_ns = self._closes_ns = 0

    def add(self, total: int, meter: Meter) -> bool:
        """Book ``total`` bytes so far; False once the timed part is over."""
        if not self._closes_ns:
            self._opens_ns = meter.begin() + meter.warmup_ns
            self._closes_ns = self._opens_ns + meter.length_ns
        now = meter.clock()
        if not self._marks or (len(self._marks) == 1 and now >= self._opens_ns):
            self._marks.append((now, total))
        self._last = (now, total)
        return now < self._closes_ns

    @property
    def bytes(self) -> int:
        return self._last[1] - self._start()[1]

    @property
    def elapsed_ns(self) -> int:
        return self._last[0] - self._start()[0]

    def _start(self) -> tuple[int, int]:
        """The first look inside; of a stream that ended before, or with it, its very first."""
        if len(self._marks) == 2 and self._marks[1] != self._last:
            return self._marks[1]
        return self._marks[0] if self._marks else (0, 0)


def send_stream(
    connection: socket.socket, clock: Clock, until_ns: int, most_bytes: int, take: Take
) -> StreamReport:
    """Send until ``until_ns`` of ``clock``, ``most_bytes`` or ``take``'s no; the other end may end it."""
    view, total = memoryview(_incompressible()), 0
    with contextlib.suppress(OSError):  # the receiver closes when it has seen enough
        while total < most_bytes and clock() < until_ns and take(len(view)):
            total += connection.send(view)
    info = tcp_info(connection)
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_WR)
    return StreamReport(total, 0, 0.0, info)


@cache
def _incompressible() -> bytes:
    """Drawn once: a tunnel that compresses must not be taken for a faster link."""
    return os.urandom(BUFFER_BYTES)


def padding(count: int) -> memoryview:
    """So many incompressible bytes, up to the buffer's size."""
    return memoryview(_incompressible())[:count]


def tcp_info(connection: socket.socket) -> TcpInfo | None:
    """The kernel's counters of a socket; None where it has none to tell."""
    option = getattr(socket, "TCP_INFO", None)
    if option is None:
        return None
    try:
        return decode(connection.getsockopt(socket.IPPROTO_TCP, option, MOST_BYTES))
    except OSError:
        return None


def together(
    work: Callable[[socket.socket], StreamReport], connections: Sequence[socket.socket], patience_s: float
) -> list[StreamReport]:
    """``work`` on every connection at the same time; all are shut down after ``patience_s``, and closed."""
    watchdog = threading.Timer(patience_s, shut, (connections,))
    watchdog.daemon = True
    watchdog.start()
    try:
        with ThreadPoolExecutor(len(connections), thread_name_prefix="link") as pool:
            return list(pool.map(work, connections))
    finally:
        watchdog.cancel()
        for connection in connections:
            connection.close()


def shut(connections: Sequence[socket.socket]) -> None:
    """Wake whoever waits on these connections."""
    for connection in connections:
        with contextlib.suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
