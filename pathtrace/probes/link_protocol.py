"""What prober and responder say to each other, byte by byte: handshake, messages, echo datagrams.

The token never crosses the wire: each end proves that it has it over nonces that both ends drew, so that a
recorded handshake is worth nothing. Knows no limits and measures nothing.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import socket
import struct
import time
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from pathtrace.errors import OperationError, UsageError

DEFAULT_PORT = 7411
LEAST_TOKEN = 16
"""Characters: somebody who can watch a handshake may try tokens at leisure."""

_MAGIC = b"ptlink1\n"
_NONCE_BYTES = 32
_HELLO = struct.Struct(f">8sc{_NONCE_BYTES}sI")
_CHALLENGE = struct.Struct(f">8s{_NONCE_BYTES}s")
_ANSWER = struct.Struct(">c32s")
_LENGTH = struct.Struct(">I")
_LONGEST_MESSAGE = 64 * 1024
_NO_PROOF = bytes(32)


class LinkError(OperationError):
    """The other end of a link probe could not be used."""


class ResponderRefusedError(LinkError):
    """The responder does not take this token, or not any more."""


class ResponderBusyError(LinkError):
    """The responder serves somebody else, and went on doing so."""


class ForeignSpeechError(LinkError):
    """What came over the connection is not this protocol."""


class Purpose(Enum):
    """What a connection is for."""

    CONTROL = b"C"
    DATA = b"D"


class Verdict(Enum):
    """What the responder makes of a proof."""

    WELCOME = b"+"
    REFUSED = b"-"
    BUSY = b"b"
    USED_UP = b"u"


@dataclass(frozen=True, slots=True)
class Handshake:
    """The two openings that both proofs are over."""

    purpose: Purpose
    transfer: int
    """Of a data connection: the transfer that it belongs to."""
    transcript: bytes

    def proof(self, key: bytes, role: bytes) -> bytes:
        """HMAC-SHA256 by ``key``; roles differ so that no end's proof serves as the other's."""
        return hmac.digest(key, role + self.transcript, hashlib.sha256)

    def session_key(self, token: str) -> bytes:
        """What data connections and echo datagrams of the session are proved by."""
        return self.proof(token.encode(), b"session")


def introduce(
    connection: socket.socket, key: bytes, purpose: Purpose, transfer: int, timeout_s: float
) -> Handshake:
    """The prober's side. LinkError: refused, busy, or no responder that has the key."""
    hello = _HELLO.pack(_MAGIC, purpose.value, secrets.token_bytes(_NONCE_BYTES), transfer)
    deadline = time.monotonic() + timeout_s
    connection.sendall(hello)
    challenge = receive_exactly(connection, _CHALLENGE.size, deadline)
    if _CHALLENGE.unpack(challenge)[0] != _MAGIC:
        raise ForeignSpeechError("something else than a responder of this version answers there")
    handshake = Handshake(purpose, transfer, hello + challenge)
    connection.sendall(handshake.proof(key, b"prober"))
    verdict, proof = _ANSWER.unpack(receive_exactly(connection, _ANSWER.size, deadline))
    _accept(verdict)
    if not hmac.compare_digest(proof, handshake.proof(key, b"responder")):
        raise ForeignSpeechError("the responder could not prove that it has the token")
    return handshake


def _accept(verdict: bytes) -> None:
    if verdict == Verdict.REFUSED.value:
        raise ResponderRefusedError(
            "the responder refused the token", hint="PATHTRACE_TOKEN must be the same there"
        )
    if verdict == Verdict.USED_UP.value:
        raise ResponderRefusedError(
            "the responder's token is used up", hint="start 'pathtrace respond' again, or with --sessions N"
        )
    if verdict == Verdict.BUSY.value:
        raise ResponderBusyError("the responder serves another client")
    if verdict != Verdict.WELCOME.value:
        raise ForeignSpeechError("something else than a responder of this version answers there")


def challenge(connection: socket.socket, deadline: float) -> tuple[Handshake, bytes]:
    """The responder's side: what the other end wants, and its proof. ForeignSpeechError, OSError."""
    hello = receive_exactly(connection, _HELLO.size, deadline)
    magic, purpose, _, transfer = _HELLO.unpack(hello)
    if magic != _MAGIC or purpose not in {known.value for known in Purpose}:
        raise ForeignSpeechError("no prober of this version")
    own = _CHALLENGE.pack(_MAGIC, secrets.token_bytes(_NONCE_BYTES))
    connection.sendall(own)
    proof = receive_exactly(connection, len(_NO_PROOF), deadline)
    return Handshake(Purpose(purpose), transfer, hello + own), proof


