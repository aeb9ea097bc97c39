"""JSON-ready pieces of the values that several documents share.

Knows the documents' key names and that no NaN or infinity may stand in them; reads and writes nothing.
"""

from __future__ import annotations

import math

from pathtrace.model.report import (
    Caveat,
    Finding,
    First,
    FrequencyReport,
    HopReport,
    Latency,
    LimitedBy,
    Parts,
    Point,
    StageReport,
    Throughput,
    TimeUse,
    Wire,
)

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
Document = dict[str, Json]


def finite(value: Json) -> Json:
    """``value`` with every NaN and infinity, at any depth, replaced by null: JSON has no word for them."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: finite(part) for key, part in value.items()}
    if isinstance(value, list):
        return [finite(part) for part in value]
    return value


def latency(value: Latency) -> Document:
    return {"p50_s": value.p50_s, "p90_s": value.p90_s, "p99_s": value.p99_s, "max_s": value.max_s}


def time_use(value: TimeUse | None) -> Json:
    if value is None:
        return None
    return {"busy_s": value.busy_s, "starved_s": value.starved_s, "blocked_s": value.blocked_s}


def throughput(value: Throughput) -> Document:
    return {
        "bytes_per_s": value.bytes_per_s,
        "low": value.low,
        "high": value.high,
        "active_bytes_per_s": value.active_bytes_per_s,
        "operations_per_s": value.operations_per_s,
    }


def frequency(value: FrequencyReport) -> Document:
    return {
        "declared": value.declared,
        "observed": value.observed,
        "evidence": value.evidence,
        "bytes_per_request": value.bytes_per_request,
    }


def limited_by(value: LimitedBy) -> Document:
    return {
        "resource": value.resource,
        "also": list(value.also),
        "while_busy": value.while_busy,
        "evidence": list(value.evidence),
        "next_measurement": value.next_measurement,
    }


def caveat(value: Caveat) -> Document:
    return {"code": value.code, "text": value.text, "remedy": value.remedy, "subject": value.subject}


def finding(value: Finding) -> Document:
    return {"code": value.code, "text": value.text, "evidence": list(value.evidence)}


def stage(value: StageReport) -> Document:
    return {
        "action": value.action,
        "place": value.place,
        "workers": value.workers,
        "operations": value.operations,
        "bytes": value.bytes,
        "time": time_use(value.time),
        "latency": latency(value.latency),
        "parts": _parts(value.parts),
    }


def _parts(value: Parts | None) -> Json:
    """``stat_s`` is a part of ``setup_s``."""
    if value is None:
        return None
    return {
        "setup_s": value.setup_s,
        "stat_s": value.stat_s,
        "body_s": value.body_s,
        "finish_s": value.finish_s,
    }


def _point(value: Point) -> Document:
    return {
        "t_s": value.t_s,
        "bytes_per_s": value.bytes_per_s,
        "operations_per_s": value.operations_per_s,
    }


def hop(value: HopReport) -> Document:
    """One entry of ``hops``. ``wire`` is null where nothing crosses a network, or nobody counted."""
    return {
        "flow": value.flow,
        "name": value.name,
        "from": value.source,
        "to": value.destination,
        "phase": value.phase,
        "measured_from": value.measured_from,
        "stand_in": value.stand_in,
        "frequency": frequency(value.frequency),
        "operations": value.operations,
        "errors": value.errors,
        "bytes": value.bytes,
        "duration_s": value.duration_s,
        "active_s": value.active_s,
        "throughput": throughput(value.throughput),
        "latency": latency(value.latency),
        "time": time_use(value.time),
        "stages": [stage(part) for part in value.stages],
        "first": _first(value.first),
        "wire": _wire(value.wire),
        "limited_by": limited_by(value.limited_by),
        "caveats": [caveat(doubt) for doubt in value.caveats],
        "series": [_point(point) for point in value.series],
    }


def _wire(value: Wire | None) -> Json:
    if value is None:
        return None
    return {
        "bytes": value.bytes,
        "overhead_ratio": value.overhead_ratio,
        "retransmits": value.retransmits,
        "rtt_s": value.rtt_s,
        "interface": value.interface,
        "interface_kind": value.interface_kind,
    }


def _first(value: First | None) -> Json:
    return None if value is None else {"duration_s": value.duration_s, "bytes_per_s": value.bytes_per_s}
