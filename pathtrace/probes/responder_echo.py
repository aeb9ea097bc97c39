"""Answers a session's UDP datagrams with whole packets of the size asked for: path MTU, both ways.

Answers only what was sealed with the session's key, from the session's peer, and each number once: nobody
else can make it send, and a datagram caught on the way is worth nothing.
"""

from __future__ import annotations

import contextlib
import errno
import socket
import threading

from pathtrace.probes.do_not_fragment import can_probe, whole_packets
from pathtrace.probes.link_protocol import (
    LARGEST_DATAGRAM,
    LEAST_DATAGRAM,
    Asked,
    Datagram,
    seal,
    unseal,
)
from pathtrace.probes.link_streams import Allowance, padding


class Echo:
    """A thread that answers until ``close``."""

    def __init__(self, bound: socket.socket, peer: str, key: bytes, allowance: Allowance) -> None:
        self._socket = bound
        self._peer = peer
        self._key = key
        self._allowance = allowance
        self._answered = 0
        self._closing = False
        self._thread = threading.Thread(target=self._serve, name="echo", daemon=True)
        self._thread.start()

    @classmethod
    def beside(cls, control: socket.socket, key: bytes, allowance: Allowance) -> Echo | None:
        """On the UDP port with the number and address of the control connection; None if that cannot be."""
        if not can_probe():
            return None
        try:
            made = whole_packets(control.family)
        except OSError:
            return None
        try:
            made.bind(control.getsockname())
            return cls(made, control.getpeername()[0], key, allowance)
        except OSError:
            made.close()
            return None

    def close(self) -> None:
        """Stop answering."""
        self._closing = True
        with contextlib.suppress(OSError):  # wakes the thread, though nothing is connected
            self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._socket.close()

    def _serve(self) -> None:
        while not self._closing:
            try:
                raw, sender = self._socket.recvfrom(LARGEST_DATAGRAM)
            except OSError:  # an ICMP message for an earlier reply
                continue
            if raw and sender[0] == self._peer:
                self._answer(raw, sender)

    def _answer(self, raw: bytes, sender: tuple[str, int]) -> None:
        datagram = unseal(raw, self._key)
        if datagram is None or datagram.asked is not Asked.ECHO or datagram.number <= self._answered:
            return
        self._answered = datagram.number
        size = min(max(datagram.reply_bytes, LEAST_DATAGRAM), LARGEST_DATAGRAM)
        if not self._allowance.take(len(raw) + size):
            return
        try:
            self._reply(Asked.REPLY, datagram.number, size, sender)
        except OSError as error:
            if error.errno == errno.EMSGSIZE:
                with contextlib.suppress(OSError):
                    self._reply(Asked.TOO_LARGE, datagram.number, LEAST_DATAGRAM, sender)

    def _reply(self, asked: Asked, number: int, size: int, sender: tuple[str, int]) -> None:
        reply = Datagram(asked, number, size)
        self._socket.sendto(seal(reply, self._key, padding(size - LEAST_DATAGRAM)), sender)
