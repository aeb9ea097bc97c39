"""``history``, ``baseline`` and ``note`` on stores of small run folders, as a user would type them."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from pathtrace.analysis.nightly.steps import FEWEST_BEFORE, SHOWN
from pathtrace.cli import main
from pathtrace.store.marks import change_marks
from pathtrace.store.retention import RAW, prune
from tests.golden import assert_golden
from tests.unit.store.nights import at, document, facts, host, keep_run, keep_scan, run_id, scan_document

GOLDEN = Path(__file__).parent / "golden"
Capture = pytest.CaptureFixture[str]
ESTIMATED = ("low", "high", "ratio")
QUICK_S, SLOW_S = 2.0, 2.6


@pytest.fixture(autouse=True)
def eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Thirty nights: a link that renegotiated in the night 20, one skipped night, one that failed, a note."""
    folder = tmp_path / "runs"
    monkeypatch.setenv("PATHTRACE_STORE", str(folder))
    for night in range(30):
        if night == 7:
            keep_scan(folder, night)
        elif night == 9:
            keep_scan(folder, night, failed(night))
        else:
            keep_measured(folder, night, slow=night >= 20)
    return folder


def keep_measured(store: Path, night: int, slow: bool) -> None:
    speed = 125_000_000.0 if slow else 312_500_000.0
    seen = {"hosts": [host("workstation", "Linux 6.12", speed)], "python": "3.12.1", "pathtrace": "0.1.0"}
    wobble = 1 + 0.01 * (night * 7 % 5 - 2)
    keep_run(
        store,
        night,
        facts(night, environment=seen),
        document(index_s=(SLOW_S if slow else QUICK_S) * wobble, answer_s=0.5 * wobble),
    )
    keep_scan(store, night, scan_document(night, "complete"))


def failed(night: int) -> dict[str, object]:
    written = scan_document(night, "failed")
    written["night"] |= {"reason": "nas cannot be reached: no route to host"}
    return written


def test_history_shows_what_changed_the_trends_and_the_nights(store: Path, capsys: Capture) -> None:
    assert main(["note", run_id(20), "moved the switch", "--pin"]) == 0
    capsys.readouterr()
    assert main(["history"]) == 0
    shown = capsys.readouterr()
    today = next(line for line in shown.out.splitlines() if "note of" in line).split()[2].rstrip(":")
    assert_golden(GOLDEN / "history.txt", shown.out.replace(today, "2026-12-24"))
    assert shown.err == ""


def test_a_flow_is_shown_with_its_hops(store: Path, capsys: Capture) -> None:
    assert main(["history", "lab", "--flow", "index", "--limit", "4"]) == 0
    assert_golden(GOLDEN / "history_flow.txt", capsys.readouterr().out)


def test_several_scenarios_are_shown_in_short(store: Path, capsys: Capture) -> None:
    other = facts(31)
    other["scenario"] = other["scenario"] | {"name": "other"}
    keep_run(store, 31, other)
    assert main(["history"]) == 0
    shown = capsys.readouterr().out.replace(f"from {FEWEST_BEFORE + SHOWN} on", "from N on")
    assert_golden(GOLDEN / "history_several.txt", shown)


def test_the_document_has_everything(store: Path, capsys: Capture) -> None:
    assert main(["history", "--json", "--limit", "2"]) == 0
    shown = capsys.readouterr()
    document = json.loads(shown.out)
    for change in document["scenarios"][0]["changes"]:  # how large and how sure is for the analysis to say
        change.update({name: "a figure" for name in ESTIMATED if isinstance(change[name], float)})
    assert_golden(GOLDEN / "history.json", json.dumps(document, indent=1) + "\n")
    assert shown.err == ""


def test_the_table_has_a_row_for_each_night_and_hop(store: Path, tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "nights.csv"
    assert main(["history", "--csv", str(path)]) == 0
    assert capsys.readouterr() == ("", f"written: {path}\n")
    rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))
    assert len(rows) == 28 * 3 + 2
    assert rows[0] == {
        "id": run_id(0),
        "at": at(0).isoformat(),
        "scenario": "lab",
        "status": "complete",
        "label": "",
        "pinned": "0",
        "baseline": "0",
        "name": "index",
        "median_s": "1.96",
        "low_s": "1.764",
        "high_s": rows[0]["high_s"],
        "limited_by": "link:lan",
        "operations": "400",
        "bytes": "1000",
        "reason": "",
        "notes": "",
        "workload_fingerprint": "w",
        "setup_fingerprint": "s",
    }
    skipped = next(row for row in rows if row["status"] == "skipped")
    assert (skipped["name"], skipped["reason"]) == ("", "the machine was busy: 74 % of the processor")
    assert main(["history", "--csv", "-"]) == 0
    assert capsys.readouterr().out == path.read_text(encoding="utf-8")


