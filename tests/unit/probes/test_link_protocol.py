from __future__ import annotations

import socket
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathtrace.errors import UsageError
from pathtrace.probes.link_protocol import (
    LEAST_DATAGRAM,
    Asked,
    Datagram,
    ForeignSpeechError,
    format_address,
    parse_address,
    read_message,
    receive_exactly,
    seal,
    unseal,
    write_message,
)
from pathtrace.probes.link_streams import Allowance, Meter, StreamReport, padding, read_report, receive_stream

KEY = b"k" * 32


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("nas.lan:7411", ("nas.lan", 7411)),
        ("nas.lan", ("nas.lan", 7411)),
        ("192.168.1.10:80", ("192.168.1.10", 80)),
        ("[fe80::1%eth0]:9", ("fe80::1%eth0", 9)),
        ("[::1]", ("::1", 7411)),
        ("::1", ("::1", 7411)),
        ("0.0.0.0:0", ("0.0.0.0", 0)),
    ],
)
def test_addresses_are_read_with_and_without_a_port(text: str, address: tuple[str, int]) -> None:
    assert parse_address(text) == address
    assert parse_address(format_address(*address)) == address


@pytest.mark.parametrize("text", ["", ":7411", "nas:port", "nas:70000", "nas:-1", "[]:1", "nas:"])
def test_what_is_no_address_is_said(text: str) -> None:
    with pytest.raises(UsageError, match="is not an address with a port"):
        parse_address(text)


@given(number=st.integers(0, 2**64 - 1), size=st.integers(0, 65535), filled=st.integers(0, 2000))
def test_a_datagram_comes_back_as_it_was_sealed(number: int, size: int, filled: int) -> None:
    datagram = Datagram(Asked.ECHO, number, size)
    raw = seal(datagram, KEY, padding(filled))
    assert len(raw) == LEAST_DATAGRAM + filled
    assert unseal(raw, KEY) == datagram
    assert unseal(raw, b"another key") is None


@given(raw=st.binary(max_size=200))
def test_noise_is_no_datagram(raw: bytes) -> None:
    assert unseal(raw, KEY) is None


@given(position=st.integers(0, LEAST_DATAGRAM - 1), bit=st.integers(0, 7))
def test_a_datagram_that_was_changed_is_none(position: int, bit: int) -> None:
    raw = bytearray(seal(Datagram(Asked.ECHO, 7, 100), KEY, padding(0)))
    raw[position] ^= 1 << bit
    assert unseal(bytes(raw), KEY) is None


def test_messages_pass_whole() -> None:
    one, other = socket.socketpair()
    with one, other:
        write_message(one, {"do": "send", "streams": 4})
        write_message(one, {"do": "bye"})
        until = time.monotonic() + 5
        assert [read_message(other, until), read_message(other, until)] == [
            {"do": "send", "streams": 4},
            {"do": "bye"},
        ]


@pytest.mark.parametrize(
    "raw", [b"\xff\xff\xff\xff", b"\0\0\0\x02[]", b"\0\0\0\x03\xff\xfe{", b"\0\0\0\x01{"]
)
def test_a_message_that_is_none_is_said(raw: bytes) -> None:
    one, other = socket.socketpair()
    with one, other:
        one.sendall(raw)
        with pytest.raises(ForeignSpeechError):
            read_message(other, time.monotonic() + 5)


def test_bytes_that_do_not_come_in_time_or_at_all_are_errors() -> None:
    one, other = socket.socketpair()
    with one, other:
        with pytest.raises(TimeoutError):
            receive_exactly(other, 1, time.monotonic() - 1)
        one.close()
        with pytest.raises(ConnectionError):
            receive_exactly(other, 1, time.monotonic() + 5)


def received(pieces: list[int], times: list[int], warmup: int, length: int) -> StreamReport:
    """What a receiver reports of ``pieces`` that come at ``times``."""
    one, other = socket.socketpair()
    with one, other:
        ticks = iter([times[0], *times])

        class Given(socket.socket):
            def recv_into(self, *_: object) -> int:  # type: ignore[override]
                return pieces.pop(0) if pieces else 0

        with Given(fileno=other.detach()) as connection:
            return receive_stream(
                connection, Meter(lambda: next(ticks), warmup, length), Allowance(1 << 40).take
            )


def test_only_what_arrived_between_two_looks_inside_the_timed_part_counts() -> None:
    report = received([10, 10, 10, 10, 10], [0, 5, 10, 15, 20], warmup=8, length=100)
    assert (report.bytes, report.window_bytes, report.window_s) == (50, 20, 10e-9)
    assert report.bytes_per_s == pytest.approx(2e9)


def test_a_receiver_ends_with_the_timed_part() -> None:
    report = received([10] * 5, [0, 5, 10, 15, 20], warmup=0, length=10)
    assert (report.bytes, report.window_bytes) == (30, 10)


def test_a_stream_that_ends_before_the_timed_part_is_taken_from_its_first_look() -> None:
    report = received([10, 10, 10], [0, 5, 10], warmup=100, length=100)
    assert (report.window_bytes, report.window_s) == (20, 10e-9)


def test_a_stream_without_a_byte_has_no_rate() -> None:
    assert received([], [0], warmup=0, length=1).bytes_per_s == 0


def test_reports_come_back_as_they_were_and_of_others_what_both_know() -> None:
    report = received([10, 10], [0, 5], warmup=0, length=100)
    assert read_report(report.document()) == report
    told = read_report({"bytes": 5, "window_bytes": 4, "window_s": 1, "tcp": {"rtt_s": 0.5, "novel": [1]}})
    assert told is not None
    assert told.tcp is not None
    assert (told.tcp.rtt_s, told.tcp.retransmits) == (0.5, None)
    for wrong in (None, [], {}, {"bytes": "x", "window_bytes": 1, "window_s": 1}):
        assert read_report(wrong) is None
