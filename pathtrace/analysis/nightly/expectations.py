"""What a scenario expects of a scan, held against what was measured; what of it is new, and what is over.

``index: 20 s`` is held against the median execution, of a flow of requests against the median request (a
hop: the median operation). ``index: +20%`` is held against the baseline's time, and is broken only where the
flow surely is slower.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pathtrace.model.expectation import Allowed, read_allowed
from pathtrace.model.history import ENDED, NEW, STANDING, Told
from pathtrace.model.report import Latency, Report
from pathtrace.model.scanning import EXPECTATION, Beside, Expectation
from pathtrace.model.scenario import FrequencyKind, Scenario

NOTHING_YET = "there is nothing yet to hold it against"
NOT_MEASURED = "it was not measured"


def judge(
    scenario: Scenario, report: Report | None, besides: Sequence[Beside], told: Sequence[Told] = ()
) -> tuple[Expectation, ...]:
    """Each line of ``expect``, in their order. ``told``: of this scenario, oldest first."""
    known = {each.name: each for each in besides}
    measured = _measured(scenario, report) if report is not None else {}
    broken = standing(told, EXPECTATION)
    return tuple(
        with_state(_one(name, said, measured, known.get(name)), name in broken)
        for name, said in scenario.control.expect
    )


def standing(told: Sequence[Told], kind: str) -> Mapping[str, str]:
    """Names of a kind that were told and not told to be over, and since which night."""
    last = {each.name: each for each in told if each.kind == kind}
    return {name: each.since for name, each in last.items() if each.state == NEW}


def state_of(bad: bool | None, told: bool) -> str | None:
    """New, standing or ended; None where there is nothing to tell. ``bad`` None: it cannot be said."""
    if bad is None:
        return STANDING if told else None
    if bad:
        return STANDING if told else NEW
    return ENDED if told else None


def with_state(each: Expectation, told: bool) -> Expectation:
    """``told``: that it is broken was told before."""
    return replace(each, state=state_of(None if each.kept is None else not each.kept, told))


def _one(name: str, said: str, measured: Mapping[str, float], known: Beside | None) -> Expectation:
    allowed = read_allowed(said)
    if allowed.more is not None:
        return _relative(name, said, allowed.more, name in measured, known)
    return _absolute(name, said, allowed, measured.get(name))


def _absolute(name: str, said: str, allowed: Allowed, took_s: float | None) -> Expectation:
    if took_s is None or allowed.most_s is None:
        return Expectation(name, said, allowed.most_s, None, None, NOT_MEASURED)
    return Expectation(name, said, allowed.most_s, took_s, took_s <= allowed.most_s)


def _relative(name: str, said: str, more: float, measured: bool, known: Beside | None) -> Expectation:
    if known is None:
        return Expectation(name, said, None, None, None, NOTHING_YET if measured else NOT_MEASURED)
    broken = known.low > 1 and known.ratio > 1 + more
    reason = None
    if not broken and known.ratio > 1 + more:
        reason = "it took longer, and by less than days differ anyway"
    return Expectation(name, said, known.then_s * (1 + more), known.now_s, not broken, reason)


def _measured(scenario: Scenario, report: Report) -> dict[str, float]:
    """Seconds by flow and hop, as an absolute limit means them."""
    asked = {each.name for each in scenario.flows if each.frequency.kind is FrequencyKind.PER_REQUEST}
    found: dict[str, float | None] = {}
    for flow in report.flows:
        found[flow.name] = flow.duration_s.value if flow.duration_s else None
    for request in reversed(report.requests):  # of several load levels the first one counts
        found[request.flow] = _typical(request.latency)
    for hop in report.hops:
        took_s = _typical(hop.latency) if hop.flow in asked else hop.duration_s
        found[f"{hop.flow}/{hop.name}"] = took_s
    return {name: value for name, value in found.items() if value is not None}


def _typical(latency: Latency) -> float | None:
    """The median; of so few that there is none, the slowest."""
    return latency.p50_s if latency.p50_s is not None else latency.max_s
