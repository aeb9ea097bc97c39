"""What a line of ``expect`` allows: ``20 s`` at most, or ``+20%`` more time than the baseline took.

Only the grammar: which names there are, and what was measured, others know.
"""

from __future__ import annotations

from dataclasses import dataclass

from pathtrace.errors import UsageError
from pathtrace.units import parse_duration, parse_ratio

_HINT = "write the longest time that is fine, as in 20 s, or how much more than the baseline: +20%"


@dataclass(frozen=True, slots=True)
class Allowed:
    """One of the two is set. ``more``: as a ratio of the baseline's time, 0.2 for ``+20%``."""

    most_s: float | None
    more: float | None


def read_allowed(text: str) -> Allowed:
    """UsageError if it is neither a duration of more than nothing nor a surplus in per cent."""
    written = text.strip()
    if written.startswith("+"):
        try:
            return Allowed(None, parse_ratio(written[1:]))
        except UsageError as error:
            raise UsageError(f"{text!r} allows nothing: {error.message}", hint=_HINT) from error
    if written.endswith("%"):
        raise UsageError(f"{text!r} does not say of what, and in which direction", hint=_HINT)
    try:
        most_s = parse_duration(written)
    except UsageError as error:
        raise UsageError(error.message, hint=f"{error.hint}; {_HINT}" if error.hint else _HINT) from error
    if not most_s:
        raise UsageError(f"{text!r}: nothing takes no time at all", hint=_HINT)
    return Allowed(most_s, None)
