"""Whom the environment adds to those who are told."""

from __future__ import annotations

from pathtrace.app.telling import with_stated_ways
from tests.unit.scenario.example import read, text_of

SCENARIO = read(text_of("tell: {urls: [ntfy://topic-1], log: /l}\n"))


def test_urls_of_the_environment_are_told_too_each_once_and_are_secrets() -> None:
    told = with_stated_ways(SCENARIO, {"PATHTRACE_TELL": " json://here  ntfy://topic-1 "})
    assert told.tell.urls == ("ntfy://topic-1", "json://here")
    assert told.tell.log == "/l"
    assert {"ntfy://topic-1", "json://here"} <= set(told.secrets)


def test_an_empty_variable_adds_nobody() -> None:
    assert with_stated_ways(SCENARIO, {"PATHTRACE_TELL": " "}) is SCENARIO
    assert with_stated_ways(SCENARIO, {}) is SCENARIO
