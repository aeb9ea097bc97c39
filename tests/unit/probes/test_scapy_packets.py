"""What is read from packets: real layouts, and anything at all."""

from __future__ import annotations

import socket
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pathtrace.probes.scapy_packets import Answer, Kind, echo, read, syn

HERE, ROUTER, THERE = "192.0.2.1", "192.0.2.254", "198.51.100.7"
HERE6, ROUTER6, THERE6 = "2001:db8::1", "2001:db8::fe", "2001:db8:1::7"
MARK = 0xBEEF << 16 | 3


def packet4(sender: str, protocol: int, body: bytes) -> bytes:
    addresses = socket.inet_aton(sender) + socket.inet_aton(HERE)
    return struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(body), 0, 0, 64, protocol, 0) + addresses + body


def packet6(sender: str, protocol: int, body: bytes) -> bytes:
    addresses = socket.inet_pton(socket.AF_INET6, sender) + socket.inet_pton(socket.AF_INET6, HERE6)
    return struct.pack("!IHBB", 6 << 28, len(body), protocol, 64) + addresses + body


def test_a_packet_bears_the_hops_that_it_may_live() -> None:
    made = syn(socket.AF_INET, HERE, THERE, (40001, 445), 3)
    assert (made[8], made[9]) == (3, socket.IPPROTO_TCP)
    assert (made[12:16], made[16:20]) == (socket.inet_aton(HERE), socket.inet_aton(THERE))
    assert struct.unpack("!HH", made[20:24]) == (40001, 445)
    assert echo(socket.AF_INET6, HERE6, THERE6, MARK, 5)[7] == 5


@pytest.mark.parametrize("quoted_bytes", [28, 200])
@pytest.mark.parametrize(("kind", "expired"), [(11, True), (3, False)])
def test_a_router_quotes_as_much_as_it_likes(quoted_bytes: int, kind: int, expired: bool) -> None:
    for made, expected in (
        (syn(socket.AF_INET, HERE, THERE, (40001, 445), 1), (Kind.SYN, 40001)),
        (echo(socket.AF_INET, HERE, THERE, MARK, 1), (Kind.ECHO, MARK)),
    ):
        told = packet4(ROUTER, socket.IPPROTO_ICMP, struct.pack("!BBHI", kind, 0, 0, 0) + made[:quoted_bytes])
        assert read(socket.AF_INET, told) == Answer(*expected, ROUTER, THERE, expired)


@pytest.mark.parametrize(("kind", "expired"), [(3, True), (1, False)])
def test_routers_of_ipv6_are_understood_too(kind: int, expired: bool) -> None:
    for made, expected in (
        (syn(socket.AF_INET6, HERE6, THERE6, (40001, 445), 1), (Kind.SYN, 40001)),
        (echo(socket.AF_INET6, HERE6, THERE6, MARK, 1), (Kind.ECHO, MARK)),
    ):
        told = packet6(ROUTER6, socket.IPPROTO_ICMPV6, struct.pack("!BBHI", kind, 0, 0, 0) + made)
        assert read(socket.AF_INET6, told) == Answer(*expected, ROUTER6, THERE6, expired)


def test_the_host_itself_answers_with_its_own_kinds_of_packets() -> None:
    reply = struct.pack("!BBHI", 0, 0, 0, MARK)
    reply6 = struct.pack("!BBHI", 129, 0, 0, MARK)
    segment = struct.pack("!HHIIBBHHH", 445, 40001, 1, 2, 0x50, 0x12, 0, 0, 0)
    assert [
        read(socket.AF_INET, packet4(THERE, socket.IPPROTO_ICMP, reply)),
        read(socket.AF_INET, packet4(THERE, socket.IPPROTO_TCP, segment)),
        read(socket.AF_INET6, packet6(THERE6, socket.IPPROTO_ICMPV6, reply6)),
        read(socket.AF_INET6, packet6(THERE6, socket.IPPROTO_TCP, segment)),
    ] == [
        Answer(Kind.ECHO, MARK, THERE, THERE, expired=False),
        Answer(Kind.SYN, 40001, THERE, THERE, expired=False),
        Answer(Kind.ECHO, MARK, THERE6, THERE6, expired=False),
        Answer(Kind.SYN, 40001, THERE6, THERE6, expired=False),
    ]


@settings(deadline=None)  # the first one imports scapy
@given(st.binary(max_size=120), st.sampled_from((socket.AF_INET, socket.AF_INET6)), st.booleans())
def test_whatever_comes_is_read_or_passed_over(noise: bytes, family: int, framed: bool) -> None:
    packet = noise
    if framed:
        icmp6 = packet6(ROUTER6, socket.IPPROTO_ICMPV6, noise)
        packet = icmp6 if family == socket.AF_INET6 else packet4(ROUTER, socket.IPPROTO_ICMP, noise)
    assert isinstance(read(family, packet), Answer | None)
