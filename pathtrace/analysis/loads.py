"""What loads bring to light: several people at once, a model after an idle time, answers that were checked.

Findings only; the figures themselves are other modules'.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pathtrace.analysis.evidence import Evidence
from pathtrace.analysis.frequency.idle_loads import IdleLoads, idle_loads
from pathtrace.model.report import Finding, RequestsReport
from pathtrace.units import format_count_rate, format_duration, format_ratio

MORE = 1.1
"""Above this ratio two load levels differ by more than their noise, roughly."""


def load_findings(evidence: Evidence, asked: Sequence[RequestsReport]) -> tuple[Finding, ...]:
    """In the order in which they matter. ``asked``: at each load level, and after each idle gap."""
    return (
        *_after_idle(evidence, asked),
        *_levels([report for report in asked if report.after_idle_s is None]),
        *_checks(evidence),
    )


def _levels(requests: Sequence[RequestsReport]) -> Iterator[Finding]:
    """The least against the most people at once, flow by flow."""
    for flow in dict.fromkeys(report.flow for report in requests):
        mine = sorted((each for each in requests if each.flow == flow), key=lambda each: each.users)
        few, many = mine[0], mine[-1]
        if few.users == many.users or not (few.per_s and many.per_s):
            continue
        if few.latency.p50_s is None or many.latency.p50_s is None:
            continue
        more, longer = many.per_s / few.per_s, many.latency.p50_s / few.latency.p50_s
        yield Finding(
            "load-levels",
            f"{flow} with {many.users} people at once instead of {few.users}: "
            f"{_in_all(more)}, {_each(longer)}",
            tuple(_level_text(each) for each in mine),
        )


def _in_all(ratio: float) -> str:
    return f"{ratio:.1f} times as much in all" if ratio >= MORE else "no more in all"


def _each(ratio: float) -> str:
    return f"each waits {ratio:.1f} times as long" if ratio >= MORE else "nobody waits longer"


def _level_text(report: RequestsReport) -> str:
    rate = format_count_rate(report.per_s or 0.0)
    return f"{report.users}: {rate}, an answer takes {format_duration(report.latency.p50_s or 0.0)}"


def _after_idle(evidence: Evidence, asked: Sequence[RequestsReport]) -> Iterator[Finding]:
    """The first answer after a pause, and the weights that a model's server took in for it."""
    for flow in evidence.run.scenario.flows:
        model = evidence.model_place(flow, len(flow.stages) - 1)
        mine = [report for report in asked if report.flow == flow.name]
        for report in mine:
            if report.after_idle_s is None:
                continue
            longer = _longer(evidence, report, mine)
            again = idle_loads(evidence, model, report.after_idle_s) if model else None
            if again is not None:
                yield _loaded_again(evidence, str(model), again, longer)
            elif longer is not None:
                pause = format_duration(report.after_idle_s)
                yield Finding("after-idle", f"{flow.name}: after {pause} without requests {longer}", ())


def _loaded_again(evidence: Evidence, model: str, again: IdleLoads, longer: str | None) -> Finding:
    source = f"{again.source} of the server behind {model}"
    hop = f"{evidence.weights_of(model)}->{model}"
    per_day = again.loading_s * evidence.run.scenario.workload.loads_per_day
    cost = (
        f"the first answer waits at least {format_duration(again.loading_s)} for it: "
        f"{format_duration(per_day)} a day"
    )
    return Finding("frequency", f"{hop}: {again.text}", (source, cost, *([longer] if longer else [])))


def _longer(evidence: Evidence, after: RequestsReport, asked: Sequence[RequestsReport]) -> str | None:
    """How much later the first answer begins than the others of one person; None if it does not."""
    usual = min((each for each in asked if each.after_idle_s is None), key=lambda each: each.users)
    begins = after.time_to_first_token_s is not None and usual.time_to_first_token_s is not None
    first_s = after.time_to_first_token_s if begins else after.latency.p50_s
    usual_s = usual.time_to_first_token_s if begins else usual.latency.p50_s
    if first_s is None or usual_s is None or first_s < MORE * usual_s:
        return None
    more_s = first_s - usual_s
    per_day = more_s * evidence.run.scenario.workload.loads_per_day
    what = "the first answer begins after" if begins else "the first answer takes"
    return (
        f"{what} {format_duration(first_s)} instead of {format_duration(usual_s)}: "
        f"{format_duration(more_s)} more, {format_duration(per_day)} a day"
    )


def _checks(evidence: Evidence) -> Iterator[Finding]:
    results = evidence.run.checks
    if not results:
        return
    passed = sum(result.passed for result in results)
    text = f"{passed} of {len(results)} checks passed ({format_ratio(passed / len(results))})"
    failed = tuple(
        f"{result.ask!r}: not found: {', '.join(result.missing)}" for result in results if not result.passed
    )
    yield Finding("checks", text, failed or ("every expected document or word was found",))
