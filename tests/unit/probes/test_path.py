from __future__ import annotations

import asyncio
import socket
import sys

import pytest

from pathtrace.model.network import PathFacts
from pathtrace.probes.path import PathProbe
from tests.unit.probes.networks import Network, network
from tests.unit.probes.responders import clock, listening

__all__ = ["network"]

on_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the kernel's error queue")

A, R_A, R_B, B = "10.78.1.1", "10.78.1.254", "10.78.2.254", "10.78.2.1"


def routed(network: Network, near_mtu: int = 1500, far_mtu: int = 1500) -> None:
    """a - r - b."""
    network.add("a", "r", "b")
    network.cable("a", "r", (near_mtu, near_mtu), (f"{A}/24", f"{R_A}/24"))
    network.cable("r", "b", (far_mtu, far_mtu), (f"{R_B}/24", f"{B}/24"))
    network.on("a", f"ip route add default via {R_A}")
    network.on("b", f"ip route add default via {R_B}")
    network.on("r", "sysctl -qw net.ipv4.ip_forward=1")


def direct(network: Network, mtus: tuple[int, int]) -> None:
    """a - b, whose ends may think differently of what passes."""
    network.add("a", "b")
    network.cable("a", "b", mtus, (f"{A}/24", "10.78.1.2/24"))


def ways(facts: PathFacts) -> list[str | None]:
    return [hop.address for hop in facts.hops]


@on_linux
@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_this_host_is_reached_directly(address: str) -> None:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        server = socket.create_server((address, 0), family=family)
    except OSError:
        pytest.skip("no IPv6 here")
    with server:
        facts = asyncio.run(PathProbe("here", address, server.getsockname()[1], clock).look())
    assert (ways(facts), facts.routed, facts.black_hole) == ([address], False, False)
    assert facts.path_mtu_bytes == facts.interface_mtu_bytes
    assert 0 < (facts.connect_s or 0) < 1
    assert facts.took_s < 2
    assert facts.evidence[0].startswith("a TCP connect to port ")
    assert facts.evidence[1] == "no router between, by UDP packets with few hops to live"


@on_linux
def test_a_port_that_refuses_is_told_and_gives_no_time() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    facts = asyncio.run(PathProbe("here", "127.0.0.1", port, clock).look())
    assert facts.connect_s is None
    assert facts.evidence[0] == f"port {port} refuses connections"


@on_linux
def test_a_responders_echo_measures_packets_both_ways() -> None:
    with listening() as there:
        client = there.client()
        facts = asyncio.run(PathProbe("here", "127.0.0.1", None, clock, client).look())
        client.close()
    assert (facts.path_mtu_bytes, facts.black_hole) == (facts.interface_mtu_bytes, False)
    assert facts.evidence[-1] == f"packets of {facts.path_mtu_bytes} bytes pass whole both ways"


def test_a_responder_that_refuses_costs_only_what_it_would_have_told() -> None:
    with listening() as there:
        facts = asyncio.run(
            PathProbe("here", "127.0.0.1", None, clock, there.client("some other token")).look()
        )
    assert facts.host == "here"


