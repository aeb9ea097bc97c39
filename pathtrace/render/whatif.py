"""A prediction -> what a terminal shows, and the ``pathtrace.whatif/1`` document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from pathtrace.model.prediction import Change, Changed, FlowPrediction, Prediction, SelfCheck, Unknown
from pathtrace.render.figures import Document, finite
from pathtrace.render.layout import Pairs, bullet, heading, line
from pathtrace.render.whatif_words import changes_words, gives, is_unchanged, value_words
from pathtrace.units import format_duration, format_ratio

WHATIF_FORMAT = "pathtrace.whatif/1"
SELF_CHECK = 0.05
"""Playing a run again without a change should give its time within this."""
WIDE = 2.0
"""High / low, above which a range decides nothing."""
LITTLE = 0.01
MORE_REPEATS = "its repeats differ that much; with nothing else running, more of them say more"


def whatif_document(prediction: Prediction) -> Document:
    """``before`` and ``after`` of a change are numbers in its ``unit``, or words where that is access."""
    document: Document = {
        "format": WHATIF_FORMAT,
        "run": prediction.run,
        "changes": [change_document(each) for each in prediction.changes],
        "self_check": self_check_document(prediction.self_check),
        "flows": [flow_document(flow) for flow in prediction.flows],
        "seconds_per_day_saved": prediction.seconds_per_day_saved,
        "unknowns": [{"what": each.what, "measure": each.measure} for each in prediction.unknowns],
        "unchanged": list(prediction.unchanged),
        "stand_ins": list(prediction.stand_ins),
        "upgrades": None,
    }
    return {key: finite(value) for key, value in document.items()}


def change_document(change: Change) -> Document:
    before, after = change.words or (change.before, change.after)
    return {
        "resource": change.resource,
        "before": before,
        "after": after,
        "unit": change.unit,
        "source": change.source,
    }


def flow_document(flow: FlowPrediction) -> Document:
    after, request = flow.after_s, flow.request
    return {
        "name": flow.name,
        "before_s": flow.before_s,
        "after_s": None
        if after is None
        else {"expected": after.expected, "low": after.low, "high": after.high},
        "speedup": flow.speedup,
        "bottleneck_after": flow.bottleneck_after,
        "seconds_per_day_saved": None if after is None else flow.seconds_per_day_saved,
        "request": None
        if request is None or after is None
        else {"before_s": request[0], "after_s": request[1]},
        "self_check": self_check_document(flow.self_check),
    }


def self_check_document(check: SelfCheck) -> Document:
    return {"measured_s": check.measured_s, "simulated_s": check.simulated_s, "error": check.error}


def whatif_view(prediction: Prediction) -> RenderableType:
    """What the change gives first, then each flow, then what it rests on."""
    return Group(
        *_head(prediction),
        *_changes(prediction),
        *_flows(prediction),
        *unknowns(prediction.unknowns),
        *_unchanged(prediction),
        *checked(prediction.flows),
    )


def _head(prediction: Prediction) -> Iterator[RenderableType]:
    """In words what it gives; of flows that stay as they are only the names."""
    told = sorted(prediction.flows, key=is_unchanged)
    yield line(f"{changes_words(prediction.changes)}: {'; '.join(gives(flow) for flow in told)}.", "bold")
    if any(flow.after_s is None for flow in told):
        yield line("What was recorded does not tell that; what would stands below.", "yellow")
    else:
        yield line(saved_words(prediction.seconds_per_day_saved) + ".")
    for flow in prediction.flows:
        if is_wide(flow):
            remedy = "measure what is not known first" if prediction.unknowns else MORE_REPEATS
            yield line(f"The range of {flow.name} is too wide to decide by: {remedy}.", "yellow")
    if prediction.stand_ins:
        names = ", ".join(prediction.stand_ins)
        yield line(f"Rests on stand-ins ({names}): real parts may gain more or less.", "yellow")


def saved_words(seconds_per_day: float) -> str:
    """A sentence without its end."""
    if abs(seconds_per_day) < LITTLE:
        return "Saves nothing"
    word = "Saves about" if seconds_per_day > 0 else "Costs about"
    return f"{word} {format_duration(abs(seconds_per_day))} a day"


def _changes(prediction: Prediction) -> Iterator[RenderableType]:
    yield heading(
        "Change" if len(prediction.changes) == 1 else "Changes",
        "made together" * (len(prediction.changes) > 1),
    )
    yield Pairs(tuple((each.resource, _change(each)) for each in prediction.changes))


def _change(change: Change) -> Text:
    before, after = value_words(change, change.before), value_words(change, change.after)
    if change.kind is Changed.LOADED:
        text = Text("in memory at every request")
    elif change.kind is Changed.NEW_LINK:
        now = f", which has {before} now" if before else ""
        text = Text(f"{after}, for what crosses between {' and '.join(change.hosts)}{now}")
    else:
        text = Text(f"{before or 'not known'} → {after}")
    return text.append(f"\nsaid by: {change.source}", "dim") if change.source else text


def _flows(prediction: Prediction) -> Iterator[RenderableType]:
    changed = [flow for flow in prediction.flows if flow.after_s is not None and not is_unchanged(flow)]
    if changed:
        yield heading("Flows", "predicted")
        yield Pairs(tuple((flow.name, Text(_flow(flow))) for flow in changed))


def _flow(flow: FlowPrediction) -> str:
    speedup = "" if flow.speedup is None else f"{flow.speedup:.2f} times as fast; "
    text = (
        f"{speedup}then limited by {flow.bottleneck_after}; {saved_words(flow.seconds_per_day_saved).lower()}"
    )
    if flow.request is not None and flow.after_s is not None:
        text += (
            f"\nall its requests: {format_duration(flow.before_s)} → {format_duration(flow.after_s.expected)}"
        )
    return text


def unknowns(entries: Sequence[Unknown]) -> Iterator[RenderableType]:
    """Each with what would tell."""
    if entries:
        yield heading("Not known", "and what would tell")
    for each in entries:
        yield bullet("?", Text(each.what).append(f"\n{each.measure}", "dim"))


def _unchanged(prediction: Prediction) -> Iterator[RenderableType]:
    if prediction.unchanged:
        yield heading("What stays")
    yield from (bullet("-", Text(text)) for text in prediction.unchanged)


def is_wide(flow: FlowPrediction) -> bool:
    """True if its range decides nothing."""
    return flow.after_s is not None and flow.after_s.high > WIDE * flow.after_s.low


def is_sound(flow: FlowPrediction) -> bool:
    """True if playing it again without a change gives what was measured, nearly enough."""
    return abs(flow.self_check.error) <= SELF_CHECK


def checked(flows: Sequence[FlowPrediction]) -> Iterator[RenderableType]:
    """Each flow's self-check."""
    yield heading("Self-check", "the run played again without a change")
    for flow in flows:
        text = check_words(flow)
        if not is_sound(flow):
            text += f": more than {format_ratio(SELF_CHECK)} off, so take its prediction with care"
        yield line(text, "" if is_sound(flow) else "yellow", indent=2)


def check_words(flow: FlowPrediction) -> str:
    check = flow.self_check
    return (
        f"{flow.name}: {format_duration(check.simulated_s)} for {format_duration(check.measured_s)} "
        f"measured ({'+' if check.error > 0 else ''}{format_ratio(check.error)})"
    )
