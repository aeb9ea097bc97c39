"""YAML as plain values, each with its line and column."""

from __future__ import annotations

from pathtrace.scenario.faults import Fault
from pathtrace.scenario.tree import LONGEST_TEXT, Plain, read_tree


def test_values_and_keys_know_their_lines_and_columns() -> None:
    tree = read_tree("a: 1\nb:\n  - x\n  - {c: yes}\n", {})
    assert tree.root == {"a": "1", "b": ["x", {"c": "yes"}]}
    assert tree.values == {
        (): (1, 1),
        ("a",): (1, 4),
        ("b",): (3, 3),
        ("b", 0): (3, 5),
        ("b", 1): (4, 5),
        ("b", 1, "c"): (4, 9),
    }
    assert tree.keys == {("a",): (1, 1), ("b",): (2, 1), ("b", 1, "c"): (4, 6)}
    assert tree.faults == []


def test_plain_words_are_truths_nothing_or_text_and_quoted_ones_always_text() -> None:
    tree = read_tree("[true, null, ~, '', 'true', 24 h, 24, no]".join(["a: ", ""]), {})
    assert tree.root == {"a": [True, None, None, "", "true", "24 h", "24", "no"]}
    assert [type(value) for value in tree.at(("a",)) or []] == [  # type: ignore[union-attr]
        *(bool, type(None), type(None), str, str, Plain, Plain, Plain)
    ]


def test_a_variable_cannot_change_the_structure_of_a_file() -> None:
    tree = read_tree("a: ${EVIL}\nb: '${EVIL}'\n", {"EVIL": "x\nc: {d: e}"})
    assert tree.root == {"a": "x\nc: {d: e}", "b": "x\nc: {d: e}"}


def test_a_plain_variable_may_stand_for_a_number_or_a_truth() -> None:
    tree = read_tree("a: ${N}\nb: ${T}\n", {"N": "5", "T": "true"})
    assert tree.root == {"a": "5", "b": True}
    assert isinstance(tree.at(("a",)), Plain)


def test_an_unset_variable_breaks_its_value_only() -> None:
    tree = read_tree("a: ${N}\nb: 1\n", {})
    assert tree.broken == [("a",)]
    assert [(fault.line, fault.column) for fault in tree.faults] == [(1, 4)]


def test_an_alias_stands_for_its_anchor() -> None:
    assert read_tree("a: &x [1]\nb: *x\n", {}).root == {"a": ["1"], "b": ["1"]}


def test_an_anchor_that_is_set_twice_is_no_warning() -> None:
    assert read_tree("a: &x 1\nb: &x 2\nc: *x\n", {}).root == {"a": "1", "b": "2", "c": "2"}


def test_a_file_that_is_far_too_long_is_not_read() -> None:
    fault = Fault(1, 1, f"the file is longer than {LONGEST_TEXT} characters", "is this the right file?")
    assert read_tree("a" * (LONGEST_TEXT + 1), {}).faults == [fault]


def test_brackets_without_end_are_answered_soon() -> None:
    fault = Fault(1, 1, "nested more than 40 deep", "is this the right file?")
    assert read_tree("{a: " * 50_000, {}).faults == [fault]


def test_a_fault_without_a_place_of_its_own_stands_at_what_is_around_it() -> None:
    tree = read_tree("a:\n  b: 1\n", {})
    assert tree.fault(("a", "c", 3), "x") == Fault(2, 3, "x")
    assert tree.key_fault(("a", "c"), "x") == Fault(1, 1, "x")
    assert tree.key_fault((), "x") == Fault(1, 1, "x")
