"""Raw sockets: IP packets that we made ourselves go out, answers to them come in. Linux, CAP_NET_RAW.

Out through the kernel's own routing, which also finds neighbours; in as copies of what this host receives
anyway: no interface is made to hear more (no promiscuous mode), and a local filter that drops the answers
does not hide them. Layout of linux/filter.h.
"""

from __future__ import annotations

import contextlib
import ctypes
import select
import socket
import struct
import sys

_ATTACH_FILTER = 26
_INSTRUCTION = struct.Struct("=HBBI")
_LOAD, _LOAD_BEHIND, _HEADER, _SET_HEADER = 0x30, 0x50, 0xB1, 0x01
_IF_EQUAL, _IF_ANY, _END = 0x15, 0x45, 0x06
_TCP_FLAGS, _SYN_OR_RESET = 13, 0x06
_KEEP_BYTES = 1500
_ETHERTYPE_4, _ETHERTYPE_6 = 0x0800, 0x86DD


class RawSockets:
    """For one family and one look; close it. OSError from the constructor: no privilege, or not Linux."""

    def __init__(self, family: int) -> None:
        if sys.platform != "linux":
            raise OSError("only Linux has packet sockets")
        ethertype = _ETHERTYPE_6 if family == socket.AF_INET6 else _ETHERTYPE_4
        with contextlib.ExitStack() as made:
            self._out = made.enter_context(socket.socket(family, socket.SOCK_RAW, socket.IPPROTO_RAW))
            # SOCK_DGRAM: without the header of the link, which a tunnel has not
            self._in = made.enter_context(
                socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ethertype))
            )
            _attach(self._in, _program(family))
            self._in.setblocking(False)
            self._open = made.pop_all()

    def close(self) -> None:
        self._open.close()

    def send(self, packet: bytes, address: str) -> None:
        """A whole packet, IP header included. OSError."""
        self._out.sendto(packet, (address, 0))

    def received(self, wait_s: float) -> list[bytes]:
        """Whole packets, IP header included, that have come: at once if there are some."""
        packets: list[bytes] = []
        if select.select([self._in], [], [], max(0.0, wait_s))[0]:
            with contextlib.suppress(BlockingIOError):
                while True:
                    packets.append(self._in.recv(_KEEP_BYTES))
        return packets


def _program(family: int) -> bytes:
    """Of the many packets of a busy host only ICMP, and TCP with SYN or RST: the rest would drown them."""
    if family == socket.AF_INET6:
        at, icmp, header = 6, socket.IPPROTO_ICMPV6, (_SET_HEADER, 0, 0, 40)
    else:
        at, icmp, header = 9, socket.IPPROTO_ICMP, (_HEADER, 0, 0, 0)
    steps = (
        (_LOAD, 0, 0, at),
        (_IF_EQUAL, 4, 0, icmp),
        (_IF_EQUAL, 0, 4, socket.IPPROTO_TCP),
        header,
        (_LOAD_BEHIND, 0, 0, _TCP_FLAGS),
        (_IF_ANY, 0, 1, _SYN_OR_RESET),
        (_END, 0, 0, _KEEP_BYTES),
        (_END, 0, 0, 0),
    )
    return b"".join(_INSTRUCTION.pack(*step) for step in steps)


def _attach(receiving: socket.socket, program: bytes) -> None:
    kept = ctypes.create_string_buffer(program, len(program))
    count = len(program) // _INSTRUCTION.size
    receiving.setsockopt(socket.SOL_SOCKET, _ATTACH_FILTER, struct.pack("@HP", count, ctypes.addressof(kept)))
