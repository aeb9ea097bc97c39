"""Is this host quiet? CPU, disks and network over a short sample, by the observers that a run has.

What pathtrace itself takes is left out of CPU; on disks and wires nothing else of ours goes on yet.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pathtrace.model.sample import Reading
from pathtrace.model.work import Clock
from pathtrace.observers.activity import ActivityWatch
from pathtrace.observers.disk import DiskObserver
from pathtrace.observers.interface import InterfaceObserver
from pathtrace.observers.interface_facts import interfaces as interface_facts
from pathtrace.units import format_link, format_ratio, seconds

SAMPLE_S = 2.0
ASSUMED_BYTES_PER_S = 125e6
"""1 Gbit/s, where an interface does not say how fast it is (wireless and virtual ones)."""

_TRAFFIC = ("rx_bytes", "tx_bytes")

Readings = Sequence[Reading]


@dataclass(frozen=True, slots=True)
class Use:
    """How busy one thing is, as a ratio of what it can do, and in words what is meant."""

    ratio: float
    words: str


def busy(uses: Sequence[Use], below: float) -> str | None:
    """What is not below ``below``, in words, the busiest first; None if it is quiet."""
    found = sorted((each for each in uses if each.ratio >= below), key=lambda each: -each.ratio)
    return "; ".join(each.words for each in found) or None


async def sample(host: str, clock: Clock) -> tuple[Use, ...]:
    """Watch for ``SAMPLE_S``. What cannot be seen here is not in it."""
    watch, disks, interfaces = ActivityWatch(host, (), clock), DiskObserver(), InterfaceObserver()
    watch.begin()
    began_ns = clock()
    first = (*disks.observe(began_ns), *interfaces.observe(began_ns))
    await asyncio.sleep(SAMPLE_S)
    ended_ns = clock()
    last = (*disks.observe(ended_ns), *interfaces.observe(ended_ns))
    wall_s = seconds(ended_ns - began_ns)
    activity = watch.end()
    speeds = {each.name: each.speed_bytes_per_s for each in interface_facts()}
    found = (*disk_use(first, last, wall_s), *network_use(first, last, wall_s, speeds))
    if activity.cpu_percent is None:
        return found
    named = f" ({', '.join(activity.notable)})" if activity.notable else ""
    ratio = activity.cpu_percent / 100
    return Use(ratio, f"CPU {format_ratio(ratio)} busy with other work{named}"), *found


def disk_use(first: Readings, last: Readings, wall_s: float) -> tuple[Use, ...]:
    """Of the time that passed, how long the busiest disk had requests. A partition is busy with its disk."""
    busy_s = {disk: value for (disk, metric), value in _grown(first, last).items() if metric == "busy_s"}
    if not busy_s:
        return ()
    disk = max(busy_s, key=lambda name: (busy_s[name], -len(name)))
    ratio = min(1.0, busy_s[disk] / wall_s)
    return (Use(ratio, f"disk {disk} {format_ratio(ratio)} busy"),)


def network_use(
    first: Readings, last: Readings, wall_s: float, speeds: Mapping[str, float | None]
) -> tuple[Use, ...]:
    """The busiest interface, the direction that carries more, of its speed. Loopback is no network."""
    used: dict[str, tuple[float, float]] = {}
    for (name, metric), moved in _grown(first, last).items():
        if metric in _TRAFFIC and not name.startswith("lo"):
            rate = moved / wall_s
            used[name] = max(
                used.get(name, (0.0, 0.0)), (rate / (speeds.get(name) or ASSUMED_BYTES_PER_S), rate)
            )
    if not used:
        return ()
    name = max(used, key=lambda each: used[each])
    ratio, rate = used[name]
    return (Use(ratio, f"network {name} carries {format_link(rate)}, {format_ratio(ratio)} of its speed"),)


def _grown(first: Readings, last: Readings) -> dict[tuple[str, str], float]:
    before = {(each.subject, each.metric): each.value for each in first}
    return {
        key: max(0.0, each.value - before[key])
        for each in last
        if (key := (each.subject, each.metric)) in before
    }
