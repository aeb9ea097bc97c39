"""Nights as a terminal shows them, where their work was not the same."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from io import StringIO

from rich.console import Console

from pathtrace.model.history import COMPLETE, HistoryEntry, PastScenario, Took
from pathtrace.render.history import history_view

FIRST = HistoryEntry(
    id="20261130-020000-aaaa",
    at=datetime(2026, 11, 30, 2, tzinfo=UTC),
    scenario="lab",
    workload_fingerprint="w1",
    setup_fingerprint="s1",
    start="cold",
    status=COMPLETE,
    duration_s=60.0,
    took=(Took("index", 2.0, 1.9, 2.1, None, 400), Took("index/archive->library", 2.0, 1.9, 2.1, None, 400)),
)
SECOND = replace(FIRST, id="20261201-020000-bbbb", at=datetime(2026, 12, 1, 2, tzinfo=UTC))


def nights(*entries: HistoryEntry) -> str:
    console = Console(file=StringIO(), width=80, markup=False, highlight=False)
    console.print(history_view([PastScenario("lab", entries, (), ())], (), None, None))
    assert isinstance(console.file, StringIO)
    return console.file.getvalue().partition("Runs\n")[2]


def test_runs_of_the_same_work_stand_without_a_word() -> None:
    assert nights(FIRST, SECOND) == (
        "                        index\n  20261130-020000-aaaa    2 s\n  20261201-020000-bbbb    2 s\n"
    )


def test_a_run_that_is_not_held_against_the_last_one_says_so() -> None:
    assert "20261130-020000-aaaa    2 s  other work or start, before\n" in nights(
        replace(FIRST, workload_fingerprint="w0", label="before"), SECOND
    )


def test_suddenly_more_to_do_is_said_once_for_each_flow() -> None:
    grown = replace(SECOND, took=tuple(replace(each, operations=800) for each in FIRST.took))
    assert nights(FIRST, grown).endswith("bbbb    2 s\n    index: 400 → 800 operations\n")


def test_data_that_grows_slowly_is_no_news() -> None:
    grown = replace(SECOND, took=tuple(replace(each, operations=430) for each in FIRST.took))
    assert "operations" not in nights(FIRST, grown)