def is_proved(handshake: Handshake, key: bytes, proof: bytes) -> bool:
    """Whether the prober has the key; takes the same time either way."""
    return hmac.compare_digest(proof, handshake.proof(key, b"prober"))


def welcome(connection: socket.socket, handshake: Handshake, key: bytes) -> None:
    """Let a prober in, and prove that this end has the key too."""
    connection.sendall(_ANSWER.pack(Verdict.WELCOME.value, handshake.proof(key, b"responder")))


def turn_away(connection: socket.socket, verdict: Verdict) -> None:
    """Tell a prober why not."""
    connection.sendall(_ANSWER.pack(verdict.value, _NO_PROOF))


def receive_exactly(connection: socket.socket, count: int, deadline: float) -> bytes:
    """``count`` bytes by ``deadline`` (of ``time.monotonic``), however slowly they drip.

    TimeoutError if they do not come, ConnectionError if the other end closes first.
    """
    parts = bytearray()
    while len(parts) < count:
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        connection.settimeout(left)
        part = connection.recv(count - len(parts))
        if not part:
            raise ConnectionError("the other end closed the connection")
        parts += part
    return bytes(parts)


def write_message(connection: socket.socket, message: Mapping[str, object]) -> None:
    """One message of the control connection."""
    text = json.dumps(message, allow_nan=False).encode()
    connection.sendall(_LENGTH.pack(len(text)) + text)


def read_message(connection: socket.socket, deadline: float) -> dict[str, object]:
    """The next message. ForeignSpeechError, TimeoutError, ConnectionError."""
    (length,) = _LENGTH.unpack(receive_exactly(connection, _LENGTH.size, deadline))
    if length > _LONGEST_MESSAGE:
        raise ForeignSpeechError("a message is longer than any can be")
    try:
        message = json.loads(receive_exactly(connection, length, deadline))
    except (ValueError, RecursionError) as error:
        raise ForeignSpeechError("a message cannot be read") from error
    if not isinstance(message, dict):
        raise ForeignSpeechError("a message cannot be read")
    return message


def parse_address(text: str, default_port: int = DEFAULT_PORT) -> tuple[str, int]:
    """``nas.lan:7411``, ``[fe80::1]:7411``, or without a port. UsageError."""
    host, colon, port = text.rpartition(":") if not text.endswith("]") else (text, "", "")
    if not colon or (":" in host and not host.startswith("[")):
        host, port = text, str(default_port)
    name = host.removeprefix("[").removesuffix("]")
    if not name or not (port.isascii() and port.isdigit()) or int(port) > 65535:
        raise UsageError(
            f"{text!r} is not an address with a port", hint=f"write it as in 192.168.1.10:{default_port}"
        )
    return name, int(port)


def format_address(host: str, port: int) -> str:
    """The reverse of ``parse_address``."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


class Asked(Enum):
    """What an echo datagram is."""

    ECHO = b"e"
    REPLY = b"r"
    TOO_LARGE = b"t"
    """Instead of the reply: a packet of that size cannot leave the responder's host."""


_ECHO = struct.Struct(">4scQH")
_ECHO_MAGIC = b"pte1"
_SEAL_BYTES = 16
LEAST_DATAGRAM = _ECHO.size + _SEAL_BYTES
LARGEST_DATAGRAM = 65535 - 28


@dataclass(frozen=True, slots=True)
class Datagram:
    """An echo asked for or given. ``number`` only grows within a session."""

    asked: Asked
    number: int
    reply_bytes: int
    """UDP payload that the reply shall have."""


def seal(datagram: Datagram, key: bytes, padding: memoryview) -> bytes:
    """The datagram with its own proof, filled up with ``padding``."""
    head = _ECHO.pack(_ECHO_MAGIC, datagram.asked.value, datagram.number, datagram.reply_bytes)
    return b"".join((head, hmac.digest(key, head, hashlib.sha256)[:_SEAL_BYTES], padding))


def unseal(raw: bytes | memoryview, key: bytes) -> Datagram | None:
    """None unless it was sealed by the same key."""
    if len(raw) < LEAST_DATAGRAM:
        return None
    head, proof = bytes(raw[: _ECHO.size]), bytes(raw[_ECHO.size : LEAST_DATAGRAM])
    if not hmac.compare_digest(proof, hmac.digest(key, head, hashlib.sha256)[:_SEAL_BYTES]):
        return None
    magic, asked, number, reply_bytes = _ECHO.unpack(head)
    if magic != _ECHO_MAGIC or asked not in {known.value for known in Asked}:
        return None
    return Datagram(Asked(asked), number, reply_bytes)
