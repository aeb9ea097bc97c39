"""The link probe beside iperf3: by turns, over the same cable between two namespaces, both directions."""

from __future__ import annotations

import json
import shutil
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.bench.conftest import Sizes
from tests.bench.ledger import Ledger, by_turns
from tests.unit.probes.networks import TOKEN, Network, network

__all__ = ["network"]

pytestmark = [
    pytest.mark.bench,
    pytest.mark.needs_root,
    pytest.mark.timeout(900),
    pytest.mark.skipif(shutil.which("iperf3") is None, reason="no iperf3 here"),
]

HERE, THERE = "10.78.5.1", "10.78.5.2"
BAR = 0.97
SHAPES = {
    "1 Gbit/s": "rate 1gbit burst 256kb latency 20ms",
    "10 Gbit/s": "rate 10gbit burst 1mb latency 20ms",
    "no limit": None,
}

_MEASURE = """
import asyncio, time
from pathtrace.probes.link import LinkProbe
from pathtrace.probes.responder_client import ResponderClient, Way
client = ResponderClient("{address}:7411", {token!r}, time.perf_counter_ns)
probe = LinkProbe("link:lan", "", Way.{way}, client, time.perf_counter_ns, streams=({streams},))
print(asyncio.run(probe.measure()).bytes_per_s)
client.close()
"""


@pytest.fixture(params=SHAPES)
def cable(request: pytest.FixtureRequest, network: Network) -> Iterator[tuple[str, Network]]:
    network.add("a", "b")
    network.cable("a", "b", (1500, 1500), (f"{HERE}/24", f"{THERE}/24"))
    shape = SHAPES[request.param]
    for host, device in (("a", "to-b"), ("b", "to-a")) if shape else ():
        network.on(host, f"tc qdisc add dev {device} root tbf {shape}")
    with ExitStack() as stack:
        stack.enter_context(network.responder("b", THERE, sessions=1000))
        stack.enter_context(network.running("b", "iperf3", "-s", "-B", THERE))
        yield request.param, network


def ours(network: Network, way: str, streams: int) -> float:
    code = _MEASURE.format(address=THERE, token=TOKEN, way=way, streams=streams)
    return float(network.on("a", sys.executable, "-c", code))


def theirs(network: Network, way: str, streams: int) -> float:
    """Bytes per second, without the first moments, as ours."""
    back = ["-R"] if way == "TO_HERE" else []
    for _ in range(10):
        said = json.loads(network.on("a", f"iperf3 -J -c {THERE} -O 1 -t 2 -P {streams}", *back))
        if "error" not in said:
            return float(said["end"]["sum_received"]["bits_per_second"]) / 8
        time.sleep(0.3)  # its server still ends the last test, or does not listen yet
    raise AssertionError(said["error"])


@pytest.mark.parametrize("way", ["TO_HERE", "TO_THERE"])
@pytest.mark.parametrize("streams", [1, 4])
def test_the_link_probe_keeps_up_with_iperf3(
    ledger: Ledger, sizes: Sizes, cable: tuple[str, Network], way: str, streams: int
) -> None:
    shape, network = cable
    pairs = by_turns(
        sizes.pairs // 2, lambda: ours(network, way, streams), lambda: theirs(network, way, streams)
    )
    middle = statistics.median(mine for mine, _ in pairs) * 8 / 1e9
    name = f"link {shape}, {way.lower().replace('_', ' ')}, {streams} streams / iperf3"
    ledger.at_least(name, [mine / its for mine, its in pairs], BAR, note=f" {middle:.3g} Gbit/s")