@pytest.mark.needs_root
class TestAcrossANetwork:
    def test_a_router_is_seen_and_the_smaller_mtu_behind_it_found(self, network: Network) -> None:
        routed(network, 1500, 1400)
        facts = network.look("a", B)
        assert (ways(facts), facts.routed) == ([R_A, B], True)
        assert (facts.interface_mtu_bytes, facts.path_mtu_bytes, facts.black_hole) == (1500, 1400, False)
        again = network.look("a", B)  # what the kernel has learnt meanwhile does not count as the interface's
        assert (again.interface_mtu_bytes, again.path_mtu_bytes) == (1500, 1400)

    def test_a_router_that_says_nothing_about_large_packets_is_a_black_hole(self, network: Network) -> None:
        routed(network, 1500, 1400)
        network.on("r", "iptables -A OUTPUT -p icmp --icmp-type fragmentation-needed -j DROP")
        facts = network.look("a", B)
        assert ways(facts) == [R_A, B]
        assert facts.black_hole is True
        assert facts.path_mtu_bytes is not None
        assert 1280 <= facts.path_mtu_bytes <= 1400
        assert facts.took_s < 8
        with network.responder("b", B) as responder:
            exact = network.look("a", B, responder=responder)
        assert (exact.path_mtu_bytes, exact.black_hole) == (1400, True)

    def test_ends_that_differ_are_found_out_by_the_responder_direction_by_direction(
        self, network: Network
    ) -> None:
        direct(network, (9000, 1500))
        with network.responder("b", "10.78.1.2") as responder:
            facts = network.look("a", "10.78.1.2", responder=responder)
        assert (facts.interface_mtu_bytes, facts.path_mtu_bytes, facts.black_hole) == (9000, 1500, True)
        # A port lets pass what a packet of its MTU has with a VLAN tag of 4 bytes.
        assert "packets of 1504 bytes pass there, larger ones do not" in facts.evidence
        assert "packets of 1500 bytes pass back, larger ones do not" in facts.evidence
        assert facts.took_s < 8

    def test_large_packets_pass_where_all_agree(self, network: Network) -> None:
        direct(network, (9000, 9000))
        with network.responder("b", "10.78.1.2") as responder:
            facts = network.look("a", "10.78.1.2", responder=responder)
        assert (facts.path_mtu_bytes, facts.black_hole, facts.routed) == (9000, False, False)

    def test_tcp_follows_the_way_where_udp_is_filtered(self, network: Network) -> None:
        routed(network)
        network.on("b", "iptables -A INPUT -p udp -j DROP")
        with network.responder("b", B):  # anything that listens
            facts = network.look("a", B, port=7411)
        assert ways(facts) == [R_A, B]
        assert 0 < (facts.connect_s or 0) < 1
        assert "1 router between, by TCP packets with few hops to live" in facts.evidence
        assert (facts.path_mtu_bytes, facts.black_hole) == (None, None)

    def test_a_host_behind_a_filter_costs_a_few_seconds_and_nothing_is_claimed(
        self, network: Network
    ) -> None:
        routed(network)
        network.on("b", "iptables -A INPUT -j DROP")
        facts = network.look("a", B, port=445)
        assert facts.took_s < 8
        assert (facts.hops, facts.routed, facts.path_mtu_bytes, facts.black_hole) == ((), None, None, None)
        assert facts.evidence == (
            "port 445 does not answer",
            "the way could not be followed: nobody on it answers",
            "the host says nothing about packets that arrive",
        )

    def test_an_address_that_nobody_has_ends_in_silence(self, network: Network) -> None:
        direct(network, (1500, 1500))
        facts = network.look("a", "10.78.1.77", port=445)
        assert (facts.hops, facts.connect_s, facts.path_mtu_bytes) == ((), None, None)
        assert facts.took_s < 8

    def test_no_route_is_told(self, network: Network) -> None:
        network.add("a")
        facts = network.look("a", "10.78.9.9")
        assert (facts.hops, facts.path_mtu_bytes) == ((), None)
        assert facts.evidence[-1] == "no packet could be sent: Network is unreachable"

    def test_ipv6_is_followed_the_same_way(self, network: Network) -> None:
        network.add("a", "r", "b")
        network.cable("a", "r", (1500, 1500), ("fd78:1::1/64", "fd78:1::fe/64"))
        network.cable("r", "b", (1400, 1400), ("fd78:2::fe/64", "fd78:2::1/64"))
        network.on("a", "ip -6 route add default via fd78:1::fe")
        network.on("b", "ip -6 route add default via fd78:2::fe")
        network.on("r", "sysctl -qw net.ipv6.conf.all.forwarding=1")
        network.look("a", "fd78:2::1")  # interfaces that have just come up take a second to find each other
        facts = network.look("a", "fd78:2::1")
        assert ways(facts) == ["fd78:1::fe", "fd78:2::1"]
        assert (facts.interface_mtu_bytes, facts.path_mtu_bytes, facts.black_hole) == (1500, 1400, False)
