"""What each resource of a scenario does alone: the answer of ``pathtrace probe``."""

from __future__ import annotations

from dataclasses import dataclass

from pathtrace.model.network import PathFacts, Route
from pathtrace.model.report import Caveat
from pathtrace.model.run import Ceiling, Reached
from pathtrace.model.scenario import Scenario

LINK_NOT_MEASURED = "link-not-measured"
"""The caveat of a link whose ceiling is arithmetic, or not known."""


@dataclass(frozen=True, slots=True)
class Probed:
    """What probes found. ``took_s``: all of them, one after the other."""

    ceilings: tuple[Ceiling, ...] = ()
    paths: tuple[PathFacts, ...] = ()
    caveats: tuple[Caveat, ...] = ()
    took_s: float = 0.0


@dataclass(frozen=True, slots=True)
class ProbeReport:
    """``reached``: every place that a flow goes through, also those that could not be used."""

    scenario: Scenario
    reached: tuple[Reached, ...]
    routes: tuple[Route, ...]
    probed: Probed

    @property
    def complete(self) -> bool:
        """True if every place was reached and every link that hops use was measured."""
        missing = any(caveat.code == LINK_NOT_MEASURED for caveat in self.probed.caveats)
        return not missing and all(each.fault is None for each in self.reached)
