from __future__ import annotations

import dataclasses
import socket
import struct
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathtrace.model.tcp_info import MOST_BYTES, TcpInfo, decode

NOTHING = TcpInfo(**dict.fromkeys((field.name for field in dataclasses.fields(TcpInfo)), None))

OF_LINUX_3_10 = 104
"""Bytes: ends with the retransmits in all."""

needs_tcp_info = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux's sockets")


def planted() -> bytes:
    """A whole struct whose every number tells its own place."""
    head = struct.pack("=8B", 1, 0, 0, 0, 0, 7, 0x77, 1)
    words = [100 + index for index in range(24)]  # tcpi_rto … tcpi_total_retrans
    long = [1_000 + index for index in range(4)]
    counts = [2_000 + index for index in range(6)]
    times = [3_000 + index for index in range(4)]
    delivered = [4_000, 4_001]
    sent = [5_000, 5_001]
    tail = [6_000 + index for index in range(6)]
    timeouts = struct.pack("=HHI", 7_000, 7_001, 7_002)
    return (
        head
        + struct.pack("=24I", *words)
        + struct.pack("=4Q", *long)
        + struct.pack("=6I", *counts)
        + struct.pack("=4Q", *times)
        + struct.pack("=2I", *delivered)
        + struct.pack("=2Q", *sent)
        + struct.pack("=6I", *tail)
        + timeouts
    )


WHOLE = TcpInfo(
    state="established",
    rtt_s=pytest.approx(115e-6),
    rttvar_s=pytest.approx(116e-6),
    min_rtt_s=pytest.approx(2_003e-6),
    retransmits=123,
    bytes_acked=1_002,
    bytes_received=1_003,
    bytes_sent=5_000,
    bytes_retransmitted=5_001,
    segments_in=2_001,
    segments_out=2_000,
    data_segments_in=2_004,
    data_segments_out=2_005,
    out_of_order=6_002,
    reordering_seen=6_001,
    delivery_rate_bytes_per_s=3_000,
    app_limited=True,
    busy_s=pytest.approx(3_001e-6),
    rwnd_limited_s=pytest.approx(3_002e-6),
    sndbuf_limited_s=pytest.approx(3_003e-6),
    notsent_bytes=2_002,
    unacked_segments=104,
    congestion_window_segments=118,
    mss_bytes=102,
    receive_mss_bytes=103,
    path_mtu_bytes=113,
    receive_rtt_s=pytest.approx(121e-6),
    send_window_bytes=6_003,
    receive_window_bytes=6_004,
    timeouts=7_000,
)


def test_every_field_is_taken_from_its_own_place() -> None:
    assert decode(planted()) == WHOLE


def test_a_longer_struct_of_a_newer_kernel_reads_the_same() -> None:
    assert decode(planted() + bytes(64)) == WHOLE


def test_an_older_kernels_short_struct_leaves_out_what_it_lacks() -> None:
    assert decode(planted()[:OF_LINUX_3_10]) == dataclasses.replace(
        NOTHING,
        state="established",
        rtt_s=pytest.approx(115e-6),
        rttvar_s=pytest.approx(116e-6),
        retransmits=123,
        unacked_segments=104,
        congestion_window_segments=118,
        mss_bytes=102,
        receive_mss_bytes=103,
        path_mtu_bytes=113,
        receive_rtt_s=pytest.approx(121e-6),
    )


def test_nothing_is_known_of_an_empty_struct() -> None:
    assert decode(b"") == NOTHING


def test_what_the_kernel_has_not_measured_is_not_zero() -> None:
    raw = bytearray(280)
    struct.pack_into("=I", raw, 148, 0xFFFFFFFF)
    found = decode(bytes(raw))
    assert (found.state, found.rtt_s, found.rttvar_s, found.min_rtt_s) == (None, None, None, None)
    assert (found.receive_rtt_s, found.delivery_rate_bytes_per_s, found.path_mtu_bytes) == (None, None, None)
    assert (found.retransmits, found.busy_s, found.app_limited) == (0, 0.0, None)


@given(raw=st.binary(max_size=400), cut=st.integers(0, 400))
def test_a_shorter_struct_never_says_something_else(raw: bytes, cut: int) -> None:
    whole, part = decode(raw), decode(raw[:cut])
    for field in dataclasses.fields(TcpInfo):
        assert getattr(part, field.name) in (None, getattr(whole, field.name))


def info(of: socket.socket) -> TcpInfo:
    return decode(of.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, MOST_BYTES))


@needs_tcp_info
def test_this_kernels_own_struct_counts_what_went_through() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        socket.create_connection(listener.getsockname()) as sender,
        listener.accept()[0] as receiver,
    ):
        sender.sendall(bytes(50_000))
        got = 0
        while got < 50_000:
            got += len(receiver.recv(50_000))
        sent, received = info(sender), info(receiver)
    assert (sent.state, sent.retransmits, sent.bytes_retransmitted) == ("established", 0, 0)
    assert (sent.bytes_sent, sent.notsent_bytes, received.bytes_received) == (50_000, 0, 50_000)
    assert 0 < (sent.rtt_s or 0) < 1
    assert 0 <= (sent.min_rtt_s or 0) < 1
    assert received.out_of_order == 0
    assert (received.receive_mss_bytes or 0) > 500


@needs_tcp_info
def test_a_listening_socket_has_no_round_trip() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        found = info(listener)
    assert (found.state, found.rtt_s, found.min_rtt_s) == ("listen", None, None)
