"""Values -> the JSON documents that scripts rely on. Names of keys are a promise: add, rename nothing.

Absent knowledge is null, never 0. How a document is written to a stream belongs to ``cli`` and ``store``.
"""

from __future__ import annotations

from pathtrace.model.check import CheckReport, MemoryPart, PlaceCheck
from pathtrace.model.report import (
    CapacityReport,
    DatasetReport,
    Estimate,
    FlowReport,
    RankingEntry,
    RepeatReport,
    Report,
    RequestsReport,
    ResourceReport,
)
from pathtrace.model.run import Activity, OwnCost, Run
from pathtrace.model.scenario import Scenario, Workload
from pathtrace.model.work import PlaceFacts
from pathtrace.render import figures
from pathtrace.render.conditions import start_layers, start_word
from pathtrace.render.environment import environment
from pathtrace.render.figures import Document, Json
from pathtrace.render.until import until_document
from pathtrace.render.ways import path_document, route_document
from pathtrace.units import seconds

RUN_FORMAT = "pathtrace.run/1"
CHECK_FORMAT = "pathtrace.check/1"


def run_document(run: Run, report: Report) -> Document:
    """The ``pathtrace.run/1`` document of a run and its report."""
    document: Document = {
        "format": RUN_FORMAT,
        "id": run.id,
        "label": run.label,
        "status": run.status,
        "started_at": run.started_at,
        "duration_s": run.duration_s,
        "scenario": scenario_summary(run.scenario),
        "workload": workload(run.scenario.workload),
        "dataset": {entry.place: _dataset(entry) for entry in report.dataset},
        "capacity": {entry.subject: _capacity(entry) for entry in report.capacity},
        "start_condition": _start_condition(run),
        "environment": environment(run.environment),
        "other_activity": _other_activity(run),
        "hops": [figures.hop(hop) for hop in report.hops],
        "flows": [_flow(flow) for flow in report.flows],
        "requests": _requests(report, run.scenario),
        "after_idle": [{"idle_s": each.after_idle_s, **_request(each)} for each in report.after_idle],
        "resources": [_resource(resource) for resource in report.resources],
        "ranking": [_ranking(entry) for entry in report.ranking],
        "findings": [figures.finding(finding) for finding in report.findings],
        "checks": _checks(run),
        "caveats": [figures.caveat(caveat) for caveat in report.caveats],
        "repeats": [_repeat(repeat) for repeat in report.repeats],
        "routes": [route_document(route) for route in run.routes],
        "paths": [path_document(path) for path in run.paths],
        "own_cost": _own_cost(run.cost),
        "until": until_document(run.until),
    }
    return {key: figures.finite(value) for key, value in document.items()}


def check_document(report: CheckReport) -> Document:
    """The ``pathtrace.check/1`` document: what is there and what a run would need."""
    estimate = report.estimate
    control = report.scenario.control
    document: Document = {
        "format": CHECK_FORMAT,
        "scenario": scenario_summary(report.scenario),
        "usable": report.usable,
        "places": [_place_check(place) for place in report.places],
        "per_repeat": {"read_bytes": report.read_bytes, "write_bytes": report.write_bytes},
        "repeats": control.repeats,
        "budget": {"bytes": control.budget_bytes, "time_s": control.budget_s},
        "estimated_time_s": {"low": estimate.low_s, "high": estimate.high_s, "basis": estimate.basis},
        "memory": {
            entry.host: {
                "needed_bytes": entry.needed_bytes,
                "available_bytes": entry.available_bytes,
                "total_bytes": entry.total_bytes,
                "high_bytes": entry.high_bytes,
                "gpu_bytes": entry.gpu_bytes,
                "parts": [_memory_part(part) for part in entry.parts],
            }
            for entry in report.memory
        },
        "room": {
            entry.subject: {
                "path": entry.path,
                "needed_bytes": entry.needed_bytes,
                "free_bytes": entry.free_bytes,
                "high_bytes": entry.high_bytes,
                "basis": entry.basis,
            }
            for entry in report.room
        },
        "routes": [route_document(route) for route in report.routes],
        "paths": [path_document(path) for path in report.paths],
        "caveats": [figures.caveat(caveat) for caveat in report.caveats],
    }
    return {key: figures.finite(value) for key, value in document.items()}


def scenario_summary(scenario: Scenario) -> Document:
    return {
        "name": scenario.name,
        "question": scenario.question,
        "workload_fingerprint": scenario.workload_fingerprint,
        "setup_fingerprint": scenario.setup_fingerprint,
        "source": scenario.source,
    }


def workload(value: Workload) -> Document:
    """The workload as its author described it: what was not stated is null, also where a default applied."""
    model = value.model
    stated: Document = {
        "application": value.application,
        "model": {name: getattr(model, name) for name in type(model).__dataclass_fields__},
        "users": value.users[0] if len(value.users) == 1 else list(value.users),
        "rate_per_s": value.rate_per_s,
        "requests": value.requests,
        "acceptable_wait_s": value.acceptable_wait_s,
        "requests_per_day": value.requests_per_day,
        "documents_per_day": value.documents_per_day,
        "loads_per_day": value.loads_per_day,
        "prompts": list(value.prompts),
    }
    defaulted = ("users", "requests", "requests_per_day", "documents_per_day", "loads_per_day", "prompts")
    silent = {name for name in defaulted if name not in value.stated}
    return {name: None if name in silent else given for name, given in stated.items()}


