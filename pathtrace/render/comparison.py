"""Comparisons -> what a terminal shows: the verdict in words, then times, differences and doubts.

Two runs are shown in full; more become a table with the first as baseline. Fits 80 columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from pathtrace.model.comparison import (
    ActivityPair,
    Compared,
    Comparison,
    Cost,
    Difference,
    Prediction,
    RunName,
)
from pathtrace.render import wording
from pathtrace.render.layout import INDENT, Pairs, Row, Rows, bullet, heading, line
from pathtrace.render.upgrades import price_words
from pathtrace.units import format_change, format_duration, format_rate, format_ratio


def comparison_view(comparisons: Sequence[Comparison]) -> RenderableType:
    """One after: everything that is known of the two. More: a table, then what differs for each."""
    if len(comparisons) == 1:
        return Group(*_one(comparisons[0]))
    return Group(*_several(comparisons))


def _one(whole: Comparison) -> Iterator[RenderableType]:
    yield from _verdict(whole)
    yield from _times(whole)
    yield from _predictions(whole.predictions)
    if whole.cost is not None:
        yield heading("Cost")
        yield line(cost_words(whole.cost), indent=INDENT)
    yield from _differences(whole)
    yield from _stability(whole)
    yield from _doubts(whole.caveats)
    yield Text("")
    yield line(f"Compared: {_named(whole.before)} with {_named(whole.after)}", "dim")


def _several(comparisons: Sequence[Comparison]) -> Iterator[RenderableType]:
    for each in comparisons:
        yield line(_named(each.after), "bold")
        yield from (line(text, "", INDENT) for text in each.verdict)
    yield heading("Times", f"median; change in time beside {_named(comparisons[0].before)}")
    header = ("flow", "first", *(each.after.label or each.after.id for each in comparisons))
    rows = (_across(comparisons, number) for number in range(len(comparisons[0].flows)))
    yield Rows(header, tuple(rows), right=frozenset(range(1, len(header))))
    for each in comparisons:
        yield from _differences(each, f"since {_named(each.before)}, in {_named(each.after)}")
    yield from _doubts(tuple(dict.fromkeys(text for each in comparisons for text in each.caveats)))


def _across(comparisons: Sequence[Comparison], number: int) -> Row:
    flow = comparisons[0].flows[number]
    cells = [_cell(each) for each in (whole.flows[number] for whole in comparisons)]
    return Row((flow.name, wording.duration(flow.before_s), *cells))


def _cell(flow: Compared) -> str:
    if flow.ratio is None:
        return wording.NOT_MEASURED
    return f"{wording.duration(flow.after_s)}, {format_change(flow.ratio.ratio)} {flow.verdict}"


def _verdict(whole: Comparison) -> Iterator[RenderableType]:
    for number, text in enumerate(whole.verdict):
        yield line(text, "bold" if number == 0 else "")


def _times(whole: Comparison) -> Iterator[RenderableType]:
    """A row for each flow and below it its hops."""
    rows: list[Row] = []
    for flow in whole.flows:
        repeats = " and ".join(map(str, dict.fromkeys(flow.repeats)))
        note = f" · {wording.waits(flow.waits)} · {repeats} repeats"
        rows.append(Row(above=Text(wording.plain(flow.name), "bold").append(note, "not bold")))
        rows.append(_row("all of it", flow))
        rows += [_row(hop.name, hop) for hop in whole.hops if hop.flow == flow.name]
    yield heading("Times", "median of the repeats; change in time, 95 % interval")
    header = ("", "before", "after", "change", "interval", "")
    yield Rows(header, tuple(rows), right=frozenset({1, 2, 3}))


def _row(name: str, each: Compared) -> Row:
    times = (wording.duration(each.before_s), wording.duration(each.after_s))
    below = (_limit(each),) if each.flow != each.name else ()
    if each.ratio is None:
        return Row((name, *times, "", "", wording.NOT_MEASURED), below=below)
    ratio = each.ratio
    bounds = f"{format_change(ratio.low)} to {format_change(ratio.high)}"
    return Row((name, *times, format_change(ratio.ratio), bounds, each.verdict), below=below)


def _limit(each: Compared) -> Text:
    before, after = each.limited_by
    said = f"limited by {after}" + (", as before" if before == after else f", before by {before}")
    return Text(wording.plain(said), "dim")


def _predictions(values: Sequence[Prediction]) -> Iterator[RenderableType]:
    if not values:
        return
    yield heading("Predicted", "before the change, beside what came")
    for value in values:
        held = "within" if value.low <= value.actual_s <= value.high else "outside"
        yield line(
            f'"{value.flow}" was predicted to take {format_duration(value.expected_s)} '
            f"({format_duration(value.low)} – {format_duration(value.high)}) and takes "
            f"{format_duration(value.actual_s)}: {held} the range, {format_change(1 + value.error)}",
            indent=INDENT,
        )


def cost_words(cost: Cost) -> str:
    """``120 EUR: saves 42 s a day, 0.35 s for each EUR``."""
    price, saved = price_words(cost.price), cost.seconds_per_day_saved
    if not saved:
        return f"{price}: saves nothing that is sure"
    word = "saves" if saved > 0 else "costs"
    each = format_duration(abs(cost.seconds_per_day_saved_per_price))
    return (
        f"{price}: {word} {format_duration(abs(saved))} a day, {each} for each {cost.price.currency or '1'}"
    )


def _differences(whole: Comparison, detail: str = "") -> Iterator[RenderableType]:
    """What may matter first, one line each; what cannot is listed after it, dim."""
    if not whole.differences:
        return
    yield heading("What differs", detail)
    ordered = sorted(whole.differences, key=lambda each: (not each.matters, not each.expected))
    yield Pairs(tuple((each.what, _difference(each)) for each in ordered))


def _difference(each: Difference) -> Text:
    values = f"{each.before or wording.NOTHING} → {each.after or wording.NOTHING}"
    text = Text(wording.plain(values), "" if each.matters else "dim")
    if each.expected:
        return text.append(", expected", "green")
    return text.append(", not expected", "yellow") if each.matters else text


def _stability(whole: Comparison) -> Iterator[RenderableType]:
    rows = [(flow.name, Text(wording.plain(steadiness(flow)))) for flow in whole.flows]
    rows += [(f"others on {each.host}", Text(_activity(each))) for each in whole.activity]
    yield heading("Stability", "before → after")
    yield Pairs(tuple(rows))


def steadiness(flow: Compared) -> str:
    """Spread of the repeats, failures and the slowest answers, before → after."""
    spread = " → ".join(wording.NOTHING if each is None else format_ratio(each) for each in flow.spread)
    said = [f"spread {spread}", f"failed {flow.errors[0]:,} → {flow.errors[1]:,}"]
    if any(flow.p99_s):
        said.append(f"p99 {' → '.join(map(wording.duration, flow.p99_s))}")
    return ", ".join(said)


def _activity(each: ActivityPair) -> str:
    cpu = " → ".join(wording.NOTHING if value is None else f"{value:.1f} %" for value in each.cpu_percent)
    said = [f"CPU {cpu}"]
    for name, pair in (("disk", each.disk_bytes_per_s), ("network", each.network_bytes_per_s)):
        rates = (wording.NOTHING if value is None else format_rate(value) for value in pair)
        said.append(f"{name} {' → '.join(rates)}")
    return ", ".join(said)


def _doubts(caveats: Sequence[str]) -> Iterator[RenderableType]:
    if not caveats:
        return
    yield heading("Mind")
    yield from (bullet("•", Text(wording.plain(text))) for text in caveats)


def _named(run: RunName) -> str:
    return f"{run.id} ({run.label})" if run.label else run.id
