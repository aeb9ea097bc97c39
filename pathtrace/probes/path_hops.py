"""Which routers lie between: packets with few hops to live, and who says that they have expired. Linux.

UDP first, to ports where nothing listens. Where the host itself does not answer those, TCP connects to a port
where something does listen, again with few hops to live: a filter that stops one seldom stops the other.
"""

from __future__ import annotations

import contextlib
import errno
import select
import socket
from collections.abc import Callable
from dataclasses import dataclass

from pathtrace.model.network import PathHop
from pathtrace.model.work import Clock
from pathtrace.probes.do_not_fragment import report_errors
from pathtrace.probes.error_queue import Said, next_notice
from pathtrace.units import nanoseconds, seconds

_FIRST_PORT = 33434
"""As traceroute has it: nothing listens there."""
ROUNDS = (range(1, 2), range(2, 6), range(6, 14), range(14, 31))
"""Hops tried together. The first alone: most ways that matter here have one hop, and a host gives few answers
a second."""
WAIT_S = 0.5
"""For the answers of a round."""
_HOPS6 = 16  # IPV6_UNICAST_HOPS


@dataclass(slots=True)
class _Sent:
    """A packet on its way."""

    number: int
    socket: socket.socket
    sent_ns: int
    sender: str | None = None
    rtt_s: float | None = None
    arrived: bool = False


Send = Callable[[int], "socket.socket | None"]
"""Starts a packet that lives for so many hops."""


def hops_by_udp(family: int, address: str, clock: Clock) -> tuple[PathHop, ...]:
    """The way as far as it answered; the last is the host itself, or the way ends in silence (empty)."""
    return _follow(lambda number: _send_udp(family, address, number), address, clock)


def hops_by_tcp(family: int, address: str, port: int, clock: Clock) -> tuple[PathHop, ...]:
    """The same by connects to ``port``; the one connection that is made is closed at once."""
    return _follow(lambda number: _send_tcp(family, address, port, number), address, clock)


def _follow(send: Send, address: str, clock: Clock) -> tuple[PathHop, ...]:
    found: list[PathHop] = []
    for numbers in ROUNDS:
        sent = _start(send, numbers, clock)
        try:
            _await(sent, address, clock)
            for packet in sent:
                found.append(PathHop(packet.number, packet.sender, packet.rtt_s))
                if packet.arrived:
                    return tuple(found)
        finally:
            for packet in sent:
                packet.socket.close()
        if not any(packet.sender for packet in sent):
            break
    return ()


def _start(send: Send, numbers: range, clock: Clock) -> list[_Sent]:
    sent = []
    for number in numbers:
        now = clock()
        made = send(number)
        if made is not None:
            sent.append(_Sent(number, made, now))
    return sent


def _limited(family: int, kind: int, number: int) -> socket.socket:
    made = socket.socket(family, kind)
    try:
        made.setblocking(False)
        report_errors(made)
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, _HOPS6, number)
        else:
            made.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, number)
    except OSError:
        made.close()
        raise
    return made


def _send_udp(family: int, address: str, number: int) -> socket.socket | None:
    try:
        made = _limited(family, socket.SOCK_DGRAM, number)
    except OSError:
        return None
    try:
        made.connect((address, _FIRST_PORT + number))
        made.send(b"pathtrace")
    except OSError:
        made.close()
        return None
    return made


def _send_tcp(family: int, address: str, port: int, number: int) -> socket.socket | None:
    try:
        made = _limited(family, socket.SOCK_STREAM, number)
    except OSError:
        return None
    if made.connect_ex((address, port)) not in (0, errno.EINPROGRESS, errno.ECONNREFUSED):
        made.close()
        return None
    return made


def _await(sent: list[_Sent], address: str, clock: Clock) -> None:
    """Until every packet up to the host's own answer is accounted for, or the time is over."""
    deadline = clock() + nanoseconds(WAIT_S)
    poll = select.poll()
    waiting = {packet.socket.fileno(): packet for packet in sent}
    for number in waiting:
        poll.register(number, select.POLLIN | select.POLLOUT if _is_tcp(waiting[number]) else select.POLLIN)
    while waiting and (left := deadline - clock()) > 0:
        for number, _ in poll.poll(max(1, left // 1_000_000)):
            packet = waiting[number]
            if _account(packet, address, seconds(clock() - packet.sent_ns)):
                poll.unregister(number)
                del waiting[number]
        arrived = min((packet.number for packet in sent if packet.arrived), default=None)
        if arrived is not None and all(packet.number > arrived for packet in waiting.values()):
            return


def _is_tcp(packet: _Sent) -> bool:
    return packet.socket.type == socket.SOCK_STREAM


def _account(packet: _Sent, address: str, elapsed_s: float) -> bool:
    """Book what became of a packet; False if nothing is known yet."""
    notice = next_notice(packet.socket)
    if notice is not None:
        packet.sender, packet.rtt_s = notice.sender, elapsed_s
        packet.arrived = notice.said is not Said.EXPIRED and notice.sender == address
        return True
    error = packet.socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    if error == errno.ECONNREFUSED or (error == 0 and _is_connected(packet)):
        packet.sender, packet.rtt_s, packet.arrived = address, elapsed_s, True
    return packet.arrived or error != 0


def _is_connected(packet: _Sent) -> bool:
    if not _is_tcp(packet):
        return False
    with contextlib.suppress(OSError):
        packet.socket.getpeername()
        return True
    return False
