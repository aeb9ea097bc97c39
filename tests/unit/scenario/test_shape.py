"""One faulty entry does not hide what is wrong with, or sound in, the others."""

from __future__ import annotations

from pathtrace.scenario.shape import read_document
from pathtrace.scenario.tree import read_tree
from tests.unit.scenario.example import faults_of, text_of


def test_what_is_sound_is_read_beside_what_is_faulty() -> None:
    text = text_of("repeats: many\nhosts: {nas: {adress: x}, box: {}}\nworkload: {users: 0, requests: 7}\n")
    document, faults = read_document(read_tree(text, {}))
    assert len(faults) == 3
    assert document is not None
    assert (document.repeats, list(document.hosts), document.workload.requests) == (5, ["box"], 7)
    assert len(document.flows) == 3


def test_what_is_missing_only_because_it_is_faulty_is_told_once() -> None:
    text = text_of(places="  a: {kind: ${UNSET}}\n", flows="  f: {path: [a, a]}\n")
    assert [message for message, _ in faults_of(text.replace("${UNSET}", '"${UNSET}"'))] == [
        "lab.yaml:4:13: the environment variable UNSET is not set"
    ]


def test_another_format_version_is_the_only_thing_told() -> None:
    faults = faults_of(text_of("qustion: x\n").replace("pathtrace: 1", "pathtrace: 2"))
    assert [message for message, _ in faults] == [
        "lab.yaml:1:12: this version reads scenarios that start with pathtrace: 1, not 2"
    ]


def test_a_hint_for_a_list_within_a_list_shows_one() -> None:
    assert faults_of(text_of("together: [index]\n"))[0][1] == "write one as [a, b]"
