"""Whether a run has been repeated often enough: the interval of every flow's median duration is narrow.

Asked between repeats, so it looks at executions' timed windows and at no sample. What ended a run that
never came so far is not known here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pathtrace.analysis.repeats import DRIFT, drifts, two_kinds
from pathtrace.analysis.spread import interval, middle
from pathtrace.model.run import FlowWidth, Until
from pathtrace.model.sample import Window
from pathtrace.model.scenario import Scenario
from pathtrace.units import seconds

FEWEST = 5
"""Repeats below which an interval is chance."""


def judge(scenario: Scenario, asked: float, windows: Iterable[Window]) -> Until:
    """How far the measured repeats are from ``asked``, a ratio of the median. Warm-ups do not count.

    A flow that has no window is left out; so is an execution that was cut short, and every one but a
    flow's first in a repeat. A flow that drifts, from first to last by half of what was asked for, is never
    told well enough.
    """
    counted = [window for window in windows if window.repeat >= 0 and window.complete]
    flows = tuple(
        _width(flow.name, took, asked)
        for index, flow in enumerate(scenario.flows)
        if (took := _durations([window for window in counted if window.flow == index]))
    )
    reached = bool(flows) and all(is_told(flow, asked) for flow in flows)
    return Until(asked, reached, max((flow.repeats for flow in flows), default=0), flows)


def is_told(flow: FlowWidth, asked: float) -> bool:
    """True if the interval is narrow enough, and means something."""
    narrow = flow.half_width is not None and flow.half_width <= asked
    return narrow and flow.repeats >= FEWEST and not flow.drifts


def half_width(took: Sequence[float]) -> float | None:
    """The farther end of the median's interval, as a ratio of the median; None if there is no interval."""
    low, high = interval(took)
    if low is None or high is None:
        return None
    median = took[middle(took)]
    return max(high - median, median - low) / median if median > 0 else None


def _durations(windows: Sequence[Window]) -> list[float]:
    """Seconds of a flow's first execution in each repeat, in their order."""
    first = min((window.execution for window in windows), default=0)
    mine = sorted((window for window in windows if window.execution == first), key=_repeat)
    return [seconds(window.end_ns - window.start_ns) for window in mine]


def _repeat(window: Window) -> int:
    return window.repeat


def _width(name: str, took: Sequence[float], asked: float) -> FlowWidth:
    return FlowWidth(name, len(took), half_width(took), drifts(took, min(asked / 2, DRIFT)), two_kinds(took))
