"""Two runs -> a comparison: may they be compared, what differs, which times changed, is the output the same.

Joins the modules that hold the rules; the sentences are in ``comparison_words``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from pathtrace.analysis.comparing.arrival import Seen
from pathtrace.analysis.comparing.change_cost import bought, change_cost
from pathtrace.analysis.comparing.comparability import (
    layer_facts,
    refusals,
    undecided_data,
    workload_differences,
)
from pathtrace.analysis.comparing.comparison_words import REFUSED, sentences
from pathtrace.analysis.comparing.differences import cause, differences, require_known
from pathtrace.analysis.comparing.noise_floor import Floor, between_runs, noise_floor
from pathtrace.analysis.comparing.ratios import compare_times, spread_of
from pathtrace.analysis.comparing.repeat_times import FlowTimes, repeat_times
from pathtrace.analysis.comparing.run_facts import Facts, setup_facts, workload_facts
from pathtrace.analysis.comparing.same_output import same_output
from pathtrace.analysis.comparing.scoring import fitting, scored, unscored
from pathtrace.model.comparison import (
    ActivityPair,
    Compared,
    Comparison,
    Difference,
    LikeTimes,
    Output,
    RunName,
    StoredPrediction,
)
from pathtrace.model.report import FlowReport, HopReport, Report
from pathtrace.model.run import Run

NOTHING_MEASURED = FlowTimes((), {}, 0)
BUSY_PERCENT = 10.0
"""Of all cores: other work above it is worth a doubt."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A run with what its own analysis said."""

    run: Run
    report: Report


def compare(
    before: Measured,
    after: Measured,
    *,
    changed: Sequence[str] = (),
    history: Sequence[LikeTimes] = (),
    predictions: Sequence[StoredPrediction] = (),
    prices: Sequence[str] = (),
) -> Comparison:
    """``changed``: what was meant to differ (UsageError if nothing is called so).

    ``history``: of runs like ``before``. ``predictions``: kept with it, oldest first. ``prices``: of what
    differs, ``lan=120``.
    """
    work = workload_differences(before.run, after.run, changed)
    old, new = _facts(before.run), _facts(after.run)
    if changed:
        everything = [old, new, *(workload_facts(each.run.scenario) for each in (before, after))]
        require_known(changed, (before.run, after.run), everything)
    found = (*work, *differences(old, new, changed))
    reasons = refusals(before.run, after.run, work)
    whole = Comparison(
        before=_name(before.run),
        after=_name(after.run),
        comparable=not reasons,
        reasons=reasons,
        verdict=REFUSED,
        cause=cause(found, changed),
        differences=found,
        flows=(),
        hops=(),
        output=Output(None, (), (None, None), False),
        activity=tuple(_activity(before.run, after.run)),
        predictions=(),
    )
    return (
        whole if reasons else _with_times(whole, before, after, work, changed, history, predictions, prices)
    )


def _with_times(
    whole: Comparison,
    before: Measured,
    after: Measured,
    work: Sequence[Difference],
    changed: Sequence[str],
    history: Sequence[LikeTimes],
    predictions: Sequence[StoredPrediction],
    prices: Sequence[str],
) -> Comparison:
    days = {each.name: between_runs(each.medians_s) for each in history}
    times = (repeat_times(before.run), repeat_times(after.run))
    seen = Seen(whole.differences, changed, after.run)
    foretold = fitting(predictions, seen)
    paid = foretold.price if foretold is not None else None
    floors = _Floors(days, whole.activity, before.run.id == after.run.id)
    flows = tuple(_flows(before.report, after.report, times, floors))
    beside = scored(foretold, flows)
    done = replace(
        whole,
        flows=flows,
        hops=tuple(_hops(before.report, after.report, times, floors)),
        output=same_output(before.run, before.report, after.run, after.report, work),
        predictions=beside,
        unscored=() if beside else unscored(predictions, foretold, flows, seen),
        cost=change_cost(prices, paid, bought(whole.differences, changed), before.report, flows),
        caveats=tuple(_doubts(before.run, after.run, whole, changed, days)),
    )
    return replace(done, verdict=sentences(done))


def _facts(run: Run) -> Facts:
    return {**setup_facts(run), **layer_facts(run)}


def _name(run: Run) -> RunName:
    return RunName(run.id, run.label, run.started_at)


