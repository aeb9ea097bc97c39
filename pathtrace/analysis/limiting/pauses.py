"""Time that passes without anybody's CPU: whether it is a fixed pause, and how that is said."""

from __future__ import annotations

from pathtrace.analysis.limiting.limit import Limit
from pathtrace.analysis.summary import Spell, StageFigures
from pathtrace.units import format_duration

FIXED = 0.15
"""A spread (ninetieth less tenth percentile, over the median) that small is a fixed pause."""


def pause_text(what: str, idle: Spell) -> str:
    """A fixed part, with the percentiles that show it."""
    return (
        f"p10 {format_duration(idle.p10_s)}, p90 {format_duration(idle.p90_s)} without CPU: a fixed pause of "
        f"about {format_duration(idle.p10_s)} at each {what}"
    )


def is_fixed(idle: Spell | None) -> bool:
    """True if nearly every operation waits equally long."""
    return idle is not None and idle.p50_s > 0 and idle.p90_s - idle.p10_s <= FIXED * idle.p50_s


def wait_limit(figures: StageFigures, place: str, seen: tuple[str, ...], share: float) -> Limit:
    """Nothing busy while time passes; the fixed part is named where there is one."""
    idle = figures.idle
    if idle is not None and is_fixed(idle):
        text = pause_text("call", idle)
    elif idle is not None:
        text = (
            f"p10 {format_duration(idle.p10_s)}, p90 {format_duration(idle.p90_s)} of a call pass without CPU"
        )
    else:
        text = "time passes without CPU"
    return Limit(f"wait:{place}", (text, *seen), utilisation=max(0.0, 1 - share))
