"""What a night told, in the words that history has for it."""

from __future__ import annotations

import pytest

from pathtrace.model.history import ENDED, NEW, Change, PastScenario, Told
from pathtrace.model.scanning import EXPECTATION, FAILURE
from pathtrace.render.history_words import change_lines, steadiness, told_text

NIGHT = "20261130-011503-ab12"


@pytest.mark.parametrize(
    ("kind", "state", "words"),
    [
        ("step", NEW, "told: index takes 20 % longer"),
        ("step", ENDED, "told to be over: index takes 20 % longer"),
        (EXPECTATION, NEW, "told: index takes longer than it may"),
        (EXPECTATION, ENDED, "told: index is within its limit again"),
        (FAILURE, NEW, "told: the scan of index failed"),
        (FAILURE, ENDED, "told: index can be measured again"),
    ],
)
def test_what_a_night_told_is_said_by_its_kind(kind: str, state: str, words: str) -> None:
    assert told_text(Told(kind, "index", NIGHT, state, 1.2 if kind == "step" else None)) == words


@pytest.mark.parametrize(
    ("comparable", "words"),
    [
        (17, "17 comparable runs: a lasting change can show from 18 on."),
        (30, "No lasting change was found in 30 comparable runs."),
        (120, "No lasting change was found in the last 30 of 120 comparable runs."),
    ],
)
def test_of_runs_by_hand_it_is_said_which_were_looked_at(comparable: int, words: str) -> None:
    past = PastScenario("lab", (), (), (), comparable=comparable, needed=18, newest=30)
    assert steadiness(past) == words


@pytest.mark.parametrize(
    ("now", "before", "words"),
    [
        ("link:lan", "link:lan", ["Limited by link:lan, as before."]),
        ("unknown", "link:lan", ["Limited by unknown, before by link:lan."]),
        ("unknown", "unknown", []),
        ("unknown", None, []),
        (None, "link:lan", []),
    ],
)
def test_what_limits_a_change_is_said_where_something_of_it_is_known(
    now: str | None, before: str | None, words: list[str]
) -> None:
    change = Change("step", "index", NEW, NIGHT, 4, 1.2, 1.1, 1.3, resource=now, resource_before=before)
    assert list(change_lines(change, "night"))[1:] == words
