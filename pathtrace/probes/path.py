"""The way to a host: routers between, the largest packet that passes, how long a connect takes.

A few seconds at most, also where everything is filtered; needs no privilege, though with it also routers are
seen that the kernel's error queue does not tell of. Away from Linux only the time of a connect is known.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
import statistics
from dataclasses import dataclass

from pathtrace.model.network import PathFacts, PathHop
from pathtrace.model.work import Clock
from pathtrace.probes.do_not_fragment import can_probe
from pathtrace.probes.link_protocol import LinkError
from pathtrace.probes.path_hops import hops_by_tcp, hops_by_udp
from pathtrace.probes.path_mtu import PathMtu, by_echo, by_udp
from pathtrace.probes.responder_client import ResponderClient
from pathtrace.probes.scapy_hops import ScapyWay, hops_by_scapy
from pathtrace.units import format_duration, seconds

_CONNECTS = 5
_CONNECT_S = 1.0
_FEW = " with few hops to live"
_NOBODY = "the way could not be followed: nobody on it answers"
_NOT_HERE = PathMtu(None, None, None, ("this system does not tell what becomes of large packets",))

Hops = tuple[PathHop, ...]


class PathProbe:
    """Looks at the way to ``address`` (numeric). ``port``: of a service there, which gets a few connects
    that are closed at once. ``client``: a session with a responder on that host, where there is one.
    """

    def __init__(
        self, host: str, address: str, port: int | None, clock: Clock, client: ResponderClient | None = None
    ) -> None:
        self._host = host
        self._address = address
        self._port = port
        self._clock = clock
        self._client = client
        numeric = ipaddress.ip_address(address)
        self._family = socket.AF_INET6 if numeric.version == 6 else socket.AF_INET

    async def look(self) -> PathFacts:
        """What could be found. LinkError never: without the responder less is known."""
        return await asyncio.to_thread(self._look)

    def _look(self) -> PathFacts:
        start = self._clock()
        connects = self._connects()
        hops, by = self._hops(connects.answered)
        mtu = self._mtu()
        return PathFacts(
            host=self._host,
            address=self._address,
            hops=hops,
            path_mtu_bytes=mtu.path_bytes,
            interface_mtu_bytes=mtu.interface_bytes,
            black_hole=mtu.black_hole,
            connect_s=connects.median_s,
            evidence=(*connects.evidence, *by, *mtu.evidence),
            took_s=seconds(self._clock() - start),
        )

    def _connects(self) -> _Connects:
        if self._port is None:
            return _Connects(None, answered=False, evidence=())
        times: list[float] = []
        for _ in range(_CONNECTS):
            start = self._clock()
            try:
                with socket.create_connection((self._address, self._port), timeout=_CONNECT_S):
                    times.append(seconds(self._clock() - start))
            except ConnectionRefusedError:
                return _Connects(None, answered=True, evidence=(f"port {self._port} refuses connections",))
            except OSError:
                if not times:
                    return _Connects(None, answered=False, evidence=(f"port {self._port} does not answer",))
        median_s = statistics.median(times)
        text = f"a TCP connect to port {self._port} takes {format_duration(median_s)}, of {len(times)}"
        return _Connects(median_s, answered=True, evidence=(text,))

    def _hops(self, port_answers: bool) -> tuple[Hops, tuple[str, ...]]:
        """The hops, and how they were found."""
        if not can_probe():
            return (), ()
        hops, by = hops_by_udp(self._family, self._address, self._clock), "UDP packets"
        if not hops and port_answers and self._port is not None:
            hops, by = hops_by_tcp(self._family, self._address, self._port, self._clock), "TCP packets"
        if hops and all(hop.address for hop in hops):  # there is nothing left to ask for
            return hops, (_between(hops, by),)
        crafted = hops_by_scapy(self._family, self._address, self._port, self._clock)
        if crafted is None:
            return hops, (_between(hops, by) if hops else _NOBODY,)
        return _joined(hops, by, crafted)

    def _mtu(self) -> PathMtu:
        if not can_probe():
            return _NOT_HERE
        if self._client is not None:
            with contextlib.suppress(LinkError, OSError):
                echo = self._client.echo()
                if echo is not None:
                    with contextlib.closing(echo):
                        found = by_echo(echo, self._family, self._address)
                    if found.path_bytes is not None:
                        return found
        return by_udp(self._family, self._address, self._clock)


def _joined(hops: Hops, by: str, crafted: ScapyWay) -> tuple[Hops, tuple[str, ...]]:
    """scapy's where the others were silent. Of ways that differ in length scapy's."""
    told_by = f"scapy: {crafted.told_by}"
    if len(hops) != len(crafted.hops):
        return crafted.hops, (_between(crafted.hops, told_by),)
    whole = tuple(hop if hop.address else other for hop, other in zip(hops, crafted.hops, strict=True))
    added = [
        f"hop {hop.number} by {told_by}{_FEW}"
        for hop, before in zip(whole, hops, strict=True)
        if hop.address and not before.address
    ]
    return whole, (_between(hops, by), *added)


def _between(hops: Hops, by: str) -> str:
    routers = len(hops) - 1
    between = "no router" if routers == 0 else "1 router" if routers == 1 else f"{routers} routers"
    return f"{between} between, by {by}{_FEW}"


@dataclass(frozen=True, slots=True)
class _Connects:
    """``answered``: a connect tells something, if only that nobody listens."""

    median_s: float | None
    answered: bool
    evidence: tuple[str, ...]
