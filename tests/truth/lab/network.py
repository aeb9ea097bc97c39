"""The lab's network: hosts in namespaces, cables to a switch, and what can be wrong with them.

``with network(link="1gbit") as net`` gives the hosts `net.nas`, `net.workstation` and `net.db`, which
reach each other and nothing else; the machine's own network is not touched. It knows nothing of what
the hosts serve. Everything that runs on a host ends with the network.

Round trips, losses and a wrong MTU are planted while it is up and stay until its end.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from lab_leftovers import Claim, claimed, stop

from . import links
from .cabling import Subnets, add_bridge, attach, lay_cable, make_host, subnets
from .hosts import Host
from .links import why_not

__all__ = ["HOSTS", "Network", "network", "why_no_delay", "why_no_loss", "why_not"]

HOSTS = ("nas", "workstation", "db")
_RELAY = Path(__file__).with_name("relay.py")
_SMALL_BUCKET, _LESS_THAN_THE_BUCKET = "32kb", 30_000
_BRIDGE, _SECOND_BRIDGE = "br0", "br1"
_BRIDGED_TO_IPTABLES = Path("/proc/sys/net/bridge/bridge-nf-call-iptables")
_numbers = itertools.count(1)


@dataclass
class Network:
    """Hosts by name; each has a cable from its `eth0` to the port of the same name at the `switch`."""

    hosts: dict[str, Host]
    switch: Host
    _claim: Claim
    _subnets: Subnets
    _relays: dict[str, subprocess.Popen[str]] = field(default_factory=dict)

    @property
    def nas(self) -> Host:
        return self.hosts["nas"]

    @property
    def workstation(self) -> Host:
        return self.hosts["workstation"]

    @property
    def db(self) -> Host:
        return self.hosts["db"]

    def set_link(self, link: str, *names: str, burst: str | None = None) -> None:
        """Make the cables of the named hosts, or of all, as fast as `link` (of links.LINKS), both ways."""
        for name in names or self.hosts:
            links.shape(self.hosts[name], "eth0", link, burst)
            links.shape(self.switch, name, link, burst)

    def set_wire(self, link: str) -> None:
        """All cables as fast as `link`, with as little at once as can be: of a page fault's 128 KiB most
        would cross at memory speed otherwise. For connections that are made from now on."""
        for host in self.hosts.values():
            links.send_smaller_packets(host, "eth0", _LESS_THAN_THE_BUCKET)
        self.set_link(link, burst=_SMALL_BUCKET)

    def delay(self, name: str, rtt_s: float) -> None:
        """Make the way to a host and back `rtt_s` seconds longer, instead of what was planted before.

        The host's port moves to a bridge of its own; a relay of frames leads from there to the others.
        """
        far_side = f"{name}-far"
        if name in self._relays:
            self._end_relay(name)
        else:
            add_bridge(self.switch, far_side)
        near, far = f"{name}-a", f"{name}-b"
        relay = self.switch.start(
            [sys.executable, str(_RELAY), near, far, str(rtt_s / 2)], stdout=subprocess.PIPE, text=True
        )
        self._claim.started(relay.pid)
        self._relays[name] = relay
        if relay.stdout.readline() != "ready\n":
            raise RuntimeError(f"the relay to {name} did not start")
        for device, bridge in ((near, _BRIDGE), (far, far_side), (name, far_side)):
            attach(self.switch, device, bridge)

    def loss(self, name: str, share: float) -> None:
        """Lose this share of the data segments to and from a host, at random, in the switch.

        Acknowledgements pass. So that one loss is one segment and not the 45 that TSO sends as one, all
        hosts send single frames from now on, which costs CPU: far above 1 Gbit/s that may be the limit.
        Within a tenth of a millisecond a TCP makes up for 1 % at 1 Gbit/s: goodput falls at 10 Gbit/s
        or with a delay (40 Mbit/s at 2 ms).
        """
        if reason := why_no_loss():
            raise RuntimeError(reason)
        for host in self.hosts.values():
            links.send_single_frames(host, "eth0")
        self.switch.run("sysctl", "-qw", "net.bridge.bridge-nf-call-iptables=1")
        self.switch.run("iptables", "--flush", "FORWARD")
        for end in ("--source", "--destination"):
            data = ["-p", "tcp", end, self.hosts[name].address, "-m", "length", "--length", "500:65535"]
            chance = ["-m", "statistic", "--mode", "random", "--probability", str(share)]
            self.switch.run("iptables", "--append", "FORWARD", *data, *chance, "--jump", "DROP")

    def mtu_mismatch(self) -> None:
        """Hosts take frames of 9000 bytes for granted, the switch silently drops what exceeds 1500.

        Whatever fills a frame is lost for ever. Single frames, as a switch does not drop a TSO packet.
        """
        for host in self.hosts.values():
            host.run("ip", "link", "set", "dev", "eth0", "mtu", "9000")
            links.send_single_frames(host, "eth0")

    def try_smaller_segments(self) -> None:
        """Let hosts' TCP suspect a wrong MTU after timeouts: connections stall for seconds, then flow."""
        for host in self.hosts.values():
            host.run("sysctl", "-qw", "net.ipv4.tcp_mtu_probing=1")

    def second_cable(self, name: str, link: str = "100mbit") -> Host:
        """A second network beside the first: every host gets an `eth1` there, `name`'s is as fast as `link`.

        Returns the host with its address in that network; the usual one is still reached as before.
        """
        add_bridge(self.switch, _SECOND_BRIDGE)
        subnet = self._subnets.take()
        second = {each.name: replace(each, address=_in(subnet, each)) for each in self.hosts.values()}
        for host in second.values():
            lay_cable(host, "eth1", self.switch, f"{host.name}-2", _SECOND_BRIDGE)
        links.shape(second[name], "eth1", link)
        links.shape(self.switch, f"{name}-2", link)
        return second[name]

    def detour(self, second: Host, *, of: Host) -> None:
        """Let host `of` reach the usual address of `second`, from `second_cable`, over that second cable."""
        usual = self.hosts[second.name].address
        of.run("ip", "route", "replace", f"{usual}/32", "via", second.address, "dev", "eth1")

    def close(self) -> None:
        for name in list(self._relays):
            self._end_relay(name)

    def _end_relay(self, name: str) -> None:
        relay = self._relays.pop(name)
        stop(relay.pid)
        relay.wait()
        if relay.stdout is not None:
            relay.stdout.close()