def test_a_table_that_cannot_be_written_says_so(store: Path, tmp_path: Path, capsys: Capture) -> None:
    assert main(["history", "--csv", str(tmp_path / "none" / "nights.csv")]) == 3
    assert capsys.readouterr().err.startswith("error: ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["history", "lob"], "there is no history of a scenario 'lob'\nhint: did you mean 'lab'?"),
        (["history", "--flow", "indx"], "there is no history of a flow 'indx'\nhint: did you mean 'index'?"),
        (["history", "none.yaml"], "none.yaml: cannot read the scenario: No such file or directory"),
        (["history", "--csv", "-", "--json"], "--csv - and --json exclude each other"),
        (["history", "--store", ""], "--store is empty\nhint: name a folder"),
        (["baseline", "--clear"], "--clear needs a run\nhint: pathtrace baseline lists the baselines"),
        (["note", "last"], "nothing is to be kept with the run"),
        (["note", "last", "--label", "last~1"], "--label 'last~1' cannot name a run"),
        (["note", "last", "--attach", "none.jpg"], "none.jpg: cannot attach: no such file or directory"),
    ],
)
def test_what_cannot_be_done_is_said(
    store: Path, arguments: list[str], message: str, capsys: Capture
) -> None:
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err


def test_a_store_without_runs_says_how_to_make_one(tmp_path: Path, capsys: Capture) -> None:
    assert main(["history", "--store", str(tmp_path / "none")]) == 0
    assert capsys.readouterr().out == "No run has been stored yet: pathtrace run SCENARIO makes one.\n"
    assert not (tmp_path / "none").exists()


def test_a_run_is_chosen_and_given_up_as_baseline(store: Path, capsys: Capture) -> None:
    first, second = run_id(1), run_id(2)
    assert main(["baseline", first]) == 0
    assert main(["baseline", second]) == 0
    assert capsys.readouterr().err.splitlines() == [
        f"{first} is the baseline of lab",
        f"{second} is the baseline of lab, no longer {first}",
    ]
    assert main(["baseline"]) == 0
    assert capsys.readouterr().out == f"{second}  lab\n"
    assert main(["baseline", second, "--clear"]) == 0
    assert main(["baseline", second, "--clear"]) == 0
    assert main(["baseline"]) == 0
    assert capsys.readouterr() == (
        "",
        f"{second} is no longer the baseline\n"
        f"{second} was no baseline: nothing changed\n"
        "no baseline was chosen: pathtrace baseline RUN chooses one\n",
    )


def test_a_run_without_figures_is_no_baseline(store: Path, capsys: Capture) -> None:
    keep_run(store, 40, facts(40, status="running"), {})
    assert main(["baseline", "last"]) == 2
    assert "nothing was measured: it is interrupted" in capsys.readouterr().err


def test_a_run_is_labelled_later_and_found_by_it(store: Path, tmp_path: Path, capsys: Capture) -> None:
    photo = tmp_path / "cable.jpg"
    photo.write_bytes(b"JFIF")
    assert main(["note", "last", "new cable", "--label", "after cable", "--attach", str(photo)]) == 0
    assert main(["note", "after cable", "--pin"]) == 0
    assert main(["note", "after cable", "--unpin"]) == 0
    assert main(["note", "after cable", "--unpin"]) == 0
    assert main(["note", "after cable", "--pin"]) == 0
    assert main(["note", "after cable", "smb://me:hunter2@nas/x"]) == 0
    assert capsys.readouterr().err.splitlines() == [
        f"{run_id(29)}: noted, attached attached/cable.jpg, labelled after cable",
        f"{run_id(29)}: pinned",
        f"{run_id(29)}: no longer pinned",
        f"{run_id(29)}: was not pinned",
        f"{run_id(29)}: pinned",
        f"{run_id(29)}: noted",
    ]
    assert main(["history", "--limit", "1"]) == 0
    *_, night, first, second = capsys.readouterr().out.splitlines()
    assert night.endswith("pinned, after cable")
    assert first.endswith(": new cable (attached/cable.jpg)")
    assert second.endswith(": smb://me:***@nas/x")
    assert (store / run_id(29) / "attached" / "cable.jpg").read_bytes() == b"JFIF"


