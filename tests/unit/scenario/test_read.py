"""Faulty files and the very words with which they are answered; anything else never breaks the reader."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pathtrace.errors import EXIT_USAGE, ScenarioError
from pathtrace.scenario import decode, parse
from tests.unit.scenario.example import FLOWS, PLACES, faults_of, read, text_of

FAULTY = sorted(path.stem for path in (Path(__file__).parent / "faulty").glob("*.yaml"))
SECRET = "hunter2'\"\\"


def answer_to(name: str) -> str:
    path = Path(__file__).parent / "faulty" / f"{name}.yaml"
    with pytest.raises(ScenarioError) as caught:
        parse(decode(path.read_bytes(), path.name), path.name, {"SECRET_WORD": SECRET})
    assert caught.value.exit_code == EXIT_USAGE
    return "".join(f"{fault}\n    {fault.hint}\n" for fault in caught.value.faults)


@pytest.mark.parametrize("name", FAULTY)
def test_a_faulty_file_is_answered_with_every_fault_its_place_and_what_is_allowed(name: str) -> None:
    expected = Path(__file__).parent / "faulty" / f"{name}.txt"
    assert answer_to(name) == expected.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", FAULTY)
def test_no_answer_shows_a_secret_or_leaves_out_what_to_do(name: str) -> None:
    answer = answer_to(name)
    assert "hunter2" not in answer
    assert "    None\n" not in answer


def test_a_byte_order_mark_and_windows_line_ends_are_read() -> None:
    text = text_of().replace("\n", "\r\n")
    assert read(decode(b"\xef\xbb\xbf" + text.encode(), "lab.yaml")).flows == read(text_of()).flows
    assert read("\ufeff" + text_of()).flows == read(text_of()).flows


def test_yes_and_no_are_words_as_yaml_1_2_has_it() -> None:
    text = text_of(places=PLACES.replace('url: "sqlite://"', 'url: "sqlite://", keep: no'))
    assert faults_of(text) == [
        ("lab.yaml:7:53: places.library.keep: 'no' is not a yes-or-no value", "allowed: true, false")
    ]


def test_the_source_names_the_file_in_messages() -> None:
    with pytest.raises(ScenarioError) as caught:
        parse("", "scenarios/mine.yaml", {})
    assert str(caught.value) == "scenarios/mine.yaml:1:1: the file is empty"


WORDS = st.sampled_from(
    [
        *("[]{}:,-&*!|>'\"#%@?$\n\t \0"),
        *("pathtrace: 1\n", "name: x\n", PLACES, FLOWS, "places:\n", "flows:\n", "kind: ", "files", "user"),
        *("${A}", "${", "  ", "&a ", "*a", "null", "~", "1e9", ".nan", "<<: "),
    ]
)


def faults_if_any(text: str) -> list[str]:
    try:
        parse(text, "lab.yaml", {"A": "b"})
    except ScenarioError as error:
        return [str(fault) for fault in error.faults] or ["no fault is told"]
    return []


@settings(max_examples=300, deadline=None)
@given(st.lists(WORDS | st.text(max_size=5), max_size=25).map("".join))
def test_any_text_is_a_scenario_or_a_list_of_faults_with_places(text: str) -> None:
    assert [fault for fault in faults_if_any(text) if not fault.startswith("lab.yaml:")] == []


@settings(max_examples=200, deadline=None)
@given(st.integers(0, len(text_of())), st.integers(0, 12), WORDS | st.text(max_size=3))
def test_a_sound_file_with_a_slip_is_read_or_answered(start: int, length: int, slip: str) -> None:
    text = text_of()[:start] + slip + text_of()[start + length :]
    assert [fault for fault in faults_if_any(text) if not fault.startswith("lab.yaml:")] == []


@given(st.binary(max_size=40))
def test_bytes_are_text_exactly_if_they_are_utf_8(content: bytes) -> None:
    try:
        expected = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        with pytest.raises(ScenarioError, match=r"^lab\.yaml:\d+:\d+: the byte 0x.. is not UTF-8$"):
            decode(content, "lab.yaml")
    else:
        assert decode(content, "lab.yaml") == expected
