"""What the lab's network is made of: namespaces, cables between them, bridges, subnets of its own.

Both ends of a cable are born inside the lab's namespaces, so that nothing ever shows up on the machine's
own network and everything goes with the namespaces.
"""

from __future__ import annotations

import contextlib
import errno
import socket
import subprocess
from collections.abc import Iterator

from lab_leftovers import Claim

from .hosts import Host


def make_host(claim: Claim, name: str, namespace: str, address: str) -> Host:
    """A host without cables. Its TCP uses cubic where there is cubic, as most hosts do."""
    claim.will_make_namespace(namespace)
    done = subprocess.run(["ip", "netns", "add", namespace], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"ip netns add {namespace}: {done.stderr.strip()}")
    host = Host(name, namespace, address)
    host.run("ip", "link", "set", "dev", "lo", "up")
    # What a connection learnt on yesterday's link must not slow down the next one.
    host.run("sysctl", "-qw", "net.ipv4.tcp_no_metrics_save=1")
    return host


def add_bridge(switch: Host, bridge: str) -> None:
    switch.run("ip", "link", "add", "name", bridge, "type", "bridge")
    switch.run("ip", "link", "set", "dev", bridge, "up")


def attach(switch: Host, device: str, bridge: str) -> None:
    switch.run("ip", "link", "set", "dev", device, "master", bridge, "up")


def lay_cable(host: Host, interface: str, switch: Host, port: str, bridge: str) -> None:
    """A cable from the host's `interface`, which gets the host's address, to a `port` of the bridge."""
    ends = ["name", interface, "type", "veth", "peer", "name", port, "netns", switch.namespace]
    host.run("ip", "link", "add", *ends)
    attach(switch, port, bridge)
    host.run("ip", "address", "add", f"{host.address}/24", "dev", interface)
    host.run("ip", "link", "set", "dev", interface, "up")
    _prefer_cubic(host, interface)


def _prefer_cubic(host: Host, interface: str) -> None:
    """By the route, as a namespace may not choose what the machine restricts; bbr would shrug off losses."""
    if "cubic" not in host.run("sysctl", "-n", "net.ipv4.tcp_available_congestion_control").split():
        return
    subnet = host.address.rpartition(".")[0] + ".0/24"
    route = [subnet, "dev", interface, "proto", "kernel", "scope", "link", "src", host.address]
    host.run("ip", "route", "replace", *route, "congctl", "cubic")


class Subnets:
    """Numbers out of 10.77.0.0/16 that no other lab on this machine uses now.

    A number is held by a name of the machine's abstract sockets, which a dead process holds no longer.
    """

    def __init__(self, locks: contextlib.ExitStack) -> None:
        self._locks = locks

    def take(self) -> str:
        """The first three bytes of a free /24, such as ``10.77.4``."""
        for number in range(1, 255):
            lock = socket.socket(socket.AF_UNIX)
            try:
                lock.bind(f"\0pathtrace-lab-subnet-{number}")
            except OSError as error:
                lock.close()
                if error.errno != errno.EADDRINUSE:
                    raise
                continue
            self._locks.enter_context(lock)
            return f"10.77.{number}"
        raise RuntimeError("all 254 subnets of the lab are in use")


@contextlib.contextmanager
def subnets() -> Iterator[Subnets]:
    with contextlib.ExitStack() as locks:
        yield Subnets(locks)
