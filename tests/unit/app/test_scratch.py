"""Scratch data goes with its run, what a dead run left with the next one, and nobody else's ever."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pathtrace.app.claims import Claim
from pathtrace.app.file_locks import try_lock
from pathtrace.app.scratch import claimed, remove_abandoned, scratch_folder
from pathtrace.errors import StoreError
from pathtrace.places.outside import remember

RUN = "20261130-020000-abcd"
LIVE = """
import sys, time
from pathlib import Path
from pathtrace.app.scratch import claimed, scratch_folder
with claimed(Path(sys.argv[1]), sys.argv[2]) as claim, scratch_folder(claim, sys.argv[2]) as folder:
    (folder / "data").write_text("x")
    print("ready", flush=True)
    time.sleep(60)
"""


def a_run(store: Path, *names: str) -> Path:
    """A run's folder with these files in it."""
    folder = store / RUN
    folder.mkdir(parents=True)
    for name in names:
        (folder / name).write_text("x")
    return folder


def a_note(store: Path, text: str) -> Path:
    """A dead run's note and scratch folder."""
    scratch = store / ".scratch" / RUN
    (scratch / "documents").mkdir(parents=True)
    (store / ".scratch" / f"{RUN}.owner").write_text(text)
    return scratch


def owned_by(pid: int, **more: object) -> str:
    return json.dumps({"host": socket.gethostname(), "pid": pid, "since": 1.0} | more)


def test_scratch_data_goes_with_its_run(tmp_path: Path) -> None:
    with claimed(tmp_path, RUN) as claim, scratch_folder(claim, RUN) as folder:
        (folder / "data").write_text("x")
        remove_abandoned(tmp_path)
        assert (folder / "data").exists(), "nobody takes what is in use"
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_is_removed_and_what_a_living_one_has_is_not(tmp_path: Path) -> None:
    command = [sys.executable, "-c", LIVE, str(tmp_path), RUN]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        remove_abandoned(tmp_path)
        assert (tmp_path / ".scratch" / RUN / "data").exists()
        process.kill()
        process.wait()
        remove_abandoned(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_of_a_dead_runs_folder_what_is_unfinished_goes_and_the_run_stays(tmp_path: Path) -> None:
    a_note(tmp_path, owned_by(2**22 + 1))
    folder = a_run(tmp_path, "facts.json", "samples.bin", ".reserve", ".run.json.ab_12xyz", "marks.json")
    remove_abandoned(tmp_path)
    assert {path.name for path in folder.iterdir()} == {"facts.json", "samples.bin", "marks.json"}
    assert not (tmp_path / ".scratch").exists()


def test_a_dead_runs_folder_that_never_became_a_run_goes(tmp_path: Path) -> None:
    a_note(tmp_path, owned_by(2**22 + 1))
    a_run(tmp_path, "scenario.yaml", ".reserve", "samples.bin")
    remove_abandoned(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_holds_anything_else_is_kept(tmp_path: Path) -> None:
    a_note(tmp_path, owned_by(2**22 + 1))
    folder = a_run(tmp_path, "scenario.yaml", "diary.txt")
    remove_abandoned(tmp_path)
    assert {path.name for path in folder.iterdir()} == {"scenario.yaml", "diary.txt"}


def test_what_a_dead_run_made_beside_the_users_data_goes_too(tmp_path: Path) -> None:
    scratch = a_note(tmp_path, owned_by(2**22 + 1))
    beside = tmp_path / ".pathtrace-12"
    beside.mkdir()
    remember(scratch / "documents", beside)
    remove_abandoned(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_notes_of_earlier_versions_are_understood(tmp_path: Path) -> None:
    living = a_note(tmp_path / "living", str(os.getpid()))
    dead = a_note(tmp_path / "dead", str(2**22 + 1))
    remove_abandoned(tmp_path / "living")
    remove_abandoned(tmp_path / "dead")
    assert (living.exists(), dead.exists()) == (True, False)


def test_where_locks_prove_nothing_only_a_gone_process_of_this_host_is_dead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pathtrace.app.claims.mount_of", lambda _path: None)
    here = socket.gethostname()
    found = {}
    for name, text in {
        "gone": owned_by(2**22 + 1),
        "another process by that number": owned_by(os.getpid()),
        "another host's": owned_by(2**22 + 1, host=f"not-{here}"),
        "nonsense": "{",
    }.items():
        scratch = a_note(tmp_path / name, text)
        remove_abandoned(tmp_path / name)
        found[name] = scratch.exists()
    assert found == {
        "gone": False,
        "another process by that number": False,
        "another host's": True,
        "nonsense": True,
    }


def test_a_run_that_died_before_it_could_say_who_it_is_is_dead(tmp_path: Path) -> None:
    scratch = a_note(tmp_path, "")
    remove_abandoned(tmp_path)
    assert scratch.exists(), "it may be about to say it"
    long_ago = time.time() - 120
    os.utime(scratch.with_name(f"{RUN}.owner"), (long_ago, long_ago))
    remove_abandoned(tmp_path)
    assert not scratch.exists()


def test_a_claim_that_somebody_looks_at_while_it_is_made_is_locked_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = tmp_path / ".scratch" / f"{RUN}.owner"
    looking: list[int] = []

    def looked_at_first(descriptor: int) -> bool:
        if not looking:
            looking.append(os.open(note, os.O_RDWR))
            assert try_lock(looking[0])
        return try_lock(descriptor)

    monkeypatch.setattr("pathtrace.app.claims.try_lock", looked_at_first)
    claim = Claim(tmp_path)
    claim.take(RUN)
    os.close(looking[0])
    other = os.open(note, os.O_RDWR)
    assert not try_lock(other)
    os.close(other)
    claim.release()


def test_a_claim_that_was_taken_for_a_dead_ones_is_made_anew(tmp_path: Path) -> None:
    claim = Claim(tmp_path)
    claim.take(RUN)
    note = tmp_path / ".scratch" / f"{RUN}.owner"
    assert json.loads(note.read_text())["pid"] == os.getpid()
    claim.release()
    claim.release()
    assert not note.exists()


def test_a_store_that_takes_no_scratch_data_is_an_error(tmp_path: Path) -> None:
    (tmp_path / ".scratch").write_text("")
    with pytest.raises(StoreError, match="cannot make a scratch folder"), claimed(tmp_path, RUN):
        pass
