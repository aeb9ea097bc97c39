"""What is told, word for word: each message must stand alone on a phone in the morning."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pathtrace.model.history import Change
from pathtrace.model.scanning import Expectation, ScanReport
from pathtrace.render.alert import alert, in_short, is_bad
from pathtrace.render.alert_news import night
from tests.golden import assert_golden
from tests.telling import example

GOLDEN = Path(__file__).parent / "golden"
FASTER = replace(
    example.STEP,
    name="index",
    ratio=0.6,
    low=0.55,
    high=0.66,
    before_s=250.0,
    after_s=150.0,
    also=(),
    resource="disk:archive",
    resource_before="link:lan",
    marks=(replace(example.MARKS[0], before="1000 Mbit/s", after="2500 Mbit/s"),),
)
GROWTH = replace(
    example.STEP,
    kind="growth",
    name="index",
    ratio=1.25,
    low=1.2,
    high=1.3,
    before_s=440.0,
    after_s=550.0,
    also=(),
    marks=(),
)


def over(change: Change) -> ScanReport:
    return example.with_changes(replace(change, state="ended", ended_with=example.NIGHT))


STILL = replace(example.CREEP, state="standing")
KEPT = Expectation("index", "5 min", 300.0, 250.0, True, None, "ended")
UNMEASURED = Expectation("answer", "3 s", 3.0, None, False, "the model server refused", "new")
CASES = {
    "step": example.with_changes(example.STEP),
    "creep": example.with_changes(example.CREEP),
    "creep_faster": example.with_changes(
        replace(example.CREEP, ratio=0.9, low=0.85, high=0.96, per_week=0.98)
    ),
    "creep_settled": over(replace(example.CREEP, settled=True)),
    "outage": example.with_changes(example.OUTAGE),
    "growth": example.with_changes(GROWTH),
    "faster": example.with_changes(FASTER),
    "ended": over(example.STEP),
    "outage_ended": over(example.OUTAGE),
    "faster_ended": over(FASTER),
    "broken_expectation": replace(example.QUIET, expectations=(example.BROKEN,)),
    "kept_again": replace(example.QUIET, expectations=(KEPT,)),
    "failed": example.failed("new"),
    "failed_no_more": replace(example.QUIET, failure="ended"),
    "several": replace(
        example.with_changes(replace(FASTER, name="load"), example.STEP, STILL),
        expectations=(example.BROKEN, UNMEASURED),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_message_says_it_all(name: str) -> None:
    message = alert(CASES[name])
    assert message is not None
    mood = "good" if message.good else "bad"
    assert_golden(GOLDEN / f"{name}.txt", f"{message.title}\n[{mood}]\n\n{message.body}\n")


@pytest.mark.parametrize(
    "report",
    [
        example.QUIET,
        example.skipped(),
        example.failed("standing"),
        example.failed(None),
        example.with_changes(STILL, replace(example.STEP, state="standing")),
        replace(example.QUIET, expectations=(replace(example.BROKEN, state="standing"),)),
        replace(example.QUIET, expectations=(replace(example.BROKEN, kept=None, state=None),)),
    ],
)
def test_nothing_is_told_of_what_is_not_new(report: ScanReport) -> None:
    assert alert(report) is None


@pytest.mark.parametrize(
    ("name", "report"),
    [
        ("skipped", example.skipped()),
        ("quiet", example.QUIET),
        ("first", replace(example.QUIET, against=None)),
        ("failing", example.failed("standing")),
        ("step", CASES["step"]),
    ],
)
def test_a_healthcheck_hears_what_became_of_every_scan(name: str, report: ScanReport) -> None:
    assert_golden(GOLDEN / f"healthcheck_{name}.txt", in_short(report) + "\n")


def test_a_healthcheck_fails_where_nothing_was_measured_or_a_limit_is_broken() -> None:
    assert is_bad(example.failed("standing"))
    assert is_bad(CASES["broken_expectation"])
    assert not is_bad(example.skipped())
    assert not is_bad(CASES["step"])


def test_words_of_others_cannot_steer_a_terminal_and_odd_names_can_be_typed() -> None:
    entry = replace(example.failed("new", "\x1b[2Jgone").entry, scenario="my files; rm")
    message = alert(replace(example.failed("new"), entry=replace(entry)))
    assert message is not None
    assert "\x1b" not in message.title + message.body
    step = replace(example.with_changes(example.STEP), entry=replace(example.ENTRY, scenario="my files; rm"))
    message = alert(step)
    assert message is not None
    assert "pathtrace history 'my files; rm' --flow index" in message.body


def test_many_news_fit_into_a_message() -> None:
    changes = [replace(example.STEP, name=f"flow-{number}", also=()) for number in range(30)]
    message = alert(example.with_changes(*changes))
    assert message is not None
    assert message.title == "household-archive on workstation: flow-0 takes 2.9 times as long, and 29 more"
    assert message.body.count("Limited by") == 5
    assert "And: flow-5 takes 2.9 times as long; flow-6 takes" in message.body
    assert len(message.body) < 4000


def test_a_title_is_one_line_whatever_a_scenario_is_called() -> None:
    entry = replace(example.ENTRY, scenario="lab\nBcc: somebody@example.org")
    message = alert(replace(example.with_changes(example.STEP), entry=entry))
    assert message is not None
    assert message.title.startswith("lab Bcc: somebody@example.org on workstation: ")


def test_a_night_is_named_where_the_reader_is() -> None:
    assert night("20261127-231503-cd34", example.ENTRY.at.tzinfo) == "Sat 28 Nov 2026"
    assert night("20261127-231503-cd34", None) == "Fri 27 Nov 2026"
    assert night("my-run", None) == "my-run"
    assert night("20269999-999999-aaaa", None) == "20269999-999999-aaaa"
