"""Joins the rule that says when a run has been repeated often enough with the repeats themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pathtrace.model.run import Until
from pathtrace.model.sample import Window
from pathtrace.model.scenario import Scenario
from pathtrace.replay.repeats import Enough, Replay


def enough(scenario: Scenario, until: float | None) -> Enough | None:
    """What the replay asks after each repeat; None where the scenario's number of repeats holds."""
    if until is None:
        return None
    from pathtrace.analysis.until import judge

    def narrow(windows: Sequence[Window]) -> bool:
        return judge(scenario, until, windows).reached

    return narrow


def judged(scenario: Scenario, until: float | None, replay: Replay) -> Until | None:
    """How far the replay has come; None where nothing was asked for."""
    if until is None:
        return None
    from pathtrace.analysis.until import judge

    found = judge(scenario, until, replay.windows)
    return found if found.reached else replace(found, ended_by=replay.ended_by)
