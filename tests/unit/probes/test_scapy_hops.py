"""Hops by packets of our own making, in networks whose routers do not answer everything."""

from __future__ import annotations

import socket
import subprocess
import sys

import pytest

from pathtrace.model.network import PathFacts
from pathtrace.probes import scapy_hops
from pathtrace.probes.path import PathProbe
from pathtrace.probes.scapy_hops import hops_by_scapy
from tests.unit.probes.networks import ROOT, Network, network
from tests.unit.probes.responders import clock

__all__ = ["network"]

A, R_A, R_S, S_R, S_B, B = (
    *("10.78.1.1", "10.78.1.254"),
    *("10.78.2.1", "10.78.2.254"),
    *("10.78.3.254", "10.78.3.1"),
)


def two_routers(network: Network) -> None:
    """a - r - s - b."""
    network.add("a", "r", "s", "b")
    mtus = (1500, 1500)
    network.cable("a", "r", mtus, (f"{A}/24", f"{R_A}/24"))
    network.cable("r", "s", mtus, (f"{R_S}/24", f"{S_R}/24"))
    network.cable("s", "b", mtus, (f"{S_B}/24", f"{B}/24"))
    for host, gateway in (("a", R_A), ("r", S_R), ("s", R_S), ("b", S_B)):
        network.on(host, f"ip route add default via {gateway}")
    for router in ("r", "s"):
        network.on(router, "sysctl -qw net.ipv4.ip_forward=1")


def ways(facts: PathFacts) -> list[str | None]:
    return [hop.address for hop in facts.hops]


def by_scapy(facts: PathFacts) -> list[str]:
    return [text for text in facts.evidence if "scapy" in text]


def test_without_the_privilege_nothing_is_sent_and_scapy_stays_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(family: int) -> None:
        raise PermissionError

    monkeypatch.setattr(scapy_hops, "RawSockets", refused)
    assert hops_by_scapy(socket.AF_INET, "127.0.0.1", 445, clock) is None


def test_the_probe_of_the_way_is_imported_without_scapy() -> None:
    code = f"import sys, {PathProbe.__module__}; sys.exit('scapy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


@pytest.mark.needs_root
class TestAcrossANetwork:
    def test_a_router_that_is_silent_about_udp_is_found_and_it_is_said_how(self, network: Network) -> None:
        two_routers(network)
        network.on("s", "iptables -t mangle -A PREROUTING -p udp -m ttl --ttl-lt 2 -j DROP")
        with network.responder("b", B):  # anything that listens
            facts = network.look("a", B, port=7411)
        assert ways(facts) == [R_A, S_R, B]
        assert "2 routers between, by UDP packets with few hops to live" in facts.evidence
        assert by_scapy(facts) == ["hop 2 by scapy: TCP SYN to port 7411 and ICMP echo with few hops to live"]
        assert all(0 < (hop.rtt_s or 0) < 0.5 for hop in facts.hops)

    def test_where_udp_and_connects_are_filtered_the_way_is_found_all_the_same(
        self, network: Network
    ) -> None:
        two_routers(network)
        network.on("r", "iptables -A FORWARD -p udp -j DROP")
        network.on("b", "iptables -A INPUT -p tcp -j DROP")
        facts = network.look("a", B, port=445)
        assert ways(facts) == [R_A, S_R, B]
        assert by_scapy(facts) == [
            "2 routers between, by scapy: TCP SYN to port 445 and ICMP echo with few hops to live"
        ]
        assert facts.connect_s is None
        bare = network.look("a", B)
        assert by_scapy(bare) == ["2 routers between, by scapy: ICMP echo with few hops to live"]
        assert bare.took_s < 8

    def test_a_router_that_answers_nothing_stays_a_gap(self, network: Network) -> None:
        two_routers(network)
        network.on("s", "iptables -A OUTPUT -p icmp --icmp-type time-exceeded -j DROP")
        facts = network.look("a", B, port=445)
        assert ways(facts) == [R_A, None, B]
        assert by_scapy(facts) == []

    def test_a_filter_of_this_host_that_drops_the_answers_does_not_hide_them(self, network: Network) -> None:
        two_routers(network)
        network.on("a", "iptables -A INPUT -p icmp -j DROP")
        with network.responder("b", B):
            facts = network.look("a", B, port=7411)
        assert ways(facts) == [R_A, S_R, B]
        assert facts.connect_s is not None

    def test_no_connection_is_left_half_open_on_the_service(self, network: Network) -> None:
        two_routers(network)
        network.on("r", "iptables -A FORWARD -p udp -j DROP")
        network.on("s", "iptables -A OUTPUT -p icmp --icmp-type time-exceeded -j DROP")
        with network.responder("b", B):
            facts = network.look("a", B, port=7411)
            left = network.on("b", "ss -Htn state syn-recv")
        assert ways(facts) == [R_A, None, B]
        assert left == ""

    def test_a_host_that_says_nothing_at_all_ends_in_silence_soon(self, network: Network) -> None:
        two_routers(network)
        network.on("b", "iptables -A INPUT -j DROP")
        facts = network.look("a", B, port=445)
        assert (facts.hops, by_scapy(facts)) == ((), [])
        assert "the way could not be followed: nobody on it answers" in facts.evidence
        assert facts.took_s < 8

    def test_ipv6_is_followed_the_same_way(self, network: Network) -> None:
        network.add("a", "r", "b")
        network.cable("a", "r", (1500, 1500), ("fd78:1::1/64", "fd78:1::fe/64"))
        network.cable("r", "b", (1500, 1500), ("fd78:2::fe/64", "fd78:2::1/64"))
        network.on("a", "ip -6 route add default via fd78:1::fe")
        network.on("b", "ip -6 route add default via fd78:2::fe")
        network.on("r", "sysctl -qw net.ipv6.conf.all.forwarding=1")
        network.look("a", "fd78:2::1")  # interfaces that have just come up take a second to find each other
        network.on("r", "ip6tables -A FORWARD -p udp -j DROP")
        with network.responder("b", "fd78:2::1"):
            network.on("b", "ip6tables -A INPUT -p tcp --syn -m hl --hl-gt 60 -j DROP")
            facts = network.look("a", "fd78:2::1", port=7411)
        assert ways(facts) == ["fd78:1::fe", "fd78:2::1"]
        assert by_scapy(facts) == [
            "1 router between, by scapy: TCP SYN to port 7411 and ICMP echo with few hops to live"
        ]