def test_a_password_in_a_label_is_not_kept(store: Path, capsys: Capture) -> None:
    assert main(["note", "last", "--label", "smb://me:hunter2@nas/x"]) == 0
    assert capsys.readouterr().err == f"{run_id(29)}: labelled smb://me:***@nas/x\n"
    assert "hunter2" not in (store / run_id(29) / "marks.json").read_text()


def test_a_label_that_reads_like_a_path_is_found_too(store: Path, capsys: Capture) -> None:
    assert main(["note", "last", "--label", "vlan/10"]) == 0
    assert main(["note", "vlan/10", "--pin"]) == 0
    assert main(["note", "vlan/11", "--pin"]) == 2
    assert capsys.readouterr().err.splitlines() == [
        f"{run_id(29)}: labelled vlan/10",
        f"{run_id(29)}: pinned",
        "error: vlan/11: no such run folder",
    ]


def test_a_night_that_was_skipped_can_be_remarked_on(store: Path, capsys: Capture) -> None:
    assert main(["note", run_id(7), "a backup ran"]) == 0
    assert main(["history"]) == 0
    assert "a backup ran" not in capsys.readouterr().out  # older than what is listed
    assert main(["history", "--limit", "30"]) == 0
    assert "a backup ran" in capsys.readouterr().out


def test_an_index_of_a_newer_version_is_left_alone_until_that_is_asked_for(
    store: Path, capsys: Capture
) -> None:
    assert main(["history"]) == 0
    shown = capsys.readouterr().out
    with sqlite3.connect(store / "history.sqlite") as db:
        db.execute("PRAGMA user_version=99")
    db.close()
    assert main(["history"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "the index of history has version 99" in captured.err
    assert "pathtrace history --rebuild" in captured.err
    assert main(["history", "--rebuild"]) == 0
    assert capsys.readouterr().out == shown


def test_a_damaged_index_and_a_damaged_run_are_said_below_the_history(store: Path, capsys: Capture) -> None:
    (store / run_id(3) / "facts.json").write_text("{")
    (store / run_id(3) / "run.json").unlink()
    assert main(["history"]) == 0
    assert f"{run_id(3)}/facts.json: the run is" in capsys.readouterr().out.replace("\n    ", "")
    (store / "history.sqlite").write_bytes(b"no database" * 1000)
    assert main(["history"]) == 0
    mind = " ".join(capsys.readouterr().out.partition("Mind")[2].split())
    assert "the index of history was damaged (file is not a database) and was made anew" in mind


def test_a_clock_that_was_set_back_is_said_and_nothing_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    from datetime import timedelta

    monkeypatch.setenv("PATHTRACE_STORE", str(tmp_path))
    keep_run(tmp_path, 0)
    keep_run(tmp_path, 1, facts(1, started_at=(at(0) - timedelta(minutes=50)).isoformat()))
    assert main(["history"]) == 0
    assert "its clock was 50 min behind that of the one before: it was set back" in capsys.readouterr().out


def test_of_a_pruned_run_what_was_written_is_shown(store: Path, capsys: Capture) -> None:
    folder = store / run_id(0)
    (folder / "report.md").write_text("# lab\n\nindex took 1.96 s\n")
    (folder / RAW[0]).write_text("x")
    assert prune(store, (run_id(0), run_id(1)), 86_400.0, at(60), ()) == (run_id(0),)
    assert main(["show", run_id(0)]) == 0
    captured = capsys.readouterr()
    assert captured.out == "# lab\n\nindex took 1.96 s\n"
    assert captured.err == (
        f"{run_id(0)}: its samples were deleted on 2026-12-31, when it was older than samples are kept; this "
        "is what was written when it was made\n"
    )
    assert main(["show", run_id(0), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["flows"][0]["name"] == "index"
    assert main(["compare", run_id(0), "last"]) == 2
    assert "its samples were deleted on 2026-12-31" in capsys.readouterr().err


def test_the_baseline_is_what_the_trend_is_held_against(store: Path, capsys: Capture) -> None:
    change_marks(store / run_id(12), lambda marks: replace(marks, baseline=at(13).isoformat()))
    assert main(["history", "--limit", "3"]) == 0
    assert "baseline" in capsys.readouterr().out.partition("Trend of lab")[2].splitlines()[1]
