from __future__ import annotations

import asyncio
import json
import re
import sys

import pytest

from pathtrace.errors import OperationError
from pathtrace.model.run import Ceiling
from pathtrace.probes.link import LinkProbe
from pathtrace.probes.link_protocol import LinkError, ResponderRefusedError
from pathtrace.probes.responder_client import ResponderClient, Way
from pathtrace.probes.responder_session import Session
from tests.unit.probes.networks import TOKEN, Network, network
from tests.unit.probes.responders import clock, listening

__all__ = ["network"]


def probe(client: ResponderClient, way: Way, streams: tuple[int, ...] = (1, 2)) -> LinkProbe:
    return LinkProbe(
        "link:lan", "nas->workstation", way, client, clock, length_s=0.1, warmup_s=0.02, streams=streams
    )


@pytest.mark.parametrize("way", Way)
def test_the_better_of_one_stream_and_several_is_the_ceiling_and_both_are_told(way: Way) -> None:
    with listening() as there:
        client = there.client()
        found = asyncio.run(probe(client, way).measure())
        client.close()
    assert found is not None
    assert (found.resource, found.direction, found.source) == ("link:lan", "nas->workstation", "measured")
    assert (found.bytes_per_s or 0) > 10e6
    assert 0 < (found.latency_s or 0) < 0.1
    assert found.operations_per_s is None
    head = r"from memory to memory by the responder, 100 ms each( \(\w+\))?; "
    form = head + r"1 stream (\S+) Gbit/s[^;]*; 2 streams (\S+) Gbit/s.*"
    match = re.fullmatch(form, found.evidence)
    assert match is not None, found.evidence
    best = max(float(match[2]), float(match[3]))
    assert best == pytest.approx((found.bytes_per_s or 0) * 8 / 1e9, rel=0.01)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the echo is Linux's")
def test_latency_is_told_idle_and_under_load() -> None:
    with listening() as there:
        client = there.client()
        found = asyncio.run(probe(client, Way.TO_HERE, (1,)).measure())
        client.close()
    assert found is not None
    assert re.search(
        r"; a small packet there and back takes [\d.]+ .?s idle, [\d.]+ .?s under load; ", found.evidence
    )


@pytest.mark.parametrize("way", Way)
def test_what_large_and_small_pieces_take_alone_is_told(way: Way) -> None:
    with listening() as there:
        client = there.client()
        found = asyncio.run(probe(client, way, (1,)).measure())
        client.close()
    assert found is not None
    times = r"[\d.]+ .?s \([\d.]+ .?s to [\d.]+ .?s, \d times?\)"
    assert re.search(rf"; alone 4 KiB take {times}, 64 KiB {times}, 1 MiB {times}$", found.evidence)


def test_of_a_responder_that_knows_no_pieces_the_rest_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    greeting = Session._greeting
    monkeypatch.setattr(
        Session,
        "_greeting",
        lambda self, echo: {k: v for k, v in greeting(self, echo).items() if k != "pieces"},
    )
    with listening() as there:
        client = there.client()
        found = asyncio.run(probe(client, Way.TO_HERE, (1,)).measure())
        client.close()
    assert found is not None
    assert found.bytes_per_s
    assert "alone" not in found.evidence


def test_both_directions_take_one_session() -> None:
    async def both(client: ResponderClient) -> list[Ceiling | None]:
        return [await probe(client, way, (1,)).measure() for way in Way]

    with listening() as there:
        client = there.client()
        found = asyncio.run(both(client))
        client.close()
        there.thread.join(10)
    assert all(each is not None and each.bytes_per_s for each in found)
    (served,) = there.responder.served
    assert served.sent_bytes > 0
    assert served.received_bytes > 0


def test_a_refused_token_is_an_error_that_says_what_to_do() -> None:
    with listening() as there, pytest.raises(ResponderRefusedError) as refused:
        asyncio.run(probe(there.client("not the right token"), Way.TO_HERE).measure())
    assert refused.value.hint == "PATHTRACE_TOKEN must be the same there"
    assert isinstance(refused.value, OperationError)


def test_a_probe_that_is_cancelled_ends_its_session() -> None:
    async def cancelled(client: ResponderClient) -> None:
        long = LinkProbe("link:lan", "a->b", Way.TO_HERE, client, clock, length_s=30, streams=(1,))
        task = asyncio.create_task(long.measure())
        while not client._data:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with listening() as there:
        asyncio.run(cancelled(there.client()))
        there.thread.join(10)
        assert not there.thread.is_alive()
    assert len(there.responder.served) == 1


_MEASURE = """
import asyncio, json, time
from pathtrace.errors import OperationError
from pathtrace.probes.link import LinkProbe
from pathtrace.probes.path import PathProbe
from pathtrace.probes.responder_client import ResponderClient, Way
client = ResponderClient({responder!r}, {token!r}, time.perf_counter_ns)
said = []
for way in Way:
    probe = LinkProbe("link:lan", way.name, way, client, time.perf_counter_ns, length_s=0.3)
    try:
        said.append(asyncio.run(probe.measure()).bytes_per_s)
    except OperationError as error:
        said.append(str(error))
facts = asyncio.run(PathProbe("nas", "10.78.1.2", None, time.perf_counter_ns, client).look())
client.close()
print(json.dumps([*said, facts.path_mtu_bytes, facts.black_hole]))
"""


def switched(network: Network, port_mtu: int) -> None:
    """a - switch - b, whose ends think that 9000 bytes pass."""
    network.add("a", "s", "b")
    network.on("s", "ip link add switch type bridge")
    for host, address in (("a", "10.78.1.1/24"), ("b", "10.78.1.2/24")):
        network.cable(host, "s", (9000, port_mtu), (address, "0.0.0.0/0"))
        network.on("s", f"ip link set to-{host} master switch")
        network.on(host, "ethtool -K to-s tso off gso off")  # single frames, as a real switch sees them
    network.on("s", "ip link set switch up")


@pytest.mark.needs_root
def test_where_large_packets_vanish_the_session_lives_on_to_say_so(network: Network) -> None:
    switched(network, 1500)
    with network.responder("b", "10.78.1.2") as responder:
        code = _MEASURE.format(responder=responder, token=TOKEN)
        to_here, to_there, mtu, black_hole = json.loads(network.on("a", sys.executable, "-c", code))
    assert to_here == "TO_HERE: connections are made, but no data arrives"
    assert to_there == "TO_THERE: connections are made, but no data arrives"
    assert (mtu, black_hole) == (1500, True)


def test_nobody_there_is_said_at_once() -> None:
    with pytest.raises(LinkError, match=r"^responder 127\.0\.0\.1:1: connection refused$"):
        asyncio.run(probe(ResponderClient("127.0.0.1:1", TOKEN, clock), Way.TO_HERE).measure())


def test_a_name_that_nobody_knows_is_said() -> None:
    with pytest.raises(LinkError, match=r"^responder nas\.invalid:7411: "):
        asyncio.run(probe(ResponderClient("nas.invalid", TOKEN, clock), Way.TO_HERE).measure())
