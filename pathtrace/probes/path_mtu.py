"""The largest packet that passes whole, and whether larger ones vanish without a word. Linux.

With a responder's echo, both directions are tried apart. Without one, packets to a port where nothing
listens: the host's "nobody here" says that one arrived. Where nobody says anything, nothing is known.
"""

from __future__ import annotations

import select
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pathtrace.model.work import Clock
from pathtrace.probes.do_not_fragment import header_bytes, known_mtu, report_errors, whole_packets
from pathtrace.probes.echo_client import SMALL, EchoClient, Fate
from pathtrace.probes.error_queue import Said, next_notice
from pathtrace.probes.link_streams import padding
from pathtrace.units import nanoseconds

LEAST_BYTES: Mapping[int, int] = {socket.AF_INET: 576, socket.AF_INET6: 1280}
"""What every way has to carry."""
_USUAL = (9000, 4352, 1500, 1492, 1480, 1476, 1460, 1420, 1400, 1280, 576)
"""Sizes that real ways end at, tried before halving."""
_LARGEST = 65535
_TRIES = 2
_ECHO_S = 0.25
"""At most, for an echo; on a quick way it is given ten round trips."""
_LEAST_ECHO_S = 0.05
_UDP_S = 0.3
_MOST_SAID = 8
_PORT = 33500


@dataclass(frozen=True, slots=True)
class PathMtu:
    """Bytes with IP header. ``black_hole`` None: not known."""

    path_bytes: int | None
    interface_bytes: int | None
    black_hole: bool | None
    evidence: tuple[str, ...]


def largest_passing(least: int, most: int, passes: Callable[[int], bool]) -> int | None:
    """The largest size in ``least``..``most`` that passes, if every smaller one does; None if none does.

    Asks for the largest first, then for usual ones, then halves: few questions where all is well.
    """
    if passes(most):
        return most
    if not passes(least):
        return None
    low, high = least, most
    for size in sorted((size for size in _USUAL if least < size < most), reverse=True):
        if low < size < high:
            if passes(size):
                low = size
                if not passes(size + 1):
                    return size
                low = size + 1
            else:
                high = size
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if passes(middle) else (low, middle)
    return low


def largest_usual(least: int, most: int, passes: Callable[[int], bool]) -> int:
    """The largest usual size below ``most`` that passes; ``least`` is known to.

    Few questions only: a host answers no more than some packets a second.
    """
    sizes = [least, *sorted(size for size in _USUAL if least < size < most)]
    low, high = 0, len(sizes)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if passes(sizes[middle]) else (low, middle)
    return sizes[low]


def by_echo(echo: EchoClient, family: int, address: str) -> PathMtu:
    """Both directions apart, by a responder's session; closes nothing."""
    interface = interface_mtu(family, address)
    least = LEAST_BYTES[family]
    rtt_s = echo.exchange(SMALL, SMALL, 2 * _ECHO_S).rtt_s
    if rtt_s is None:
        return PathMtu(None, interface, None, ("no packet of the responder's echo came back",))
    timeout_s = min(_ECHO_S, max(_LEAST_ECHO_S, 10 * rtt_s))
    vanished: set[str] = set()

    def asked(name: str, there: int, back: int) -> bool:
        for _ in range(_TRIES):
            fate = echo.exchange(there, back, timeout_s).fate
            if fate is not Fate.VANISHED:
                vanished.discard(name)
                return fate is Fate.PASSED
        vanished.add(name)
        return False

    found = {
        "there": largest_passing(least, interface, lambda size: asked(f"there {size}", size, SMALL)),
        "back": largest_passing(least, interface, lambda size: asked(f"back {size}", SMALL, size)),
    }
    return _both(found, interface, vanished)


def _both(found: dict[str, int | None], interface: int, vanished: set[str]) -> PathMtu:
    known = [size for size in found.values() if size is not None]
    told = tuple(
        f"packets of {size} bytes pass {way}, larger ones do not"
        if size is not None
        else f"none passes {way}"
        for way, size in found.items()
        if size != interface
    )
    silent = (f"{len(vanished)} sizes vanished without a word",) if vanished else ()
    whole = (f"packets of {interface} bytes pass whole both ways",) if not told else ()
    return PathMtu(min(known, default=None), interface, bool(vanished), (*whole, *told, *silent))


