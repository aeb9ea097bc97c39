"""How this host reaches another one: addresses, routes, the way between them. Bytes and seconds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a place's server is reached. ``port`` None: any (the helper of a mount chooses it)."""

    host: str
    """The scenario's name of the host."""
    address: str
    """Numeric, IPv4 or IPv6."""
    port: int | None


@dataclass(frozen=True, slots=True)
class Route:
    """What this host's routing table says of the way to an address."""

    host: str
    address: str
    interface: str
    source: str | None
    gateway: str | None
    """None: directly connected."""
    mtu_bytes: int | None
    interface_kind: str | None = None
    """As ``Interface.kind`` has it: through a tunnel bytes go another way than the cable's."""


@dataclass(frozen=True, slots=True)
class PathHop:
    """A router on the way; ``address`` None: it did not answer. The last one is the host itself."""

    number: int
    address: str | None
    rtt_s: float | None


@dataclass(frozen=True, slots=True)
class PathFacts:
    """The way to a host as probes found it. What could not be found is None."""

    host: str
    address: str
    hops: tuple[PathHop, ...]
    path_mtu_bytes: int | None
    """The largest packet (IP header included) that passes whole, in the worse direction that was tried."""
    interface_mtu_bytes: int | None
    black_hole: bool | None
    """True: larger packets that the interface sends vanish without a word."""
    connect_s: float | None
    """Median time of a TCP connect."""
    evidence: tuple[str, ...]
    took_s: float

    @property
    def routed(self) -> bool | None:
        """True if routers lie between; None if the way could not be followed."""
        return len(self.hops) > 1 if self.hops else None
