"""A link that others use while it is probed: what they carry then is part of what it can.

Watches this host's interface while a probe measures, which alone would take for the link what others left.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from pathtrace.model.run import Ceiling
from pathtrace.model.work import Clock
from pathtrace.observers.interface import InterfaceObserver
from pathtrace.ports import Probe
from pathtrace.probes.responder_client import Way
from pathtrace.units import NANOSECONDS_PER_SECOND, format_link, seconds

LOOK_S = 0.1
SUSTAINED_NS = NANOSECONDS_PER_SECOND
"""A rate that the link kept up for as long, not a burst."""
OTHERS = 0.1
HEADER_BYTES = 66
"""Ethernet, IPv4 and TCP with timestamps, of each packet that the interface counts."""


class Look(NamedTuple):
    at_ns: int
    bytes: float
    packets: float

    @property
    def payload(self) -> float:
        return self.bytes - HEADER_BYTES * self.packets


async def measured_beside_others(
    probe: Probe, interface: str | None, way: Way, clock: Clock
) -> Ceiling | None:
    """The probe's ceiling, with what others carried meanwhile added. Errors of the probe pass through."""
    looks: list[Look] = []
    watching = asyncio.create_task(_watch(interface, way, clock, looks), name="interface watch")
    try:
        ceiling = await probe.measure()
    finally:
        watching.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await watching
    return None if ceiling is None else with_others(ceiling, most_payload_per_s(looks))


async def _watch(interface: str | None, way: Way, clock: Clock, looks: list[Look]) -> None:
    observer, side = InterfaceObserver(), "rx" if way is Way.TO_HERE else "tx"
    while interface is not None:
        now = clock()
        seen = {each.metric: each.value for each in observer.observe(now) if each.subject == interface}
        if f"{side}_bytes" in seen and f"{side}_packets" in seen:
            looks.append(Look(now, seen[f"{side}_bytes"], seen[f"{side}_packets"]))
        await asyncio.sleep(LOOK_S)


def most_payload_per_s(looks: Sequence[Look]) -> float | None:
    """The best rate that was kept up for a second; None if nobody looked as long."""
    best, first = None, 0
    for look in looks:
        while first + 1 < len(looks) and look.at_ns - looks[first + 1].at_ns >= SUSTAINED_NS:
            first += 1
        took_ns = look.at_ns - looks[first].at_ns
        if took_ns >= SUSTAINED_NS:
            rate = (look.payload - looks[first].payload) / seconds(took_ns)
            best = rate if best is None else max(best, rate)
    return best


def with_others(ceiling: Ceiling, carried: float | None) -> Ceiling:
    """``carried``: payload per second of all that crossed the interface meanwhile."""
    own = ceiling.bytes_per_s
    if own is None or carried is None or carried <= (1 + OTHERS) * own:
        return ceiling
    text = f"{ceiling.evidence}; others carried {format_link(carried - own)} beside it, which counts too"
    return replace(ceiling, bytes_per_s=carried, evidence=text)
