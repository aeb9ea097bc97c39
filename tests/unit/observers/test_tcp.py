from __future__ import annotations

import sys

import pytest

from pathtrace.model.network import Endpoint
from pathtrace.model.sample import Reading
from pathtrace.observers import tcp
from pathtrace.observers.tcp import TcpObserver
from tests.unit.observers.loopback import connected, listening, port, send

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="inet_diag is Linux's")

COUNTERS = [
    *("bytes_received", "bytes_sent", "segments_in", "segments_out", "retransmits", "out_of_order"),
    *("busy_s", "rwnd_limited_s", "sndbuf_limited_s"),
]


GAUGES = [
    *("sockets", "receive_queue_bytes", "send_queue_bytes"),
    *("rtt_s", "min_rtt_s", "mss_bytes", "path_mtu_bytes"),
]


def metrics(observer: TcpObserver, place: str) -> dict[str, float]:
    return {r.metric: r.value for r in observer.observe(7) if (r.observer, r.subject) == ("tcp", place)}


@linux
def test_sockets_to_a_place_are_added_up_and_their_state_is_told() -> None:
    with listening() as server, connected(server) as (one, other), connected(server) as (two, another):
        observer = TcpObserver({"archive": Endpoint("nas", "127.0.0.1", port(server))})
        send(other, one, 40_000)
        send(another, two, 2_000)
        send(one, other, 300)

        seen = metrics(observer, "archive")

        assert [*seen] == [*COUNTERS, *GAUGES]
        assert (seen["bytes_received"], seen["bytes_sent"], seen["sockets"]) == (42_000, 300, 2)
        assert 0 < seen["min_rtt_s"] <= seen["rtt_s"] < 1
        assert seen["path_mtu_bytes"] > 1000
        assert (seen["retransmits"], seen["receive_queue_bytes"]) == (0, 0)


@linux
def test_a_counter_never_falls_when_a_socket_ends() -> None:
    with listening() as server:
        observer = TcpObserver({"archive": Endpoint("nas", "127.0.0.1", port(server))})
        with connected(server) as (one, other):
            send(other, one, 5_000)
            before = metrics(observer, "archive")
            other.close()
            assert one.recv(1) == b""
        with connected(server) as (one, other):
            send(other, one, 700)
            after = metrics(observer, "archive")

    assert before["bytes_received"] == 5_000
    assert after["bytes_received"] == 5_700
    assert after["sockets"] == 1
    assert all(after[metric] >= before[metric] for metric in COUNTERS)


@linux
def test_a_place_without_sockets_has_counted_nothing_and_has_no_round_trip() -> None:
    observer = TcpObserver({"archive": Endpoint("nas", "203.0.113.1", 445)})

    expected = [*COUNTERS, "sockets", "receive_queue_bytes", "send_queue_bytes"]

    assert metrics(observer, "archive") == dict.fromkeys(expected, 0.0)


@linux
def test_each_place_has_its_own_sockets_and_two_may_share_them() -> None:
    with listening() as one, listening() as two, connected(one), connected(two):
        observer = TcpObserver(
            {
                "archive": Endpoint("nas", "127.0.0.1", port(one)),
                "photos": Endpoint("nas", "127.0.0.1", port(one)),
                "db": Endpoint("db", "127.0.0.1", port(two)),
            }
        )
        sockets = {r.subject: r.value for r in observer.observe(3) if r.metric == "sockets"}

    assert sockets == {"archive": 1, "photos": 1, "db": 1}


def test_an_endpoint_that_is_no_address_is_left_out() -> None:
    observer = TcpObserver({"archive": Endpoint("nas", "nas.lan", 445)})
    assert (observer.observe(1), observer.period_s) == ([], 0.1)


@linux
def test_a_kernel_that_does_not_answer_gives_no_readings(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: object) -> tuple[object, ...]:
        raise OSError(93, "Protocol not supported")

    monkeypatch.setattr(tcp, "sockets_to", refuse)

    assert TcpObserver({"archive": Endpoint("nas", "203.0.113.1", 445)}).observe(1) == []


@linux
def test_what_a_kernel_does_not_count_is_not_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tcp, "_counted_here", lambda: (("retransmits", "retransmits"),))
    monkeypatch.setattr(tcp, "sockets_to", lambda _: ())

    readings = TcpObserver({"archive": Endpoint("nas", "203.0.113.1", 445)}).observe(1)

    assert readings[0] == Reading(1, "tcp", "archive", "retransmits", 0.0)
    assert [r.metric for r in readings[1:]] == ["sockets", "receive_queue_bytes", "send_queue_bytes"]
