from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from pathtrace.model.history import HistoryEntry, Note, Told, Took
from pathtrace.store.nights import CUT_OFF, Night, read_night
from tests.unit.store.nights import at, document, facts, keep_run, keep_scan, run_id, scan_document

TOOK = (
    Took("index", 2.0, 1.8, 2.2, "link:lan", 400, 1000),
    Took("index/archive->indexer", 1.0, 0.8, 1.25, "link:lan", 400, 1000),
    Took("answer", 0.5, 0.5, 0.5, "model:llm", None, None),
)
ENVIRONMENT = (
    ("Python", "3.12.1"),
    ("address of nas", "192.168.1.10"),
    ("cores of workstation", "8"),
    ("kernel of workstation", "Linux 6.12"),
    ("largest packet of link lan", "1500 B"),
    ("link lan", "2.5 Gbit/s"),
    ("memory of workstation", "16 GiB"),
    ("mount of archive", "cifs, //nas/documents"),
    ("mount options of archive", "ro, vers=3.1.1"),
    ("pathtrace", "0.1.0"),
    ("processor of workstation", "a processor"),
    ("way to nas", "eth0"),
    ("whereabouts of archive", "/mnt/archive"),
)
ENTRY = HistoryEntry(
    id=run_id(1),
    at=at(1),
    scenario="lab",
    workload_fingerprint="w",
    setup_fingerprint="s",
    start="cold",
    status="complete",
    duration_s=60.0,
    took=TOOK,
    datasets=(("archive", "f"),),
    environment=ENVIRONMENT,
)


def test_a_run_is_a_night_with_what_it_took_and_was_made_in(tmp_path: Path) -> None:
    assert read_night(keep_run(tmp_path, 1)) == Night(ENTRY)


def test_marks_are_a_part_of_the_night(tmp_path: Path) -> None:
    folder = keep_run(tmp_path, 1, facts(1, label="first"))
    marks = {
        "format": "pathtrace.marks/1",
        "label": "after the cable",
        "pinned": True,
        "baseline": at(3).isoformat(),
        "notes": [{"at": at(2).isoformat(), "text": "new cable", "file": "attached/cable.jpg"}],
    }
    (folder / "marks.json").write_text(json.dumps(marks))
    night = read_night(folder)
    assert night.entry is not None
    assert (night.entry.label, night.entry.pinned, night.entry.baseline) == ("after the cable", True, True)
    assert night.entry.notes == (Note(at(2), "new cable", "attached/cable.jpg"),)
    assert night.baseline == at(3).isoformat()


def test_a_skipped_night_is_history_too(tmp_path: Path) -> None:
    assert read_night(keep_scan(tmp_path, 2)) == Night(
        HistoryEntry(
            *(run_id(2), at(2), "lab", "w", "s", "cold", "skipped", 0.0),
            reason="the machine was busy: 74 % of the processor",
            scanned=True,
        )
    )


def test_a_scan_that_failed_says_so_of_the_run_that_it_began(tmp_path: Path) -> None:
    folder = keep_run(tmp_path, 2, facts(2, status="running"), {})
    keep_scan(tmp_path, 2, scan_document(2, "failed"))
    entry = read_night(folder).entry
    assert entry is not None
    assert (entry.status, entry.scanned) == ("failed", True)
    assert entry.reason == "the machine was busy: 74 % of the processor"


def test_what_a_night_told_is_kept_and_what_cannot_be_read_of_it_is_told_again(tmp_path: Path) -> None:
    told = {"kind": "step", "name": "index", "since": run_id(1), "state": "new"}
    folder = keep_run(tmp_path, 2)
    keep_scan(tmp_path, 2, scan_document(2, "complete", told=[told, {"kind": 3}, "x"]))
    night = read_night(folder)
    assert night.told == (Told("step", "index", run_id(1), "new", night=run_id(2)),)
    assert night.entry is not None
    assert (night.entry.scanned, night.entry.status) == (True, "complete")


def test_a_run_that_did_not_end_says_so(tmp_path: Path) -> None:
    entry = read_night(keep_run(tmp_path, 1, facts(1, status="running"), {})).entry
    assert entry is not None
    assert (entry.status, entry.reason, entry.took) == ("interrupted", CUT_OFF, ())


def test_a_run_that_ended_without_figures_is_to_be_analysed(tmp_path: Path) -> None:
    assert read_night(keep_run(tmp_path, 1, shown={})).unanalysed
    assert not read_night(keep_run(tmp_path, 2, facts(2, status="running"), {})).unanalysed
    without_page = keep_run(tmp_path, 3)
    assert not read_night(without_page).unanalysed
    (without_page / "report.md").unlink()
    assert read_night(without_page).unanalysed


