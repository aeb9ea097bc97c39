"""Variables are put in exactly as written, and never twice."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathtrace.scenario.variables import Expanded, default_spans, expand

ENVIRON = {"HOME": "/home/a", "EMPTY": "", "ODD": "${HOME} $$"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("${HOME}/x", Expanded("/home/a/x", (("HOME", "/home/a"),), ())),
        ("${NONE:-y} z", Expanded("y z", (("NONE", "y"),), ())),
        ("${EMPTY:-y}", Expanded("y", (("EMPTY", "y"),), ())),
        ("${EMPTY}", Expanded("", (("EMPTY", ""),), ())),
        ("${NONE:-}", Expanded("", (("NONE", ""),), ())),
        ("${ODD}", Expanded("${HOME} $$", (("ODD", "${HOME} $$"),), ())),
        ("$${HOME} $HOME $", Expanded("${HOME} $HOME $", (), ())),
    ],
)
def test_references_are_replaced(text: str, expected: Expanded) -> None:
    assert expand(text, ENVIRON) == expected


def test_an_unset_variable_is_a_fault_that_says_how_to_set_it() -> None:
    hint = "set it (export NONE=…), or give a default: ${NONE:-default}; a dollar sign itself is $$"
    assert expand("a${NONE}b", {}).faults == (("the environment variable NONE is not set", hint),)


@pytest.mark.parametrize("text", ["${", "${}", "${A B}", "${1}", "${A:-${B}}"])
def test_what_looks_like_a_variable_and_is_none_is_a_fault(text: str) -> None:
    assert len(expand(text, ENVIRON).faults) == 1


def test_written_defaults_are_found() -> None:
    assert default_spans("a ${KEY:-sk-1} ${B}") == (("KEY", (9, 13)),)


@given(st.text())
def test_text_without_a_dollar_sign_stays(text: str) -> None:
    text = text.replace("$", "")
    assert expand(text, ENVIRON) == Expanded(text, (), ())


@given(st.text())
def test_any_text_can_be_written_by_doubling_dollar_signs(text: str) -> None:
    assert expand(text.replace("$", "$$"), ENVIRON).text == text
