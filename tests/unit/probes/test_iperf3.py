from __future__ import annotations

import asyncio
import json
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pathtrace.errors import OperationError
from pathtrace.probes.iperf3 import Iperf3BusyError, Iperf3Probe, Iperf3Result, read_result
from pathtrace.probes.responder_client import Way

REPLIES = Path(__file__).parent / "iperf3_replies"

needs_iperf3 = [
    pytest.mark.server,
    pytest.mark.skipif(shutil.which("iperf3") is None, reason="no iperf3 here"),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="an iperf3 server on loopback"),
]


def reply(name: str) -> str:
    return (REPLIES / name).read_text()


@pytest.mark.parametrize(
    ("name", "result"),
    [
        (
            "3.12.json",
            Iperf3Result(13658830742.735497 / 8, 9, (3, 12), 12.692555369125852, 41.86353380161533),
        ),
        (
            "3.12_four_back.json",
            Iperf3Result(16647408149.45228 / 8, 18, (3, 12), 54.32527460762904, 10.840197265357496),
        ),
    ],
)
def test_what_a_real_iperf3_wrote_is_read(name: str, result: Iperf3Result) -> None:
    assert read_result(reply(name)) == result


def test_a_server_that_is_busy_is_told_apart_from_one_that_is_not_there() -> None:
    with pytest.raises(Iperf3BusyError, match="the server is busy running a test"):
        read_result(reply("busy.json"))
    with pytest.raises(
        OperationError, match="iperf3: unable to connect to server: Connection refused"
    ) as refused:
        read_result(reply("refused.json"))
    assert not isinstance(refused.value, Iperf3BusyError)


RATE = {"bits_per_second": 8e6, "bytes": 1_000_000, "seconds": 1.0}


@pytest.mark.parametrize(
    ("document", "result"),
    [
        pytest.param(
            {
                "start": {"version": "iperf 3.1.3", "tcp_mss_default": 1448},
                "end": {
                    "sum_sent": {**RATE, "bits_per_second": 9e6, "retransmits": 3},
                    "sum_received": RATE,
                    "cpu_utilization_percent": {"host_total": 3.5, "remote_total": 99.0},
                },
            },
            Iperf3Result(1e6, 3, (3, 1), 3.5, 99.0),
            id="3.1.3",
        ),
        pytest.param(
            {
                "start": {"version": "iperf 3.19.1+", "fq_rate": 0},
                "end": {
                    "streams": [{"sender": RATE, "receiver": {**RATE, "sender": False}}],
                    "sum_sent": {**RATE, "sender": True},
                    "sum_received": {**RATE, "sender": True},
                    "receiver_tcp_congestion": "cubic",
                },
            },
            Iperf3Result(1e6, None, (3, 19), None, None),
            id="3.19 of a system that counts no retransmits",
        ),
        pytest.param(
            {"start": {}, "end": {"streams": [{"receiver": RATE}, {"receiver": RATE}]}},
            Iperf3Result(2e6, None, None, None, None),
            id="without sums",
        ),
    ],
)
def test_other_versions_shapes_are_read(document: object, result: Iperf3Result) -> None:
    assert read_result(json.dumps(document)) == result


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", "iperf3: error", '{"end": {"sum_received": {}}}', "[" * 5000]
)
def test_what_cannot_be_read_fails_clearly(text: str) -> None:
    with pytest.raises(
        OperationError, match=r"^(what iperf3 wrote is no JSON|iperf3 tells no figure of the receiver)$"
    ):
        read_result(text)


def reachable(port: int) -> bool:
    with socket.socket() as trying:
        return trying.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def server() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen(
        ["iperf3", "-s", "-p", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    until = time.monotonic() + 5
    while not reachable(port) and time.monotonic() < until:
        pass
    yield f"127.0.0.1:{port}"
    process.kill()
    process.wait()


def probe(address: str, way: Way, streams: tuple[int, ...] = (1, 2)) -> Iperf3Probe:
    return Iperf3Probe(
        "link:lan", "a->b", way, address, time.perf_counter_ns, length_s=1, streams=streams, busy_pause_s=0.3
    )


class TestAgainstARealServer:
    pytestmark = needs_iperf3

    @pytest.mark.parametrize("way", Way)
    def test_each_direction_is_measured(self, server: str, way: Way) -> None:
        found = asyncio.run(probe(server, way).measure())
        assert found is not None
        assert (found.resource, found.direction, found.source) == ("link:lan", "a->b", "measured")
        assert (found.bytes_per_s or 0) > 10e6
        assert re.fullmatch(
            r"from memory to memory by iperf3 3\.\d+, 1 s each; 1 stream \S+ [MG]bit/s.*; 2 streams .*",
            found.evidence,
        )

    def test_a_busy_server_is_waited_for(self, server: str) -> None:
        port = server.partition(":")[2]
        other = subprocess.Popen(
            ["iperf3", "-c", "127.0.0.1", "-p", port, "-t", "1"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        found = asyncio.run(probe(server, Way.TO_THERE, (1,)).measure())
        other.wait()
        assert found is not None

    def test_no_server_there_is_said(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        with pytest.raises(OperationError, match="Connection refused"):
            asyncio.run(probe(f"127.0.0.1:{port}", Way.TO_THERE).measure())


def test_no_iperf3_here_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(OperationError, match="there is no iperf3 on this host"):
        asyncio.run(probe("127.0.0.1:5201", Way.TO_HERE).measure())
