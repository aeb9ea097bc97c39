"""Limits of a scenario: kept, broken or not to be judged; new, standing or over."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pathtrace.analysis import analyse
from pathtrace.analysis.nightly.expectations import (
    NOT_MEASURED,
    NOTHING_YET,
    judge,
    standing,
    state_of,
)
from pathtrace.model.history import ENDED, NEW, STANDING, Told
from pathtrace.model.report import Report
from pathtrace.model.scanning import EXPECTATION, Beside, Expectation
from pathtrace.model.scenario import Scenario
from pathtrace.store.runs import load

RUN = load(Path(__file__).parents[3] / "data" / "runs" / "v1")


def expecting(*lines: tuple[str, str]) -> Scenario:
    return replace(RUN.scenario, control=replace(RUN.scenario.control, expect=lines))


def report(index_s: float = 10.0, request_s: float = 3.0, answer_s: float = 60.0) -> Report:
    """The index takes a while, a request another one, and all requests together a third."""
    found = analyse(RUN)
    took = {"index": index_s, "answer": answer_s}
    flows = [
        replace(flow, duration_s=replace(flow.duration_s, value=took[flow.name])) for flow in found.flows
    ]
    hops = [
        replace(hop, duration_s=took[hop.flow], latency=replace(hop.latency, p50_s=request_s / 2))
        for hop in found.hops
    ]
    requests = [replace(each, latency=replace(each.latency, p50_s=request_s)) for each in found.requests]
    return replace(found, flows=tuple(flows), hops=tuple(hops), requests=tuple(requests))


def slower(ratio: float, low: float) -> Beside:
    return Beside("index", 10.0 * ratio, 10.0, ratio, low, ratio * 1.2, "slower")


def told(name: str, state: str) -> Told:
    return Told(EXPECTATION, name, "20261101-020000-aaaa", state)


@pytest.mark.parametrize(
    ("line", "limit_s", "measured_s", "kept"),
    [
        (("index", "20 s"), 20.0, 10.0, True),
        (("index", "10 s"), 10.0, 10.0, True),
        (("index", "9 s"), 9.0, 10.0, False),
        (("index/archive->indexer", "9 s"), 9.0, 10.0, False),
        (("answer", "3 s"), 3.0, 3.0, True),
        (("answer/model->people", "1 s"), 1.0, 1.5, False),
    ],
)
def test_a_duration_is_held_against_an_execution_and_where_people_ask_against_a_request(
    line: tuple[str, str], limit_s: float, measured_s: float, kept: bool
) -> None:
    state = None if kept else NEW
    assert judge(expecting(line), report(), ()) == (
        Expectation(*line, limit_s, measured_s, kept, None, state),
    )


@pytest.mark.parametrize(
    ("beside", "kept", "reason"),
    [
        (slower(1.1, 1.05), True, None),
        (slower(1.3, 1.1), False, None),
        (slower(1.3, 0.9), True, "it took longer, and by less than days differ anyway"),
    ],
)
def test_a_surplus_is_held_against_the_baseline_and_broken_only_where_that_is_sure(
    beside: Beside, kept: bool, reason: str | None
) -> None:
    (found,) = judge(expecting(("index", "+20%")), report(), (beside,))
    assert (found.limit_s, found.measured_s, found.kept) == (12.0, beside.now_s, kept)
    assert found.reason == reason


def test_what_cannot_be_judged_says_why_and_is_neither_kept_nor_broken() -> None:
    first = judge(expecting(("index", "+20%")), report(), ())
    assert first == (Expectation("index", "+20%", None, None, None, NOTHING_YET),)
    failed = judge(expecting(("index", "20 s"), ("answer", "+5%")), None, (), (told("index", NEW),))
    assert [(each.kept, each.reason, each.state) for each in failed] == [
        (None, NOT_MEASURED, STANDING),
        (None, NOT_MEASURED, None),
    ]


def test_a_broken_expectation_is_new_once_then_standing_and_once_over() -> None:
    scenario = expecting(("index", "9 s"))
    states = []
    history: tuple[Told, ...] = ()
    for index_s in (8.0, 10.0, 10.0, 8.0, 8.0, 10.0):
        (found,) = judge(scenario, report(index_s), (), history)
        states.append(found.state)
        if found.state in (NEW, ENDED):
            history = (*history, told("index", found.state))
    assert states == [None, NEW, STANDING, ENDED, None, NEW]


def test_what_was_told_and_not_told_to_be_over_stands() -> None:
    said = (told("a", NEW), told("b", NEW), told("a", ENDED), Told("step", "c", "x", NEW))
    assert standing(said, EXPECTATION) == {"b": "20261101-020000-aaaa"}
    assert [state_of(bad, known) for bad in (True, False, None) for known in (True, False)] == [
        *(STANDING, NEW),
        *(ENDED, None),
        *(STANDING, None),
    ]
