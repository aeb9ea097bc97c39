"""What is said of a run that was to go on until its figures are well known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pathtrace.model.run import FlowWidth, Until
from pathtrace.render.until import until_document, until_text

ANSWER = FlowWidth("answer", 8, 0.024, drifts=False, two_kinds=False)
INDEX = FlowWidth("index", 8, 0.06, drifts=False, two_kinds=False)


@pytest.mark.parametrize(
    ("until", "text"),
    [
        (Until(0.03, True, 8, (ANSWER,)), "until ±3 %: reached after 8 repeats: answer ±2.4 %"),
        (
            Until(0.03, False, 8, (ANSWER, INDEX), "time"),
            "until ±3 %: not reached: the time budget ended it after 8 repeats at index ±6 %, answer ±2.4 %",
        ),
        (
            Until(0.025, False, 8, (ANSWER,), "bytes"),
            "until ±2.5 %: not reached: the bytes budget ended it after 8 repeats at answer ±2.4 %",
        ),
        (
            Until(0.03, False, 8, (INDEX, replace(ANSWER, drifts=True)), "stop"),
            "until ±3 %: not reached: it was stopped after 8 repeats at answer ±2.4 % (drifts), index ±6 %",
        ),
        (
            Until(0.03, True, 9, (replace(ANSWER, two_kinds=True),)),
            "until ±3 %: reached after 9 repeats: answer ±2.4 % (two kinds)",
        ),
        (
            Until(0.03, False, 1, (FlowWidth("answer", 1, None, False, False),)),
            "until ±3 %: not reached: it was cut off after 1 repeat at answer without an interval",
        ),
        (Until(0.03, False, 0, ()), "until ±3 %: not reached: no flow could be measured"),
    ],
)
def test_it_says_whether_it_was_reached_or_what_ended_it_and_how_wide_each_flow_is(
    until: Until, text: str
) -> None:
    assert until_text(until) == text


def test_the_document_has_the_widest_and_each() -> None:
    assert until_document(Until(0.03, False, 8, (ANSWER, INDEX), "time")) == {
        "asked": 0.03,
        "reached": False,
        "half_width": 0.06,
        "repeats": 8,
        "ended_by": "time",
        "flows": [
            {"name": "answer", "repeats": 8, "half_width": 0.024, "drifts": False, "two_kinds": False},
            {"name": "index", "repeats": 8, "half_width": 0.06, "drifts": False, "two_kinds": False},
        ],
    }


def test_one_flow_without_an_interval_leaves_no_width_of_the_whole() -> None:
    document = until_document(Until(0.03, False, 1, (ANSWER, replace(INDEX, half_width=None))))
    assert isinstance(document, dict)
    assert document["half_width"] is None


def test_nothing_asked_for_is_null() -> None:
    assert until_document(None) is None