def _dataset(entry: DatasetReport) -> Document:
    return {
        "files": entry.files,
        "bytes": entry.bytes,
        "fingerprint": entry.fingerprint,
        "sparse_bytes": entry.sparse_bytes,
        "listing_s": entry.listing_s,
    }


def _capacity(entry: CapacityReport) -> Document:
    return {
        "total_bytes": entry.total_bytes,
        "used_bytes": entry.used_bytes,
        "needed_bytes": entry.needed_bytes,
    }


def _start_condition(run: Run) -> Document:
    return {
        "start": start_word(run),
        "layers": {
            layer.name: {"state": layer.state, "evidence": layer.evidence} for layer in start_layers(run)
        },
    }


def _other_activity(run: Run) -> Document:
    """Every host of the scenario; null where nobody looked."""
    unseen: Document = {host.name: None for host in run.scenario.hosts}
    return unseen | {activity.host: _activity(activity) for activity in run.activity}


def _activity(activity: Activity) -> Document:
    return {
        "cpu_percent": activity.cpu_percent,
        "disk_bytes_per_s": activity.disk_bytes_per_s,
        "network_bytes_per_s": activity.network_bytes_per_s,
        "notable": list(activity.notable),
    }


def _flow(flow: FlowReport) -> Document:
    return {
        "name": flow.name,
        "frequency": flow.frequency,
        "waits": flow.waits,
        "duration_s": _spread(flow.duration_s),
        "bottleneck": flow.bottleneck,
        "critical_path": [
            {"hop": part.hop, "stage": part.stage, "resource": part.resource, "seconds": part.seconds}
            for part in flow.critical_path
        ],
    }


def _spread(estimate: Estimate | None) -> Json:
    if estimate is None:
        return None
    return {"median": estimate.value, "low": estimate.low, "high": estimate.high}


def _own_cost(cost: OwnCost | None) -> Json:
    """What measuring itself took; ratios are of the wall time of all repeats."""
    if cost is None:
        return None
    return {
        "recording_ratio": cost.recording_ratio,
        "observing_ratio": cost.observing_ratio,
        "sample_s": seconds(cost.sample_ns),
        "probes_s": cost.probes_s,
        "observers": {each.observer: each.ratio for each in cost.observers},
    }


def _requests(report: Report, scenario: Scenario) -> Json:
    """null without requests; a list where ``users`` is a list (or several flows answer requests)."""
    entries: list[Json] = [_request(entry) for entry in report.requests]
    if not entries:
        return None
    return entries if len(scenario.workload.users) > 1 or len(entries) > 1 else entries[0]


def _request(entry: RequestsReport) -> Document:
    return {
        "count": entry.count,
        "users": entry.users,
        "per_s": entry.per_s,
        "latency": figures.latency(entry.latency),
        "time_to_first_token_s": entry.time_to_first_token_s,
        "tokens_per_s": entry.tokens_per_s,
        "within_acceptable_wait": entry.within_acceptable_wait,
    }


def _resource(resource: ResourceReport) -> Document:
    return {
        "name": resource.name,
        "kind": resource.kind,
        "ceiling_bytes_per_s": resource.ceiling_bytes_per_s,
        "ceiling_operations_per_s": resource.ceiling_operations_per_s,
        "ceiling_latency_s": resource.ceiling_latency_s,
        "ceiling_source": resource.ceiling_source,
        "utilisation": resource.utilisation,
        "direction": resource.direction,
    }


def _ranking(entry: RankingEntry) -> Document:
    return {
        "rank": entry.rank,
        "flow": entry.flow,
        "hop": entry.hop,
        "stage": entry.stage,
        "resource": entry.resource,
        "frequency": entry.frequency,
        "waits": entry.waits,
        "seconds_per_day": entry.seconds_per_day,
        "seconds_per_execution": entry.seconds_per_execution,
        "share": entry.share,
        "advice": entry.advice,
    }


def _repeat(repeat: RepeatReport) -> Document:
    return {
        "index": repeat.index,
        "duration_s": repeat.duration_s,
        "start_condition": repeat.start_condition,
        "hops": {
            f"{hop.flow}/{hop.hop}": {
                "duration_s": hop.duration_s,
                "bytes": hop.bytes,
                "operations": hop.operations,
            }
            for hop in repeat.hops
        },
        "outlier": repeat.outlier,
    }


def _memory_part(part: MemoryPart) -> Document:
    return {
        "name": part.name,
        "place": part.place,
        "low_bytes": part.low_bytes,
        "high_bytes": part.high_bytes,
        "basis": part.basis,
    }


def _place_check(place: PlaceCheck) -> Document:
    facts = place.facts or PlaceFacts(summary="")
    return {
        "name": place.name,
        "kind": place.kind,
        "host": place.host,
        "summary": facts.summary or None,
        "files": facts.files,
        "bytes": facts.bytes,
        "read_bytes": facts.read_bytes,
        "write_bytes": facts.write_bytes,
        "sparse_bytes": facts.sparse_bytes,
        "warnings": list(facts.warnings),
        "fault": place.fault,
        "hint": place.hint,
    }


def _checks(run: Run) -> Document | None:
    """null where nothing was asked: quality unchecked."""
    if not run.checks:
        return None
    return {"asked": len(run.checks), "passed": sum(check.passed for check in run.checks)}
