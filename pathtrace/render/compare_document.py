"""Comparisons -> the ``pathtrace.compare/1`` document. Names of keys are a promise: add, rename nothing."""

from __future__ import annotations

from collections.abc import Sequence

from pathtrace.model.comparison import ActivityPair, Compared, Comparison, Cost, Output, Prediction, RunName
from pathtrace.render import figures
from pathtrace.render.figures import Document, Json
from pathtrace.render.upgrades import price_document

COMPARE_FORMAT = "pathtrace.compare/1"


def compare_document(comparisons: Sequence[Comparison]) -> Document:
    """The first comparison's keys; further runs, each beside the same baseline, stand in ``more``."""
    first, *rest = comparisons
    document: Document = {
        "format": COMPARE_FORMAT,
        **_comparison(first),
        "more": [_comparison(each) for each in rest],
    }
    return {key: figures.finite(value) for key, value in document.items()}


def _comparison(whole: Comparison) -> Document:
    hops = [{"flow": each.flow, **_compared(each)} for each in whole.hops]
    return {
        "before": _run(whole.before),
        "after": _run(whole.after),
        "comparable": whole.comparable,
        "reasons": list(whole.reasons),
        "verdict": list(whole.verdict),
        "cause": whole.cause,
        "differences": [
            {
                "what": each.what,
                "before": each.before,
                "after": each.after,
                "expected": each.expected,
                "cause": each.cause,
                "matters": each.matters,
            }
            for each in whole.differences
        ],
        "flows": [_compared(each) for each in whole.flows],
        "hops": list(hops),
        "same_output": whole.output.same,
        "output": _output(whole.output),
        "checks": _checks(whole.output),
        "stability": _stability(whole),
        "other_activity": {each.host: _activity(each) for each in whole.activity},
        "cost": _cost(whole.cost),
        "prediction": _prediction(whole.predictions[0]) if whole.predictions else None,
        "predictions": [_prediction(each) for each in whole.predictions],
        "caveats": list(whole.caveats),
    }


def _run(run: RunName) -> Document:
    return {"id": run.id, "label": run.label, "started_at": run.started_at}


def _compared(each: Compared) -> Document:
    ratio = each.ratio
    return {
        "name": each.name,
        "before_s": each.before_s,
        "after_s": each.after_s,
        "ratio": ratio.ratio if ratio else None,
        "low": ratio.low if ratio else None,
        "high": ratio.high if ratio else None,
        "verdict": each.verdict,
        "detectable": ratio.detectable if ratio else None,
        "repeats_needed": ratio.repeats_needed if ratio else None,
        "floor": ratio.floor if ratio else None,
        "floor_from": ratio.floor_from if ratio else None,
        "repeats": _pair(each.repeats),
        "limited_by": _pair(each.limited_by),
    }


def _pair(pair: Sequence[Json]) -> Document:
    return {"before": pair[0], "after": pair[1]}


def _output(output: Output) -> Document:
    return {
        "quality_unchecked": output.quality_unchecked,
        "differences": [
            {"subject": each.subject, "what": each.what, "before": each.before, "after": each.after}
            for each in output.differences
        ],
    }


def _checks(output: Output) -> Json:
    """Shares that passed; null where neither run was asked anything."""
    return None if output.checks == (None, None) else _pair(output.checks)


def _stability(whole: Comparison) -> Document:
    """By flow: failed operations, the ninety-ninth percentile of requests, relative spread of repeats."""
    return {
        "errors": {each.name: _pair(each.errors) for each in whole.flows},
        "p99": {each.name: _pair(each.p99_s) for each in whole.flows},
        "spread": {each.name: _pair(each.spread) for each in whole.flows},
    }


def _activity(each: ActivityPair) -> Document:
    return {
        "cpu_percent": _pair(each.cpu_percent),
        "disk_bytes_per_s": _pair(each.disk_bytes_per_s),
        "network_bytes_per_s": _pair(each.network_bytes_per_s),
    }


def _cost(cost: Cost | None) -> Json:
    """Null where nobody said a price."""
    if cost is None:
        return None
    return {
        "price": price_document(cost.price),
        "energy_wh": cost.energy_wh,
        "seconds_per_day_saved": cost.seconds_per_day_saved,
        "seconds_per_day_saved_per_price": cost.seconds_per_day_saved_per_price,
    }


def _prediction(value: Prediction) -> Document:
    return {
        "flow": value.flow,
        "expected_s": value.expected_s,
        "low": value.low,
        "high": value.high,
        "actual_s": value.actual_s,
        "error": value.error,
    }
