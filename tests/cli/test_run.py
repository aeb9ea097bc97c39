"""Whole runs of stand-ins, and of a command that is stopped half-way."""

import json
import os
import pty
import re
import select
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

import jsonschema
import pytest

from pathtrace.render.run_schema import run_schema
from tests.cli.command import SLOW, STAND_INS, Result, command, environment, pathtrace


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("store")
    (folder / "stand-ins.yaml").write_text(STAND_INS)
    (folder / "slow.yaml").write_text(SLOW)
    return folder


@pytest.fixture(scope="module")
def first(store: Path) -> Result:
    return pathtrace(store, "run", "stand-ins.yaml", "--label", "before")


def test_a_run_shows_its_result_on_standard_output_and_talks_on_standard_error(first: Result) -> None:
    assert first.code == 0
    assert "documents->chunker" in first.out
    assert "repeat 2 of 2: index" in first.err
    assert max(map(len, first.out.splitlines())) <= 80


def test_a_stored_run_is_shown_as_it_was(first: Result, store: Path) -> None:
    assert pathtrace(store, "show", "before") == Result(0, first.out, "")
    assert pathtrace(store, "show").out == first.out


def test_a_run_is_mapped_with_its_figures(first: Result, store: Path) -> None:
    drawn = pathtrace(store, "map")
    assert drawn.code == 0
    assert " MB/s" in drawn.out
    assert pathtrace(store, "map", "before", "--format", "mermaid").out.startswith("flowchart TD\n")


def test_json_is_one_document_that_keeps_to_the_schema(first: Result, store: Path) -> None:
    shown = pathtrace(store, "show", "last", "--json")
    document = json.loads(shown.out, parse_constant=lambda name: pytest.fail(f"{name} in the document"))
    jsonschema.validate(document, run_schema())
    assert (document["format"], document["label"], shown.err) == ("pathtrace.run/1", "before", "")