def by_udp(family: int, address: str, clock: Clock) -> PathMtu:
    """The way there only, by what routers and the host itself say."""
    try:
        return _said_about(_Sender(family, address, clock), family, interface_mtu(family, address))
    except OSError as error:
        return PathMtu(None, None, None, (f"no packet could be sent: {error.strerror}",))


def interface_mtu(family: int, address: str) -> int:
    """Of the interface that leads to ``address``, as it says of a packet that is too large. OSError."""
    with _connected(family, address, _PORT) as made:
        try:
            made.send(padding(_LARGEST - header_bytes(family)))
        except OSError:
            notice = next_notice(made)
            if notice is not None and notice.mtu_bytes is not None:
                return notice.mtu_bytes
        return min(known_mtu(made) or _LARGEST, _LARGEST)


def _connected(family: int, address: str, port: int) -> socket.socket:
    """A socket that sends packets whole, and is told what becomes of them. OSError."""
    made = whole_packets(family)
    try:
        report_errors(made)
        made.connect((address, port))
    except OSError:
        made.close()
        raise
    return made


def _said_about(sender: _Sender, family: int, interface: int) -> PathMtu:
    size = interface
    for _ in range(_MOST_SAID):
        fate, mtu = sender.send(size)
        if fate is Fate.PASSED:
            told = (
                ()
                if size == interface
                else (f"a router says that packets of {size} bytes pass, no larger ones",)
            )
            return PathMtu(size, interface, False, told or (f"packets of {size} bytes arrive whole",))
        if fate is Fate.VANISHED:
            break
        size = mtu if mtu is not None and mtu < size else _next_below(size)
    if size < interface:  # a router said so, though the host itself says nothing
        return PathMtu(
            size, interface, False, (f"a router says that packets of {size} bytes pass, no larger ones",)
        )
    if sender.send(LEAST_BYTES[family])[0] is not Fate.PASSED:
        return PathMtu(None, interface, None, ("the host says nothing about packets that arrive",))
    passing = largest_usual(
        LEAST_BYTES[family], interface, lambda tried: sender.send(tried)[0] is Fate.PASSED
    )
    return PathMtu(passing, interface, True, (f"packets above {passing} bytes vanish without a word",))


def _next_below(size: int) -> int:
    return next((usual for usual in _USUAL if usual < size), 576)


class _Sender:
    """Sends whole packets to a port where nothing listens, and waits for what is said about each."""

    def __init__(self, family: int, address: str, clock: Clock) -> None:
        self._clock = clock
        self._headers = header_bytes(family)
        self._family = family
        self._address = address
        self._port = _PORT

    def send(self, packet_bytes: int) -> tuple[Fate, int | None]:
        """What became of a packet, and the MTU that somebody named; tried twice where it vanishes."""
        for _ in range(_TRIES):
            self._port += 1
            with _connected(self._family, self._address, self._port) as made:
                answer = self._send(made, packet_bytes)
            if answer[0] is not Fate.VANISHED:
                break
        return answer

    def _send(self, made: socket.socket, packet_bytes: int) -> tuple[Fate, int | None]:
        payload = min(max(1, packet_bytes - self._headers), _LARGEST - self._headers)
        try:
            made.send(padding(payload))
        except OSError:  # this host's own interface: the error queue knows its size
            notice = next_notice(made)
            return Fate.TOO_LARGE, notice.mtu_bytes if notice else None
        poll = select.poll()
        poll.register(made, 0)
        deadline = self._clock() + nanoseconds(_UDP_S)
        while (left := deadline - self._clock()) > 0:
            poll.poll(max(1, left // 1_000_000))
            notice = next_notice(made)
            if notice is not None and notice.said is Said.TOO_LARGE:
                return Fate.TOO_LARGE, notice.mtu_bytes
            if notice is not None and notice.sender == self._address:
                return Fate.PASSED, None
        return Fate.VANISHED, None
