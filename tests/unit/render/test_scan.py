"""What a scan says of itself: a few lines that a person reads in the morning, and keys that never change."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pathtrace.model.history import ENDED, FAILED, INTERRUPTED, NEW, SKIPPED, Told
from pathtrace.model.report import Caveat
from pathtrace.model.scanning import Expectation, ScanReport
from pathtrace.render.scan import MOST_DOUBTS, scan_view
from pathtrace.render.scan_document import scan_document
from tests.golden import assert_golden
from tests.telling.example import CREEP, ENTRY, MARKS, QUIET, STEP
from tests.unit.render.drawn import drawn
from tests.unit.render.test_json_document import keys_of

GOLDEN = Path(__file__).parent / "golden"
DOUBT = Caveat(
    "history-unwritten", "the index of history cannot be written", "make room there", "history.sqlite"
)
EXPECTATIONS = (
    Expectation("index", "5 min", 300.0, 575.0, False, None, NEW),
    Expectation("answer", "3 s", 3.0, 2.4, True, None, ENDED),
    Expectation(
        "index/archive->indexer", "+20%", None, None, None, "there is nothing yet to hold it against"
    ),
)
CHANGED = replace(QUIET, changes=(STEP, replace(CREEP, state=ENDED)), expectations=EXPECTATIONS)
SHOWN: dict[str, ScanReport] = {
    "changed": CHANGED,
    "quiet": replace(
        QUIET, beside=(replace(QUIET.beside[0], ratio=1.01, low=0.98, high=1.04, verdict="same"),)
    ),
    "first": replace(QUIET, against=None, beside=(), waited_s=0.0),
    "skipped": replace(
        QUIET,
        outcome=SKIPPED,
        waited_s=1800.0,
        against=None,
        beside=(),
        entry=replace(ENTRY, took=(), status=SKIPPED, reason="CPU 74 % busy with other work"),
    ),
    "failed": replace(
        QUIET,
        outcome=FAILED,
        against=None,
        beside=(),
        failure=NEW,
        entry=replace(ENTRY, took=(), status=FAILED, reason="archive: nas does not answer"),
    ),
    "interrupted": replace(QUIET, against=None, beside=(), entry=replace(ENTRY, status=INTERRUPTED)),
}


def test_of_many_doubts_the_first_are_shown() -> None:
    doubts = [Caveat("damaged", f"run {number} is damaged", None, str(number)) for number in range(50)]
    text = drawn(scan_view(QUIET, doubts, "/runs/20261130-011503-ab12"), 80)
    assert text.count("is damaged") == MOST_DOUBTS
    assert f"? and {50 - MOST_DOUBTS} more: --json has them all" in text


def test_of_a_failed_scan_no_expectation_is_said_to_be_unjudged() -> None:
    unjudged = tuple(replace(each, kept=None, reason="it was not measured") for each in EXPECTATIONS)
    report = replace(SHOWN["failed"], expectations=unjudged)
    assert drawn(scan_view(report, (), None), 80) == drawn(scan_view(SHOWN["failed"], (), None), 80)


@pytest.mark.parametrize("name", SHOWN)
def test_a_scan_says_in_words_what_happened(name: str) -> None:
    text = drawn(
        scan_view(SHOWN[name], (DOUBT,) if name == "changed" else (), "/runs/20261130-011503-ab12"), 80
    )
    assert max(map(len, text.splitlines())) <= 80
    assert_golden(GOLDEN / f"scan_{name}.txt", text)


def test_what_is_longer_but_not_surely_is_no_praise() -> None:
    near = replace(QUIET, expectations=(Expectation("index", "+20%", 360.0, 575.0, True),))
    assert 'As expected: "index" +20% (not surely more).' in drawn(scan_view(near, (), "/runs/a"), 80)


def test_what_could_not_be_kept_is_said() -> None:
    assert "This night is not in the store." in drawn(scan_view(SHOWN["failed"], (), None), 80)


def test_the_keys_of_the_document_never_change_unnoticed() -> None:
    told = (Told("step", "index", STEP.since, NEW, 2.3, ENTRY.id),)
    report = replace(CHANGED, changes=(replace(STEP, marks=MARKS[:1]),))
    document = scan_document(report, ENTRY.id, told, (DOUBT,))
    assert_golden(GOLDEN / "scan_keys.txt", "\n".join(sorted(keys_of(document))) + "\n")