def test_a_run_that_lost_samples_is_shown_with_code_3(first: Result, store: Path, tmp_path: Path) -> None:
    (folder,) = (
        path.parent for path in store.glob("*/run.json") if json.loads(path.read_text())["label"] == "before"
    )
    broken = shutil.copytree(folder, tmp_path / "broken")
    whole = (broken / "samples.bin").read_bytes()
    (broken / "samples.bin").write_bytes(whole[: len(whole) // 2])
    shown = pathtrace(store, "show", str(broken), "--json")
    assert shown.code == 3
    assert json.loads(shown.out)["status"] == "partial"
    assert pathtrace(store, "map", str(broken)).code == 3


def test_the_host_lists_what_its_engines_say_of_themselves(first: Result, store: Path) -> None:
    document = json.loads(pathtrace(store, "show", "before", "--json").out)
    (server,) = document["environment"]["hosts"]["workstation"]["servers"]
    assert server.startswith("library: SQLite 3")


def test_run_with_json_and_quiet_puts_out_the_document_alone(store: Path) -> None:
    done = pathtrace(store, "run", "stand-ins.yaml", "--json", "--quiet", "--store", str(store / "other"))
    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out)["status"] == "complete"


def test_a_check_changes_nothing_and_says_what_a_run_would_need(store: Path) -> None:
    before = sorted(store.rglob("*"))
    assert pathtrace(store, "check", "stand-ins.yaml").code == 0
    document = json.loads(pathtrace(store, "check", "stand-ins.yaml", "--json").out)
    assert (document["format"], document["usable"]) == ("pathtrace.check/1", True)
    assert sorted(store.rglob("*")) == before


def test_a_place_that_is_not_there_is_told_and_exits_3(store: Path) -> None:
    path = store / "missing.yaml"
    path.write_text(STAND_INS.replace("make: {files: 40, bytes: 400 KiB, kind: text}", "path: /nonexistent"))
    for name in ("check", "run"):
        done = pathtrace(store, name, str(path), "--store", str(store / "other"))
        assert done.code == 3
        assert "/nonexistent" in done.out + done.err
        assert "Traceback" not in done.err


def stopped(store: Path, number: signal.Signals, times: int) -> tuple[int, str, str]:
    """Run the slow scenario, send ``number`` once its first operations are under way."""
    process = subprocess.Popen(
        command("run", "slow.yaml", "--store", str(store / "stopped")),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(store),
        cwd=store,
        text=True,
    )
    assert process.stderr is not None
    first_line = process.stderr.readline()
    time.sleep(2.0)  # real processes: let some operations finish
    for _ in range(times):
        process.send_signal(number)
        time.sleep(0.05)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, first_line + err


@pytest.mark.parametrize(
    ("number", "times", "code"),
    [(signal.SIGINT, 1, 130), (signal.SIGINT, 2, 130), (signal.SIGTERM, 1, 143)],
    ids=["ctrl-c", "ctrl-c twice", "terminated"],
)
def test_a_run_that_is_stopped_shows_and_stores_what_was_measured(
    number: signal.Signals, times: int, code: int, store: Path
) -> None:
    got, out, err = stopped(store, number, times)
    assert got == code, err
    assert "This run is interrupted" in out
    assert "Traceback" not in err
    shown = pathtrace(store, "show", "last", "--json", "--store", str(store / "stopped"))
    document = json.loads(shown.out)
    assert document["status"] == "interrupted"
    assert document["hops"][0]["operations"] > 0
    assert not list((store / "stopped").glob(".scratch/*"))


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stop_while_files_are_being_made_does_not_wait_for_the_rest_of_them(
    number: signal.Signals, code: int, tmp_path: Path
) -> None:
    making = "make: {files: 1000000, bytes: 4 GiB, kind: text}"  # minutes of work
    scenario = STAND_INS.replace("make: {files: 40, bytes: 400 KiB, kind: text}", making)
    (tmp_path / "large.yaml").write_text(scenario)
    process = subprocess.Popen(
        command("run", "large.yaml", "--json", "--store", str(tmp_path / "store")),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(tmp_path),
        cwd=tmp_path,
        text=True,
    )
    until = time.monotonic() + 30
    while not list(tmp_path.glob("store/.scratch/*/documents/made/**/*.txt")) and time.monotonic() < until:
        time.sleep(0.05)
    process.send_signal(number)
    out, err = process.communicate(timeout=20)
    assert process.returncode == code, err
    assert "Traceback" not in err
    assert json.loads(out)["status"] == "interrupted"
    assert err.count("the run was stopped before its places were ready") == 1
    assert not list(tmp_path.glob("store/.scratch/*"))


@pytest.mark.parametrize(
    ("name", "number", "code"),
    [("run", signal.SIGINT, 130), ("probe", signal.SIGINT, 130), ("probe", signal.SIGTERM, 143)],
)
def test_a_stop_does_not_wait_for_a_host_that_does_not_let_in(
    name: str, number: signal.Signals, code: int, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("a")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        host = f'hosts: {{nas: {{ssh: "me@127.0.0.1:{silent.getsockname()[1]}"}}}}\nplaces:'
        files = f"documents: {{kind: files, host: nas, path: {tmp_path}}}\n  chunker"
        scenario = re.sub("documents: .*\n  chunker", files, STAND_INS).replace("places:", host)
        (tmp_path / "asked.yaml").write_text(scenario)
        process = subprocess.Popen(
            command(name, "asked.yaml", "--json", "--store", str(tmp_path / "store")),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(tmp_path),
            cwd=tmp_path,
            text=True,
        )
        silent.settimeout(30)
        with silent.accept()[0]:
            process.send_signal(number)
            out, err = process.communicate(timeout=10)
    assert process.returncode == code, err
    assert "Traceback" not in err
    assert (json.loads(out)["status"] if out else None) == ("interrupted" if name == "run" else None)
    assert not list((tmp_path / "store").glob(".scratch/*"))


@pytest.mark.skipif(os.name != "posix", reason="needs a limit for the size of files")
def test_a_store_that_takes_no_more_costs_only_what_it_refused(tmp_path: Path) -> None:
    import resource

    (tmp_path / "many.yaml").write_text(
        "pathtrace: 1\nname: many\nrepeats: 3\nplaces:\n"
        "  documents: {kind: files, make: {files: 4000, bytes: 400 KiB, kind: text}}\n"
        "  chunker: {kind: process, run: chunk}\n"
        "flows:\n  index: {path: [documents, chunker], frequency: every 24 h}\n"
    )
    most = 600 * 1024  # of any file: the samples of one repeat need more
    done = subprocess.run(
        command("run", "many.yaml", "--json", "--store", str(tmp_path / "store")),
        capture_output=True,
        env=environment(tmp_path),
        cwd=tmp_path,
        timeout=100,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)),
    )
    assert done.returncode == 3
    assert b"cannot write: file too large" in done.stderr
    document = json.loads(done.stdout)
    assert document["status"] == "partial"
    assert document["hops"][0]["operations"] > 0
    shown = json.loads(pathtrace(tmp_path, "show", "--json", "--store", str(tmp_path / "store")).out)
    assert (shown["id"], shown["status"]) == (document["id"], "partial")


def test_what_a_killed_run_left_beside_the_users_data_goes_with_the_next_run(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    beside = SLOW.replace("sqlite://", f"sqlite:///{tmp_path}/data/lab.db")
    (tmp_path / "slow.yaml").write_text(beside)
    process = subprocess.Popen(
        command("run", "slow.yaml", "--store", "store"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=environment(tmp_path),
        cwd=tmp_path,
    )
    assert process.stderr is not None
    process.stderr.readline()
    process.kill()
    process.communicate()
    left = {path.name for path in (tmp_path / "data").iterdir()}
    (tmp_path / "stand-ins.yaml").write_text(STAND_INS)
    assert pathtrace(tmp_path, "run", "stand-ins.yaml", "--store", "store").code == 0
    assert any(name.startswith(".pathtrace-") for name in left)
    assert list((tmp_path / "data").iterdir()) == []


def test_on_a_terminal_progress_is_live_and_goes_away(store: Path) -> None:
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        command("run", "stand-ins.yaml", "--store", str(store / "terminal")),
        stdout=subprocess.PIPE,
        stderr=follower,
        env=environment(store, TERM="xterm"),
        cwd=store,
        text=True,
    )
    os.close(follower)
    seen = b""
    while select.select([leader], [], [], 60)[0]:
        try:
            seen += os.read(leader, 65536)
        except OSError:
            break
    os.close(leader)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "\x1b" not in out
    assert b"repeat 1 of 2" in seen
    assert b"\x1b[2K" in seen
