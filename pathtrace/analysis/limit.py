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
