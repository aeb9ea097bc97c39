"""The comparison's verdict in sentences: what changed and how sure, by what, the output, what limits now."""

from __future__ import annotations

from collections.abc import Iterator

from pathtrace.analysis.comparing.differences import NOTHING, unexpected
from pathtrace.analysis.comparing.differences import UNCLEAR as CAUSE_UNCLEAR
from pathtrace.model.comparison import FASTER, HISTORY, SLOWER, Compared, Comparison, Ratio
from pathtrace.units import PLAIN_CHANGE, format_bytes, format_change, format_duration, format_ratio

REFUSED = ("These runs cannot be compared.",)
NAMED = 4
"""Causes that are named; the others are counted."""


def sentences(whole: Comparison) -> tuple[str, ...]:
    """Flows that people wait for come first; before any speed, that the work was not the same."""
    flows = [said_of(flow) for flow in sorted(whole.flows, key=lambda flow: flow.waits != "people")]
    output = _output(whole)
    doubtful = whole.output.same is False or whole.output.quality_unchecked
    told = (output, *flows, _cause(whole)) if doubtful else (*flows, _cause(whole), output)
    return (*told, *_limits(whole))


def said_of(flow: Compared) -> str:
    """One flow's verdict, with times, change and interval."""
    ratio = flow.ratio
    if ratio is None or flow.before_s is None or flow.after_s is None:
        return f'"{flow.name}" was not measured in both runs.'
    times = f"{format_duration(flow.before_s)} → {format_duration(flow.after_s)}"
    match ratio.verdict:
        case "same":
            return f'"{flow.name}" takes the same time: {times} ({interval(ratio)}).'
        case "unclear":
            return f'Whether "{flow.name}" changed is unclear: {times} ({interval(ratio)}){_blind(ratio)}.'
        case verdict:
            return f'"{flow.name}" is {verdict}, {change(ratio.ratio)}: {times} ({interval(ratio)}).'


def change(ratio: float) -> str:
    """``3.2 times as fast``, ``12 % less time``."""
    if ratio <= 1 / PLAIN_CHANGE:
        return f"{_times(1 / ratio)} times as fast"
    if ratio >= PLAIN_CHANGE:
        return f"{_times(ratio)} times the time"
    return f"{format_ratio(abs(ratio - 1))} {'less' if ratio < 1 else 'more'} time"


def _times(factor: float) -> str:
    return f"{factor:.2g}" if factor < 100 else f"{factor:.0f}"


def interval(ratio: Ratio) -> str:
    """Bounds of the change in time: ``-3 % to +8 %``."""
    return f"{format_change(ratio.low)} to {format_change(ratio.high)} time"


def _blind(ratio: Ratio) -> str:
    if ratio.detectable is None:
        return "; too few repeats to say more"
    said = f"; a change of {_much(ratio.detectable)} or more would have shown"
    if ratio.repeats_needed is not None:
        return f"{said}, one of 10 % takes {ratio.repeats_needed} repeats of each run at this spread"
    anyway = _much(ratio.floor or 0.0)
    if ratio.floor_from == HISTORY:
        return f"{said}, one of 10 % never: like runs differ by up to {anyway} from day to day"
    return f"{said}, one of 10 % never: other work on the host alone may do {anyway}; repeat when it is quiet"


def _much(more: float) -> str:
    """A change of times: ``28 %``; a large one as the factor that it is, ``×2.4``."""
    return format_ratio(more) if more < PLAIN_CHANGE - 1 else f"×{_times(1 + more)}"


def _cause(whole: Comparison) -> str:
    moved = any(flow.verdict in (FASTER, SLOWER) for flow in whole.flows)
    if whole.cause == NOTHING:
        return "Nothing that could matter differs" + (", so why is not known." if moved else ".")
    others = unexpected(whole.differences)
    if whole.cause == CAUSE_UNCLEAR:
        expected = tuple(
            dict.fromkeys(each.cause for each in whole.differences if each.matters and each.expected)
        )
        named = [*(f"{each} (expected)" for each in expected), *others]
        more = f" and {len(named) - NAMED} more" if len(named) > NAMED else ""
        return f"The cause is unclear, since more than one thing differs: {', '.join(named[:NAMED])}{more}."
    if others:
        return f"One thing differs, and nobody announced it: {whole.cause}."
    return f"Only what was expected to differ does: {whole.cause}."


def _output(whole: Comparison) -> str:
    output = whole.output
    if output.quality_unchecked:
        return "Quality unchecked: the model or its input is another, and the scenario has no checks."
    if output.same is None:
        return "No output could be compared."
    if output.same:
        return "The output is the same."
    if not output.differences:
        was, now = ("none" if share is None else format_ratio(share) for share in output.checks)
        return f"The output differs: checks passed before {was}, after {now}."
    first = output.differences[0]
    sizes = [format_bytes(n) if first.what == "bytes" else f"{n:,}" for n in (first.before, first.after)]
    more = f", and {len(output.differences) - 1} more" if len(output.differences) > 1 else ""
    what = "" if first.what == "bytes" else f" {first.what}"
    return f"The output differs ({first.subject}: {sizes[0]} → {sizes[1]}{what}{more}): explain that first."


def _limits(whole: Comparison) -> Iterator[str]:
    """What limits each flow now, where its time changed or its bottleneck did."""
    for flow in sorted(whole.flows, key=lambda flow: flow.waits != "people"):
        was, now = flow.limited_by
        if flow.ratio is not None and now != "unknown" and (was != now or flow.verdict in (FASTER, SLOWER)):
            before = "as before" if was == now else f"before: {was}"
            yield f'"{flow.name}" is now limited by {now} ({before}).'
