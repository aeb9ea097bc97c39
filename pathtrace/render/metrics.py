"""What one scan found as Prometheus text: gauges in base units, and nothing that was not measured.

One file may serve several scenarios: what others wrote stays. How the file is written is ``telling``'s.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from pathtrace.errors import UsageError
from pathtrace.model.history import COMPLETE, CREEP, ENDED, FAILED, GROWTH, OUTAGE, SKIPPED, STEP
from pathtrace.model.scanning import MEASURED, ScanReport

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

Labels = tuple[tuple[str, str], ...]
Value = tuple[str, Labels, float]

PREFIX = "pathtrace_"
_SUCCESS = "scan_last_success_timestamp_seconds"
_HELP: Mapping[str, str] = {
    "flow_duration_seconds": "Median time of one execution of a flow in the last scan.",
    "flow_duration_low_seconds": "Lower end of the interval of the median time of a flow.",
    "flow_duration_high_seconds": "Upper end of the interval of the median time of a flow.",
    "flow_baseline_ratio": "Time of a flow in the last scan over its time in the baseline.",
    "hop_duration_seconds": "Median time of a hop in one execution of its flow in the last scan.",
    "hop_duration_low_seconds": "Lower end of the interval of the median time of a hop.",
    "hop_duration_high_seconds": "Upper end of the interval of the median time of a hop.",
    "hop_baseline_ratio": "Time of a hop in the last scan over its time in the baseline.",
    "expectation_kept": "1 if a flow or hop keeps to what the scenario expects of it, else 0.",
    "changes": "Lasting changes that are not over, by kind.",
    "scan_outcome": "1 for what became of the last scan: measured, skipped or failed.",
    "scan_duration_seconds": "All that the last scan took itself, waiting for a quiet machine apart.",
    "scan_wait_seconds": "How long the last scan waited for a quiet machine.",
    "scan_last_timestamp_seconds": "When the last scan began, whatever became of it.",
    _SUCCESS: "When the last scan began that measured everything.",
}


def metrics_text(report: ScanReport, existing: str) -> str:
    """The file's new text. UsageError if ``existing`` is no such file: nothing of others is overwritten."""
    from prometheus_client import CollectorRegistry, generate_latest
    from prometheus_client.registry import Collector

    kept = _kept(existing)
    mine = list(_values(report))
    if not any(name == _SUCCESS for name, _, _ in mine):
        mine += [value for value in kept if value[0] == _SUCCESS and _is_of(value, report)]
    families = _families([*(value for value in kept if not _is_of(value, report)), *mine])

    class Kept(Collector):
        def collect(self) -> Iterable[Metric]:
            return families

    registry = CollectorRegistry()
    registry.register(Kept())
    return generate_latest(registry).decode("utf-8")


def _is_of(value: Value, report: ScanReport) -> bool:
    return ("scenario", report.entry.scenario) in value[1]


def _kept(text: str) -> list[Value]:
    """What the file holds, without what a version with other names wrote. UsageError."""
    from prometheus_client.parser import text_string_to_metric_families

    refused = UsageError(
        "the file is there and holds something else than metrics of pathtrace, so it was left as it is",
        hint="name another file, or remove it",
    )
    try:
        samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    except (ValueError, KeyError, IndexError) as error:
        raise refused from error
    if (text.strip() and not samples) or any(not each.name.startswith(PREFIX) for each in samples):
        raise refused
    read = (
        (each.name.removeprefix(PREFIX), tuple(each.labels.items()), float(each.value)) for each in samples
    )
    return [value for value in read if value[0] in _HELP]


def _families(values: Iterable[Value]) -> list[Metric]:
    from prometheus_client.core import GaugeMetricFamily

    families = {name: GaugeMetricFamily(PREFIX + name, text) for name, text in _HELP.items()}
    for name, labels, value in values:
        families[name].add_sample(PREFIX + name, dict(labels), value)
    return [family for family in families.values() if family.samples]


def _values(report: ScanReport) -> Iterator[Value]:
    """Every figure that there is: what is absent or no number is left out."""
    scenario = ("scenario", report.entry.scenario)
    for name, labels, value in (*_figures(report), *_verdicts(report), *_own(report)):
        if value is not None and math.isfinite(value):
            yield name, (scenario, *labels), value


def _figures(report: ScanReport) -> Iterator[tuple[str, Labels, float | None]]:
    for took in report.entry.took:
        kind, labels = _named(took.name)
        yield f"{kind}_duration_seconds", labels, took.median_s
        yield f"{kind}_duration_low_seconds", labels, took.low_s
        yield f"{kind}_duration_high_seconds", labels, took.high_s
    for beside in report.beside:
        kind, labels = _named(beside.name)
        yield f"{kind}_baseline_ratio", labels, beside.ratio


def _verdicts(report: ScanReport) -> Iterator[tuple[str, Labels, float | None]]:
    for expectation in report.expectations:
        kept = None if expectation.kept is None else float(expectation.kept)
        yield "expectation_kept", (("name", expectation.name),), kept
    if report.outcome == SKIPPED:
        return  # nothing was looked at, so how many changes stand is not known
    for kind in (STEP, CREEP, OUTAGE, GROWTH):
        standing = [each for each in report.changes if each.kind == kind and each.state != ENDED]
        yield "changes", (("kind", kind),), float(len(standing))


def _own(report: ScanReport) -> Iterator[tuple[str, Labels, float | None]]:
    for outcome in (MEASURED, SKIPPED, FAILED):
        yield "scan_outcome", (("outcome", outcome),), float(report.outcome == outcome)
    began = report.entry.at.timestamp()
    yield "scan_duration_seconds", (), report.scan_s
    yield "scan_wait_seconds", (), report.waited_s
    yield "scan_last_timestamp_seconds", (), began
    whole = report.outcome == MEASURED and report.entry.status == COMPLETE
    yield _SUCCESS, (), began if whole else None


def _named(name: str) -> tuple[str, Labels]:
    flow, _, hop = name.partition("/")
    return ("hop", (("flow", flow), ("hop", hop))) if hop else ("flow", (("flow", flow),))
