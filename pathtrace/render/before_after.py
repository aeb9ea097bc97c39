"""``pathtrace report BEFORE AFTER``: one page on a change, for whoever decided about it.

In this order: question, verdict, prediction, change, fact, conditions and spread, what limits now, what to
mind. CommonMark with tables; every text that came from outside is escaped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pathtrace.model.comparison import Compared, Comparison, Difference, Prediction
from pathtrace.model.report import Report
from pathtrace.model.run import Run
from pathtrace.render import wording
from pathtrace.render.comparison import cost_words, steadiness
from pathtrace.render.markdown import NOT_STATED, escaped, section, table
from pathtrace.units import format_change, format_duration

RANKED = 3
REASONS = 5
"""Why predictions that were kept do not fit: of what did change first."""
DOUBTS = 12
"""Caveats of the later run that are told here; its own page has them all."""


def before_after_page(whole: Comparison, before: Run, after: Run, report: Report) -> str:
    """The page's text. ``report``: of the later run."""
    lines = [
        *_head(whole, after),
        *_prediction(whole, before),
        *_change(whole),
        *_fact(whole),
        *_conditions(whole, before, after),
        *_limits(whole, report),
        *_mind(whole, after, report),
        "",
        *_foot(before, after),
    ]
    return "\n".join(lines) + "\n"


def _head(whole: Comparison, after: Run) -> Iterator[str]:
    yield f"# {escaped(after.scenario.name)}: before and after"
    yield ""
    yield f"**Question:** {escaped(after.scenario.question or NOT_STATED)}"
    yield ""
    yield "## Verdict"
    yield ""
    yield from (f"- {escaped(text)}" for text in whole.verdict)


def _prediction(whole: Comparison, before: Run) -> Iterator[str]:
    yield from section("Prediction")
    if whole.unscored:
        yield from _unscored(whole.unscored, before)
        return
    if not whole.predictions:
        yield (
            f"None is kept with the earlier run, {escaped(before.id)}. "
            "`pathtrace whatif RUN --set WHAT=VALUE` makes one and keeps it there; "
            "made before the change, it stands here beside the fact."
        )
        return
    header = ("flow", "predicted", "range", "came", "off by", "")
    yield from table(header, [_foretold(each) for each in whole.predictions])


def _unscored(reasons: Sequence[str], before: Run) -> Iterator[str]:
    yield f"None of those kept with the earlier run, {escaped(before.id)}, can be held against this change:"
    yield ""
    yield from (f"- {escaped(text)}" for text in reasons[:REASONS])
    if len(reasons) > REASONS:
        yield f"- and {len(reasons) - REASONS} more reasons of others"


def _foretold(each: Prediction) -> tuple[str, ...]:
    held = "within the range" if each.low <= each.actual_s <= each.high else "outside the range"
    bounds = f"{format_duration(each.low)} – {format_duration(each.high)}"
    times = (format_duration(each.expected_s), bounds, format_duration(each.actual_s))
    return (each.flow, *times, format_change(1 + each.error), held)


def _change(whole: Comparison) -> Iterator[str]:
    """What may matter as a table; what cannot, by name only."""
    yield from section("Change")
    matter = sorted((each for each in whole.differences if each.matters), key=lambda each: not each.expected)
    if matter:
        yield from table(("what", "before", "after", ""), [_difference(each) for each in matter])
    else:
        yield "Nothing that is known of the two runs differs and could matter."
    if whole.cost is not None:
        yield ""
        yield f"Price: {escaped(cost_words(whole.cost))}."
    others = [each.what for each in whole.differences if not each.matters]
    if others:
        yield ""
        yield f"Also other, without a say in times: {escaped(', '.join(others))}."


def _difference(each: Difference) -> tuple[str, ...]:
    said = "expected" if each.expected else "not expected"
    return (each.what, each.before or wording.NOTHING, each.after or wording.NOTHING, said)


def _fact(whole: Comparison) -> Iterator[str]:
    yield from section("Fact (median of the repeats; change in time, 95 % interval)")
    rows: list[tuple[str, ...]] = []
    for flow in whole.flows:
        rows.append(_times(flow, "all of it", " and ".join(map(str, dict.fromkeys(flow.repeats)))))
        rows += [_times(hop, hop.name, "") for hop in whole.hops if hop.flow == flow.name]
    yield from table(("flow", "hop", "repeats", "before", "after", "change", "interval", ""), rows)


def _times(each: Compared, name: str, repeats: str) -> tuple[str, ...]:
    start = (each.flow, name, repeats, wording.duration(each.before_s), wording.duration(each.after_s))
    if each.ratio is None:
        return (*start, "", "", wording.NOT_MEASURED)
    bounds = f"{format_change(each.ratio.low)} to {format_change(each.ratio.high)}"
    return (*start, format_change(each.ratio.ratio), bounds, each.verdict)


def _conditions(whole: Comparison, before: Run, after: Run) -> Iterator[str]:
    yield from section("Conditions and spread")
    for name, run in (("Before", before), ("After", after)):
        yield f"- {name}: {escaped(wording.condition(run))}"
    yield from (f"- {escaped(flow.name)}: {escaped(steadiness(flow))}" for flow in whole.flows)
    for pair in whole.activity:
        cpu = " → ".join("not known" if each is None else f"{each:.1f} %" for each in pair.cpu_percent)
        yield f"- Others on {escaped(pair.host)}: CPU {cpu}"


def _limits(whole: Comparison, report: Report) -> Iterator[str]:
    yield from section("What limits now")
    for flow in whole.flows:
        was, now = flow.limited_by
        before = "as before" if was == now else f"before: {was}"
        yield f"- {escaped(flow.name)}: {escaped(now)} ({escaped(before)})"
    shown = wording.worth_showing(report.ranking, RANKED)[0]
    advice = [(entry, said) for entry, said in wording.advised_once(shown) if said]
    if advice:
        yield ""
        yield "Next, by what waits longest:"
        yield ""
    for entry, said in advice:
        yield f"- {escaped(f'{entry.flow}, {entry.stage}: {said}')}"


def _mind(whole: Comparison, after: Run, report: Report) -> Iterator[str]:
    yield from section("What to mind")
    caveats = wording.all_caveats(after, report)
    doubts = [wording.caveat_line(caveat, subjects) for caveat, subjects in caveats[:DOUBTS]]
    if len(caveats) > DOUBTS:
        doubts.append(f"and {len(caveats) - DOUBTS} more on the page of the later run alone")
    said: Sequence[str] = [*whole.caveats, *doubts]
    yield from (f"- {escaped(text)}" for text in said or ["nothing to add"])


def _foot(before: Run, after: Run) -> Iterator[str]:
    for name, run in (("Before", before), ("after", after)):
        yield f"{name}: {escaped(wording.stored(run))}, {run.started_at}" + (";" if run is before else ".")