@contextlib.contextmanager
def network(link: str = links.UNSHAPED, *, hosts: Sequence[str] = HOSTS) -> Iterator[Network]:
    """Bring up a network of these hosts and take it down at the end. RuntimeError where that cannot be."""
    if reason := why_not():
        raise RuntimeError(reason)
    with claimed("network") as claim, subnets() as free:
        prefix = f"ptlab-{os.getpid()}-{next(_numbers)}"
        subnet = free.take()
        switch = make_host(claim, "switch", f"{prefix}-switch", "")
        add_bridge(switch, _BRIDGE)
        made: dict[str, Host] = {}
        for number, name in enumerate(hosts, start=1):
            made[name] = make_host(claim, name, f"{prefix}-{name}", f"{subnet}.{number}")
            lay_cable(made[name], "eth0", switch, name, _BRIDGE)
        net = Network(made, switch, claim, free)
        try:
            net.set_link(link)
            yield net
        finally:
            net.close()


def why_no_delay() -> str | None:
    """Why no delay can be planted here, or None."""
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        return "a delay needs /dev/net/tun"
    return why_not()


def why_no_loss() -> str | None:
    """Why no loss can be planted here, or None."""
    if shutil.which("iptables") is None:
        return "losses need iptables"
    if not _BRIDGED_TO_IPTABLES.exists():
        return "losses need the kernel's br_netfilter (modprobe br_netfilter)"
    return why_not()


def _in(subnet: str, host: Host) -> str:
    return f"{subnet}.{host.address.rpartition('.')[2]}"
