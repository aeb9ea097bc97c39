from __future__ import annotations

import asyncio
import dataclasses
import errno
import os
import shutil
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pathtrace.errors import RunFileError, StoreError
from pathtrace.model.run import Run
from pathtrace.model.sample import Reading, ReadingTable, Sample, Window
from pathtrace.store import runs
from pathtrace.store.facts import without_secrets, write_facts
from tests.unit.store.example import RUN, SCENARIO, any_of, sample, table

KEPT = Path(__file__).parents[2] / "data" / "runs" / "v1"
NOW = datetime(2026, 11, 30, 10, 14, 12, tzinfo=timezone(timedelta(hours=1)))
PLAIN = dataclasses.replace(RUN, scenario=without_secrets(SCENARIO))


def stored(store: Path, run: Run) -> Path:
    folder = runs.create(store, run.scenario.text, str, NOW)
    asyncio.run(runs.save(folder, run, str))
    return folder


def assert_same(one: Run, other: Run) -> None:
    assert one.samples.rows.tolist() == other.samples.rows.tolist()
    assert dataclasses.replace(one, samples=other.samples) == other


def cut(path: Path, count: int) -> None:
    path.write_bytes(path.read_bytes()[:-count])


def test_a_run_that_was_saved_loads_as_it_was(tmp_path: Path) -> None:
    folder = stored(tmp_path, PLAIN)

    assert_same(runs.load(folder), PLAIN)
    assert (folder / "scenario.yaml").read_text() == "pathtrace: 1\n"


def test_a_store_without_room_for_a_run_keeps_no_empty_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError, match="no space left on device"):
        runs.create(tmp_path, "pathtrace: 1\n", str, NOW)
    assert list(tmp_path.iterdir()) == []


small = st.integers(0, 2**15 - 1)
samples = st.builds(
    sample,
    flow=st.integers(0, 1),
    stage=st.integers(0, 1),
    operation=small,
    cause=small,
    bytes=st.integers(0, 2**62),
)
readings = st.builds(Reading, st.integers(), st.text(), st.text(), st.text(), st.floats(allow_nan=False))


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(samples, max_size=4),
    st.lists(readings, max_size=4),
    st.lists(any_of(Window), max_size=3),
    st.lists(st.text(), unique=True, max_size=3),
)
def test_whatever_was_recorded_comes_back(
    tmp_path: Path, samples: list[Sample], readings: list[Reading], windows: list[Window], faults: list[str]
) -> None:
    run = dataclasses.replace(
        PLAIN,
        samples=table(*samples),
        readings=ReadingTable(tuple(sorted(readings, key=lambda reading: reading.at_ns))),
        windows=tuple(windows),
        faults=tuple(faults),
    )

    assert_same(runs.load(stored(tmp_path, run)), run)


def test_a_new_run_is_named_after_its_second_in_universal_time_and_the_next_one_after_it(
    tmp_path: Path,
) -> None:
    names = [runs.create(tmp_path / "new" / "store", "", str, NOW).name for _ in range(3)]

    assert [name[:16] for name in names] == ["20261130-091412-", "20261130-091413-", "20261130-091414-"]


def test_the_scenario_is_stored_without_secrets(tmp_path: Path) -> None:
    folder = runs.create(tmp_path, "key: hunter2", lambda text: text.replace("hunter2", "***"), NOW)

    assert (folder / "scenario.yaml").read_text() == "key: ***"


def test_a_run_that_nobody_ended_is_interrupted_and_its_lost_window_is_worked_out(tmp_path: Path) -> None:
    folder = stored(tmp_path, PLAIN)
    write_facts(folder, dataclasses.replace(PLAIN, status="running", duration_s=0.0), str)
    cut(folder / "samples.bin", 5)
    lines = (folder / "windows.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "windows.jsonl").write_bytes(lines[1][:20])

    run = runs.load(folder)

    assert (run.status, run.duration_s, len(run.samples)) == ("interrupted", 0.006, 2)
    assert run.windows == (Window(0, 0, 0, 0, 5_000_000, 6_000_000, False, (1, 1)),)
    assert [caveat.code for caveat in run.caveats] == ["assumed", "interrupted"]


def test_the_lost_window_of_requests_has_as_many_users_as_were_seen(tmp_path: Path) -> None:
    asked = [sample(flow=1, request=n, worker=n, start_ns=n) for n in range(3)]
    folder = stored(tmp_path, dataclasses.replace(PLAIN, samples=table(*asked), windows=()))
    write_facts(folder, dataclasses.replace(PLAIN, status="running"), str)

    assert runs.load(folder).windows == (Window(0, 1, 0, 3, 0, 1_000_002, False, (3, 3)),)


@pytest.mark.parametrize("name", ["samples.bin", "readings.csv", "faults.jsonl", "windows.jsonl"])
def test_a_complete_run_of_which_something_is_lost_says_so(tmp_path: Path, name: str) -> None:
    folder = stored(tmp_path, dataclasses.replace(PLAIN, samples=table(sample())))
    cut(folder / name, 5)

    run = runs.load(folder)

    assert (run.status, run.caveats[-1].code) == ("partial", runs.DAMAGED)


def test_damaged_samples_are_left_out_and_counted(tmp_path: Path) -> None:
    folder = stored(tmp_path, PLAIN)
    content = bytearray((folder / "samples.bin").read_bytes())
    content[-200:-100] = b"\xff" * 100
    (folder / "samples.bin").write_bytes(content)

    run = runs.load(folder)

    assert len(run.samples) < 3
    assert "of 3 samples are damaged" in run.caveats[-1].text


def test_a_folder_without_samples_is_damaged(tmp_path: Path) -> None:
    folder = stored(tmp_path, PLAIN)
    (folder / "samples.bin").unlink()

    with pytest.raises(RunFileError, match="the run is damaged"):
        runs.load(folder)


def test_an_empty_folder_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(RunFileError, match="not a run folder"):
        runs.load(tmp_path)


def test_the_kept_run_of_format_1_opens(tmp_path: Path) -> None:
    folder = tmp_path / "v1"
    shutil.copytree(KEPT, folder)

    run = runs.load(folder)

    assert (run.id, run.status, run.started_at) == (
        "20261130-091412-k3f9",
        "complete",
        "2026-11-30T09:14:12+00:00",
    )
    assert run.samples.rows["bytes"].tolist() == [10, 10, 10]
    assert run.readings.subjects("process") == ("my, odd\nplace %41 é",)
    assert_same(run, PLAIN)


def test_samples_cannot_be_changed(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="read-only"):
        runs.load(stored(tmp_path, PLAIN)).samples.rows["bytes"] = np.int64(1)


def test_time_zones_do_not_change_a_name(tmp_path: Path) -> None:
    assert runs.create(tmp_path, "", str, NOW.astimezone(UTC)).name.startswith("20261130-091412-")
