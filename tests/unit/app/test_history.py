"""What ``history`` mends: runs that were killed between their last sample and their figures."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from pathtrace.app.history import Asked, Past, look_back, look_back_anew
from pathtrace.errors import UsageError
from tests.unit.store.nights import keep_run, keep_scan, run_id

KEPT = Path(__file__).parents[2] / "data" / "runs" / "v1"


def looked(store: Path, asked: Asked | None = None) -> Past:
    return look_back(store, asked or Asked(), lambda done, of: None)


def test_a_run_that_was_killed_before_its_figures_were_written_gets_them(tmp_path: Path) -> None:
    folder = tmp_path / "20261130-091412-k3f9"
    shutil.copytree(KEPT, folder)
    [scenario] = looked(tmp_path).scenarios
    [entry] = scenario.entries
    assert entry.took
    document = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    assert document["format"] == "pathtrace.run/1"
    assert (folder / "report.md").read_text(encoding="utf-8").startswith("# ")


def test_one_that_cannot_be_analysed_stays_as_it_is(tmp_path: Path) -> None:
    folder = keep_run(tmp_path, 1, shown={})
    before = sorted(path.name for path in folder.iterdir())
    [scenario] = looked(tmp_path).scenarios
    assert [entry.took for entry in scenario.entries] == [()]
    assert sorted(path.name for path in folder.iterdir()) == before


def test_the_last_nights_are_shown_and_changes_are_looked_for_in_all(tmp_path: Path) -> None:
    for night in range(20):
        keep_run(tmp_path, night)
    [scenario] = looked(tmp_path, Asked(limit=3)).scenarios
    assert [entry.id for entry in scenario.entries] == [run_id(night) for night in (17, 18, 19)]
    assert (scenario.comparable, scenario.changes, scenario.noun) == (20, (), "run")
    assert (scenario.needed, scenario.newest) == (18, 30)
    keep_scan(tmp_path, 20)
    assert looked(tmp_path).scenarios[0].noun == "night"


def test_anew_is_as_before(tmp_path: Path) -> None:
    for night in range(3):
        keep_run(tmp_path, night)
    assert look_back_anew(tmp_path, Asked(), lambda done, of: None) == looked(tmp_path)


def test_names_that_are_not_there_are_refused(tmp_path: Path) -> None:
    keep_run(tmp_path, 0)
    for asked in (Asked(scenario="archive"), Asked(flow="reload")):
        with pytest.raises(UsageError, match="there is no history of a") as caught:
            looked(tmp_path, asked)
        assert "there are " in (caught.value.hint or "")