def test_requests_at_a_rate_count_by_what_one_takes(tmp_path: Path) -> None:
    hop = {"flow": "answer", "name": "llm->people", "duration_s": 9.0, "latency": {"p50_s": 0.4}}
    shown = document(
        workload={"rate_per_s": 2.0},
        requests={"latency": {"p50_s": 0.5}},
        hops=[hop | {"limited_by": {"resource": "model:llm"}, "operations": 20, "bytes": 7}],
    )
    entry = read_night(keep_run(tmp_path, 1, shown=shown)).entry
    assert entry is not None
    assert entry.took[1:] == (
        Took("answer", 0.5, 0.5, 0.5, "model:llm"),
        Took("answer/llm->people", 0.4, 0.4, 0.4, "model:llm", 20, 7),
    )


@pytest.mark.parametrize("file", ["scan.json", "marks.json"])
@pytest.mark.parametrize("text", ["{", "[]", "3", '{"format": "pathtrace.other/1"}', "\x00\xff"])
def test_a_damaged_file_beside_a_run_costs_only_what_stands_in_it(
    tmp_path: Path, file: str, text: str
) -> None:
    folder = keep_run(tmp_path, 1)
    (folder / file).write_text(text, encoding="latin-1")
    night = read_night(folder)
    assert night.entry == ENTRY
    [fault] = night.faults
    assert fault.startswith(f"{folder / file}: ")


def test_a_run_without_its_facts_is_known_by_its_document(tmp_path: Path) -> None:
    said = {"id": run_id(1), "label": "x", "status": "complete", "started_at": at(1).isoformat()}
    said |= {"duration_s": 60.0, "start_condition": {"start": "cold"}}  # type: ignore[dict-item]
    scenario = {"name": "lab", "workload_fingerprint": "w", "setup_fingerprint": "s"}
    shown = document(**said, scenario=scenario, dataset={"archive": {"fingerprint": "f"}})
    folder = keep_run(tmp_path, 1, shown=shown)
    (folder / "facts.json").write_bytes(b"\x00" * 100)
    night = read_night(folder)
    assert night.entry is not None
    assert (night.entry.took, night.entry.label, night.entry.environment) == (TOOK, "x", ())
    assert "the run is damaged" in night.faults[0]


@pytest.mark.parametrize(
    "told",
    [{}, {"format": 2}, {"format": 1}, {"format": 1, "scenario": 3}, {"format": 1, "scenario": {}}],
)
def test_a_corrupt_run_folder_costs_its_own_night_and_says_why(tmp_path: Path, told: dict[str, Any]) -> None:
    night = read_night(keep_run(tmp_path, 1, told, {}))
    assert night.entry is None
    assert len(night.faults) == 1
    assert str(tmp_path / run_id(1)) in night.faults[0]


@pytest.mark.parametrize("file", ["facts.json", "run.json", "scan.json", "marks.json"])
def test_what_is_nested_beyond_reason_is_damaged(tmp_path: Path, file: str) -> None:
    folder = keep_run(tmp_path, 1)
    (folder / file).write_text("[" * 100_000, encoding="utf-8")
    assert read_night(folder).faults[0].startswith(f"{folder / file}: ")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
@pytest.mark.parametrize("file", ["facts.json", "run.json", "scan.json", "marks.json"])
def test_a_pipe_is_damaged_and_not_waited_for(tmp_path: Path, file: str) -> None:
    folder = keep_run(tmp_path, 1)
    (folder / file).unlink(missing_ok=True)
    os.mkfifo(folder / file)
    assert read_night(folder).faults[0].startswith(f"{folder / file}: ")


def test_a_folder_with_neither_run_nor_scan_is_no_night(tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    assert read_night(tmp_path / "photos") == Night(None)


def test_facts_of_another_shape_cost_only_their_part_of_the_environment(tmp_path: Path) -> None:
    told = facts(1, environment={"hosts": "?", "python": "3.12.1", "pathtrace": "0.1.0"}, routes=[{}])
    entry = read_night(keep_run(tmp_path, 1, told)).entry
    assert entry is not None
    assert dict(entry.environment) == {
        "Python": "3.12.1",
        "pathtrace": "0.1.0",
        "mount of archive": "cifs, //nas/documents",
        "mount options of archive": "ro, vers=3.1.1",
        "whereabouts of archive": "/mnt/archive",
    }
