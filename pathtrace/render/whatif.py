"""A prediction -> what a terminal shows, and the ``pathtrace.whatif/1`` document."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from pathtrace.model.prediction import Change, Changed, FlowPrediction, Prediction, SelfCheck
from pathtrace.render.figures import Document, finite
from pathtrace.render.layout import Pairs, bullet, heading, line
from pathtrace.units import format_both, format_duration, format_rate, format_ratio

WHATIF_FORMAT = "pathtrace.whatif/1"
SELF_CHECK = 0.05
"""Playing a run again without a change should give its time within this."""
WIDE = 2.0
"""High / low, above which a range decides nothing."""
LITTLE = 0.01


def whatif_document(prediction: Prediction) -> Document:
    """``before`` and ``after`` of a change are numbers in its ``unit``."""
    document: Document = {
        "format": WHATIF_FORMAT,
        "run": prediction.run,
        "changes": [
            {
                "resource": each.resource,
                "before": each.before,
                "after": each.after,
                "unit": each.unit,
                "source": each.source,
            }
            for each in prediction.changes
        ],
        "self_check": _self_check(prediction.self_check),
        "flows": [_flow_document(flow) for flow in prediction.flows],
        "seconds_per_day_saved": prediction.seconds_per_day_saved,
        "unknowns": [{"what": each.what, "measure": each.measure} for each in prediction.unknowns],
        "unchanged": list(prediction.unchanged),
    }
    return {key: finite(value) for key, value in document.items()}


def _flow_document(flow: FlowPrediction) -> Document:
    after, request = flow.after_s, flow.request
    return {
        "name": flow.name,
        "before_s": flow.before_s,
        "after_s": {"expected": after.expected, "low": after.low, "high": after.high},
        "speedup": flow.speedup,
        "bottleneck_after": flow.bottleneck_after,
        "seconds_per_day_saved": flow.seconds_per_day_saved,
        "request": None if request is None else {"before_s": request[0], "after_s": request[1]},
        "self_check": _self_check(flow.self_check),
    }


def _self_check(check: SelfCheck) -> Document:
    return {"measured_s": check.measured_s, "simulated_s": check.simulated_s, "error": check.error}


def whatif_view(prediction: Prediction) -> RenderableType:
    """What the change gives first, then each flow, then what it rests on."""
    return Group(
        *_head(prediction),
        *_flows(prediction),
        *_unknowns(prediction),
        *_unchanged(prediction),
        *_checked(prediction),
    )


def _head(prediction: Prediction) -> Iterator[RenderableType]:
    asked = ", ".join(_change(each) for each in prediction.changes)
    yield line(f"{asked}: {_saved(prediction.seconds_per_day_saved)}.", "bold")
    for flow in prediction.flows:
        if flow.after_s.high > WIDE * flow.after_s.low:
            text = f"The range of {flow.name} is too wide to decide by: measure what is not known first."
            yield line(text, "yellow")


def _saved(seconds_per_day: float) -> str:
    if abs(seconds_per_day) < LITTLE:
        return "saves nothing"
    word = "saves about" if seconds_per_day > 0 else "costs about"
    return f"{word} {format_duration(abs(seconds_per_day))} a day"


def _change(change: Change) -> str:
    before = _value(change, change.before)
    if change.kind is Changed.LOADED:
        return f"{change.subject} loaded"
    return f"{change.resource} {'' if before is None else f'{before} '}→ {_value(change, change.after)}"


def _value(change: Change, value: float | None) -> str | None:
    if value is None:
        return None
    match change.unit:
        case "bytes_per_s":
            return format_both(value) if change.kind is Changed.LINK else format_rate(value)
        case "s":
            return format_duration(value)
        case _:
            return f"{value:.0f}"


def _flows(prediction: Prediction) -> Iterator[RenderableType]:
    yield heading("Flows", "predicted")
    yield Pairs(tuple((flow.name, Text(_flow(flow))) for flow in prediction.flows))


def _flow(flow: FlowPrediction) -> str:
    after = flow.after_s
    if after.low == after.expected == after.high == flow.before_s:
        return f"{format_duration(flow.before_s)}, unchanged"
    speedup = "" if flow.speedup is None else f", {flow.speedup:.2f}×"
    text = (
        f"{format_duration(flow.before_s)} → {format_duration(after.expected)} "
        f"({format_duration(after.low)} to {format_duration(after.high)}){speedup}; "
        f"then limited by: {flow.bottleneck_after}"
    )
    if flow.request is not None:
        text += f"\na request: {format_duration(flow.request[0])} → {format_duration(flow.request[1])}"
    return text


def _unknowns(prediction: Prediction) -> Iterator[RenderableType]:
    if prediction.unknowns:
        yield heading("Not known")
    for each in prediction.unknowns:
        yield bullet("?", Text(each.what).append(f"\n{each.measure}", "dim"))


def _unchanged(prediction: Prediction) -> Iterator[RenderableType]:
    if prediction.unchanged:
        yield heading("What stays")
    yield from (bullet("-", Text(text)) for text in prediction.unchanged)


def _checked(prediction: Prediction) -> Iterator[RenderableType]:
    yield heading("Self-check", "the run played again without a change")
    for flow in prediction.flows:
        check = flow.self_check
        sound = abs(check.error) <= SELF_CHECK
        text = (
            f"{flow.name}: {format_duration(check.simulated_s)} for {format_duration(check.measured_s)} "
            f"measured ({'+' if check.error > 0 else ''}{format_ratio(check.error)})"
        )
        if not sound:
            text += f": more than {format_ratio(SELF_CHECK)} off, so take its prediction with care"
        yield line(text, "" if sound else "yellow", indent=2)
