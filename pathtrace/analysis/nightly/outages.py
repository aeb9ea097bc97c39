"""Flows and hops that can no longer be measured, and that can be again.

A single night is nothing; two of three are told, and two measured ones in a row end it. No spread is
involved: a night has a figure or has none.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from pathtrace.analysis.nightly.night_series import MEASURED, flow_of
from pathtrace.model.history import HistoryEntry

MISSED, OF_NIGHTS = 2, 3
BACK = 2
_KNOWN = 30
"""Nights before, in which something was measured that is missed now."""


def missing(nights: Sequence[HistoryEntry]) -> dict[str, int]:
    """What is missed tonight and was in enough of the last nights: its name, index of the first of these.

    A flow of which nothing is left stands alone, without its hops.
    """
    if len(nights) <= OF_NIGHTS:
        return {}
    last = range(len(nights) - OF_NIGHTS, len(nights))
    seen = {index: _measured(nights[index]) for index in last}
    found = {}
    for name in _known(nights):
        missed = [index for index in last if name not in seen[index]]
        if len(missed) >= MISSED and missed[-1] == last[-1]:
            found[name] = missed[0]
    return {name: at for name, at in found.items() if name == flow_of(name) or flow_of(name) not in found}


def is_back(nights: Sequence[HistoryEntry], name: str) -> bool:
    """True if the last nights in a row measured it."""
    return len(nights) >= BACK and all(name in _measured(entry) for entry in nights[-BACK:])


def missed_nights(nights: Sequence[HistoryEntry], name: str, at: int) -> int:
    """How many nights from ``at`` on did not measure it."""
    return sum(name not in _measured(entry) for entry in nights[at:])


def missed_throughout(nights: Sequence[HistoryEntry], name: str, at: int) -> bool:
    """True if it has not been there for two nights in a row since ``at``."""
    here = [name in _measured(entry) for entry in nights[at:]]
    return not any(one and other for one, other in pairwise(here))


def _known(nights: Sequence[HistoryEntry]) -> tuple[str, ...]:
    names: dict[str, None] = {}
    for entry in nights[-_KNOWN - OF_NIGHTS :]:
        names.update(dict.fromkeys(took.name for took in entry.took))
    return tuple(names)


def _measured(entry: HistoryEntry) -> frozenset[str]:
    if entry.status not in MEASURED:
        return frozenset()
    return frozenset(took.name for took in entry.took)
