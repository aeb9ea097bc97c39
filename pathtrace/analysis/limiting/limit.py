"""The shape of a rule's answer, and the thresholds that several rules share.

``busy`` thresholds are method.md's: 85 % of a core or a device, 80 % of a tracer or disk ceiling.
"""

from __future__ import annotations

from dataclasses import dataclass

from pathtrace.units import format_duration, format_ratio

FULL = 0.85
"""A core, a device or an operation's time is taken up by one thing."""
NEAR_CEILING = 0.8
BEYOND = 1.25
"""Above what was measured alone by more than two timings of it differ: then that was no ceiling."""
NEAR_TRACER = 0.6
"""Two timings of the same code path differ by noise; well above half of it the path itself is what costs."""
MOSTLY = 0.5
SLIGHT = 0.1
TIE = 0.1
SHARED_CPU = 0.3
"""CPU share that a program still shows when it competes for a full machine."""
HELD_BACK = 0.3
"""Share of the time in which a program wants to run and may not: a quota, a full machine."""

# Of hops that cross a network.
LINK_FULL = 0.9
"""Of a link's measured or computed ceiling."""
MOSTLY_FULL = 0.75
"""Of the time: a link that is at its ceiling that long holds, though pauses lower the mean."""
FEW_STEPS = 10
"""Looks at a counter, below which its course over time says nothing."""
WELL_BELOW = 0.8
"""Of a link's ceiling: what is below it was held by something else."""
IDLE_LINK = 0.5
LOSSY = 0.002
"""Lost or late segments per segment, above which a connection slows down noticeably."""
FEW_LOST = 10
"""So few lost segments are chance."""
VERY_LOSSY = 0.01
"""As much is never just a link that is filled: also where its ceiling is not known."""
TRICKLE = 0.5
"""Of a link's ceiling: below it a path that swallows large packets is what holds."""
SERVED = 0.5
"""Of the bytes asked for: if fewer crossed the wire, or came off a disk, a cache served the rest."""
AMPLIFIED = 1.2
OTHERS = 0.1
"""Share of a link's bytes that makes other traffic worth saying."""
FAR_TRACER = 0.8
"""Of what the same protocol does against memory, over a network."""
SHORT_TRIP_S = 0.0002
"""Round trips as short as that are less than what a server itself takes to answer."""
ONE_BY_ONE = 1.5
"""Requests that one after the other would take longer than that share of an operation go out together."""
FEW_TRIPS = 3.0
"""An operation that takes no longer than so many round trips is made of them."""
SMALL_OPERATION_TRIPS = 6.0
"""The same, of opening, reading and closing a small file, where requests cannot be counted."""
REQUEST_BYTES = 64
"""The least that a request of any protocol takes, but a database's."""
STATEMENT_BYTES = 10
"""The same of a database: BEGIN, as it is sent."""
QUEUE_FULL_BYTES = 1_000_000
"""Received and not yet taken: whoever should take it is slow."""
FAR_SPAN_S = 1.0
FAR_LOOKS = 2
"""Other hosts tell about twice a second: a stretch that is shorter, or has fewer looks in it, cannot be told
from the executions beside it."""
LONG_PAUSE_S = 0.02
ALONE = 0.01
"""Of an interface's payload: if others moved no more, its counter is the hop's own."""
OTHER_CORES = 0.25
OTHER_DISK_BYTES_PER_S = 1_000_000
"""What another job on a host must at least use to be worth saying: cores, and bytes of its disk."""
SLOW_LINK = 0.7
"""Of its nominal speed; less is a finding."""
SLOW_WIFI = 0.35
MEASURED_ABOVE = 1.05
"""Of what an interface carries: a measurement above it cannot be."""

UNKNOWN = "unknown"
TRACER = "tracer"


@dataclass(frozen=True, slots=True)
class Limit:
    """What bounds a stage while it works. ``utilisation`` (0 to 1) is how full that resource was."""

    resource: str
    evidence: tuple[str, ...]
    also: tuple[str, ...] = ()
    next_measurement: str | None = None
    utilisation: float | None = None


def unknown(evidence: tuple[str, ...], next_measurement: str) -> Limit:
    """No rule had enough evidence: say what was seen and what would tell."""
    return Limit(UNKNOWN, evidence, next_measurement=next_measurement)


def per_operation(total_s: float, operations: int) -> str:
    """Mean time of one operation, for people."""
    return format_duration(total_s / operations) if operations else "nothing"


def cores_text(cores: float) -> str:
    """Cores used, for people: ``0.93 of a core``, ``1.8 cores``."""
    return f"{format_ratio(cores)} of a core" if cores < 1.05 else f"{cores:.1f} cores"