_Times = tuple[Mapping[str, FlowTimes], Mapping[str, FlowTimes]]
_Days = Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class _Floors:
    """What two like runs differ by anyway, by flow and ``flow/hop``."""

    days: _Days
    activity: Sequence[ActivityPair]
    alike: bool
    """Both are the same run: nothing lies between them."""

    def of(self, name: str) -> Floor | None:
        return None if self.alike else noise_floor(self.days.get(name), self.activity)


def _flows(before: Report, after: Report, times: _Times, floors: _Floors) -> Iterator[Compared]:
    """In the later run's order; what only the earlier one has would be another workload."""
    old = {flow.name: flow for flow in before.flows}
    for new in after.flows:
        was = old.get(new.name)
        series = tuple(each.get(new.name, NOTHING_MEASURED) for each in times)
        pair = _pair(series[0].flow, series[1].flow, floors.of(new.name))
        yield replace(
            pair,
            flow=new.name,
            name=new.name,
            waits=new.waits,
            errors=(series[0].errors, series[1].errors),
            p99_s=(_p99(before, new.name), _p99(after, new.name)),
            limited_by=(_bottleneck(was), _bottleneck(new)),
        )


def _hops(before: Report, after: Report, times: _Times, floors: _Floors) -> Iterator[Compared]:
    old = {(hop.flow, hop.name): hop for hop in before.hops}
    waits = {flow.name: flow.waits for flow in after.flows}
    for new in after.hops:
        was = old.get((new.flow, new.name))
        series = [each.get(new.flow, NOTHING_MEASURED).hops.get(new.name, ()) for each in times]
        pair = _pair(series[0], series[1], floors.of(f"{new.flow}/{new.name}"))
        yield replace(
            pair,
            flow=new.flow,
            name=new.name,
            waits=waits.get(new.flow, "nobody"),
            errors=(was.errors if was else 0, new.errors),
            p99_s=(was.latency.p99_s if was else None, new.latency.p99_s),
            limited_by=(_limit(was), _limit(new)),
        )


def _pair(before: Sequence[float], after: Sequence[float], floor: Floor | None) -> Compared:
    return Compared(
        flow="",
        name="",
        waits="nobody",
        before_s=median(before) if before else None,
        after_s=median(after) if after else None,
        ratio=compare_times(before, after, floor),
        repeats=(len(before), len(after)),
        spread=(spread_of(before), spread_of(after)),
        errors=(0, 0),
        p99_s=(None, None),
        limited_by=("unknown", "unknown"),
    )


def _p99(report: Report, flow: str) -> float | None:
    return next((each.latency.p99_s for each in report.requests if each.flow == flow), None)


def _bottleneck(flow: FlowReport | None) -> str:
    return flow.bottleneck if flow is not None else "unknown"


def _limit(hop: HopReport | None) -> str:
    return hop.limited_by.resource if hop is not None else "unknown"


def _activity(before: Run, after: Run) -> Iterator[ActivityPair]:
    old = {each.host: each for each in before.activity}
    new = {each.host: each for each in after.activity}
    for host in dict.fromkeys((*old, *new)):
        was, now = old.get(host), new.get(host)
        yield ActivityPair(
            host,
            (was.cpu_percent if was else None, now.cpu_percent if now else None),
            (was.disk_bytes_per_s if was else None, now.disk_bytes_per_s if now else None),
            (was.network_bytes_per_s if was else None, now.network_bytes_per_s if now else None),
        )


def _doubts(before: Run, after: Run, whole: Comparison, changed: Sequence[str], days: _Days) -> Iterator[str]:
    for run, which in ((before, "the earlier"), (after, "the later")):
        if run.status != "complete":
            yield f"{which} run is {run.status}: only what was measured is compared"
    for place in undecided_data(before, after):
        yield f"the data of {place} has no fingerprint in both runs: that it is the same is not proved"
    if changed and not any(each.expected for each in whole.differences):
        yield f"{', '.join(changed)} was expected to differ, and nothing that is known of it does"
    for pair in whole.activity:
        if any((percent or 0) > BUSY_PERCENT for percent in pair.cpu_percent):
            was, now = ("not known" if cpu is None else f"{cpu:.0f} %" for cpu in pair.cpu_percent)
            yield f"other work on {pair.host}: CPU {was} before, {now} after; repeat when it is quiet"
    if not any(value is not None for value in days.values()) and before.id != after.id:
        yield (
            "there is no history of like runs: how much one day differs from another is not in the intervals"
        )
