"""Faults come in file order, each once, with what was meant and without secrets."""

from __future__ import annotations

from pathtrace.redaction import Scrubber
from pathtrace.scenario.faults import Fault, allowed, nearest, scenario_error, shown


def test_faults_are_ordered_located_and_told_once() -> None:
    faults = [Fault(3, 1, "b", "do"), Fault(1, 9, "a"), Fault(1, 2, "c"), Fault(3, 1, "b", "do")]
    error = scenario_error(faults, "x.yaml", str)
    assert [(str(fault), fault.hint) for fault in error.faults] == [
        ("x.yaml:1:2: c", None),
        ("x.yaml:1:9: a", None),
        ("x.yaml:3:1: b", "do"),
    ]


def test_a_long_message_is_cut_after_secrets_were_hidden() -> None:
    secret = "s" * 500
    error = scenario_error([Fault(1, 1, f"wrong: {secret}", "x" * 500)], "x.yaml", Scrubber((secret,)))
    assert error.faults[0].message == "wrong: ***"
    assert error.faults[0].hint == "x" * 400 + "…"


def test_the_nearest_choice_is_offered() -> None:
    assert allowed(["read", "mmap"], "Mmapp") == "allowed: read, mmap; did you mean 'mmap'?"
    assert allowed(["read", "mmap"], "zzz") == "allowed: read, mmap"
    assert allowed([], "zzz") == "nothing is allowed there"
    assert nearest("", ["a"]) is None


def test_text_is_shown_in_quotes_and_other_values_as_they_are() -> None:
    assert (shown("a"), shown(5), shown(True)) == ("'a'", "5", "True")
