import json
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pathtrace.model.comparison import LikeTimes
from pathtrace.store.history import MOST, like_times
from tests.unit.store import nights
from tests.unit.store.example import RUN

START = "as-is"
LIKE: dict[str, Any] = {
    "status": "complete",
    "scenario": {"workload_fingerprint": "w", "setup_fingerprint": "s"},
    "start_condition": {"start": START},
    "flows": [
        {"name": "index", "duration_s": {"median": 2.0}},
        {"name": "answer", "duration_s": None},
    ],
    "hops": [
        {"flow": "index", "name": "archive->indexer", "duration_s": 1},
        {"flow": "answer", "name": "model->people", "duration_s": None},
    ],
}


def keep(store: Path, name: str, text: str) -> None:
    (store / name).mkdir()
    (store / name / "facts.json").write_text("{}")
    (store / name / "run.json").write_text(text)


def test_like_runs_up_to_this_one_are_its_history(tmp_path: Path) -> None:
    run = replace(RUN, id="20261130-2")
    keep(tmp_path, "20261130-1", json.dumps(LIKE))
    keep(tmp_path, "20261130-2", json.dumps(LIKE | {"flows": []}))
    keep(tmp_path, "20261130-3", json.dumps(LIKE))
    assert like_times(tmp_path, run, START) == (
        LikeTimes("index", (2.0,)),
        LikeTimes("index/archive->indexer", (1.0, 1.0)),
    )


def test_other_work_other_set_ups_other_starts_and_parts_of_runs_are_none(tmp_path: Path) -> None:
    others: tuple[dict[str, Any], ...] = (
        {"scenario": {"workload_fingerprint": "other", "setup_fingerprint": "s"}},
        {"scenario": {"workload_fingerprint": "w", "setup_fingerprint": "other"}},
        {"start_condition": {"start": "cold"}},
        {"status": "interrupted"},
    )
    for number, other in enumerate(others):
        keep(tmp_path, f"20261129-{number}", json.dumps(LIKE | other))
    assert like_times(tmp_path, RUN, START) == ()


def test_other_data_is_another_history(tmp_path: Path) -> None:
    [reached] = RUN.reached
    assert reached.facts is not None
    run = replace(RUN, reached=(replace(reached, facts=replace(reached.facts, fingerprint="f1")),))
    for number, fingerprint in enumerate(("f1", "f2", None)):
        data = {"dataset": {"archive": {"fingerprint": fingerprint}}}
        keep(tmp_path, f"20261129-{number}", json.dumps(LIKE | data))
    assert like_times(tmp_path, run, START)[0] == LikeTimes("index", (2.0, 2.0))


def test_requests_at_a_rate_have_no_history_of_how_long_all_of_them_took(tmp_path: Path) -> None:
    asked = {"name": "answer", "duration_s": {"median": 9}}
    keep(tmp_path, "20261129-1", json.dumps(LIKE | {"flows": [asked]}))
    workload = replace(RUN.scenario.workload, rate_per_s=2.0)
    paced = replace(RUN, scenario=replace(RUN.scenario, workload=workload))
    assert [each.name for each in like_times(tmp_path, paced, START)] == ["index/archive->indexer"]
    assert [each.name for each in like_times(tmp_path, RUN, START)] == ["answer", "index/archive->indexer"]


def test_what_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    keep(tmp_path, "20261129-1", "{")
    keep(tmp_path, "20261129-2", "[]")
    keep(tmp_path, "20261129-3", json.dumps(LIKE | {"flows": 3, "hops": [1]}))
    (tmp_path / "20261129-4").mkdir()
    (tmp_path / "20261129-4" / "facts.json").write_text("{}")
    assert like_times(tmp_path, RUN, START) == ()
    assert like_times(tmp_path / "none", RUN, START) == ()


def test_only_the_latest_are_looked_at(tmp_path: Path) -> None:
    for number in range(MOST + 5):
        keep(tmp_path, f"20261129-{number:03}", json.dumps(LIKE))
    assert len(like_times(tmp_path, RUN, START)[0].medians_s) == MOST


def test_of_an_index_of_a_newer_version_nothing_is_needed(tmp_path: Path) -> None:
    run = replace(RUN, id="20261130-3")
    for number in range(4):
        keep(tmp_path, f"20261130-{number}", json.dumps(LIKE))
    known = like_times(tmp_path, run, START)
    assert [len(each.medians_s) for each in known] == [4, 4]
    with sqlite3.connect(tmp_path / "history.sqlite") as db:
        db.execute("PRAGMA user_version=99")
    db.close()
    assert like_times(tmp_path, run, START) == known


def on_the_night(number: int, index_s: float, speed: float = 312_500_000.0) -> tuple[Any, Any]:
    """Facts and document of a run whose card has that speed, whatever its scenario says."""
    environment = nights.facts(number)["environment"] | {
        "hosts": [nights.host("workstation", "Linux 6.12", speed)]
    }
    told = nights.facts(number, environment=environment, starts=[{"repeat": 0, "start": START}])
    flows = [{"name": "index", "duration_s": {"median": index_s, "low": index_s, "high": index_s}}]
    return told, LIKE | {"flows": flows, "hops": []}


@pytest.mark.parametrize("newer", [False, True], ids=["from the index", "from the documents"])
def test_like_runs_between_the_two_count_and_those_held_against_it_do_not(
    tmp_path: Path, newer: bool
) -> None:
    for number in range(6):
        nights.keep_run(tmp_path, number, *on_the_night(number, 2.0 + number))
    if newer:
        with sqlite3.connect(tmp_path / "history.sqlite") as db:
            db.execute("PRAGMA user_version=99")
        db.close()
    run, after = replace(RUN, id=nights.run_id(1)), nights.run_id(4)
    assert like_times(tmp_path, run, START) == (LikeTimes("index", (2.0, 3.0)),)
    between = like_times(tmp_path, run, START, until=after, apart={after})
    assert between == (LikeTimes("index", (2.0, 3.0, 4.0, 5.0)),)
    earlier = nights.run_id(0)
    assert like_times(tmp_path, run, START, until=earlier, apart={earlier}) == (LikeTimes("index", (3.0,)),)
    both = {nights.run_id(2), after}
    assert like_times(tmp_path, run, START, until=after, apart=both)[0].medians_s == (2.0, 3.0, 5.0)


@pytest.mark.parametrize("newer", [False, True], ids=["from the index", "from the documents"])
def test_a_run_behind_another_card_is_no_like_one_though_the_scenario_says_so(
    tmp_path: Path, newer: bool
) -> None:
    for number, speed in enumerate((312_500_000.0, 312_500_000.0, 1.25e9)):
        nights.keep_run(tmp_path, number, *on_the_night(number, 2.0 + number, speed))
    if newer:
        with sqlite3.connect(tmp_path / "history.sqlite") as db:
            db.execute("PRAGMA user_version=99")
        db.close()
    run = replace(RUN, id=nights.run_id(0))
    assert like_times(tmp_path, run, START, until=nights.run_id(3))[0].medians_s == (2.0, 3.0)
