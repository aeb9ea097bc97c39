"""Scans as a timer starts them: nights that were measured, skipped and failed, and what each exits with."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.cli.command import SLOW, STAND_INS, Result, command, environment, pathtrace

QUICK = STAND_INS.replace("repeats: 2", "repeats: 3")


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    (tmp_path / "lab.yaml").write_text(QUICK)
    return tmp_path


def scan(lab: Path, *options: str, **more: str) -> Result:
    return pathtrace(lab, "scan", "lab.yaml", "--no-probes", "--quiet", *options, **more)


def document(result: Result) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(result.out)
    return read


def kept(lab: Path, document: dict[str, Any]) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((lab / document["id"] / "scan.json").read_text())
    return read


def expecting(lab: Path, *lines: str) -> None:
    (lab / "lab.yaml").write_text(QUICK + "expect:\n" + "".join(f"  {line}\n" for line in lines))


def test_nights_are_kept_held_against_each_other_and_what_is_printed_lies_with_the_run(lab: Path) -> None:
    nights = [document(scan(lab, "--json")) for _ in range(4)]
    assert [each["outcome"] for each in nights] == ["measured"] * 4
    assert [each["against"] for each in nights] == [
        None,
        f"the run before, {nights[0]['id']}",
        "the median of the last 2 runs",
        "the median of the last 3 runs",
    ]
    assert {each["name"] for each in nights[1]["beside"]} >= {"index", "answer", "answer/library->people"}
    assert {each["verdict"] for each in nights[2]["beside"]} == {"unclear"}, "of two nights nobody knows"
    assert kept(lab, nights[3]) == nights[3]
    shown = pathtrace(lab, "history", "--json")
    assert (shown.code, shown.out.count(nights[3]["id"]) > 0) == (0, True)


def test_a_baseline_is_what_later_nights_are_held_against(lab: Path) -> None:
    first = document(scan(lab, "--json", "--label", "as bought"))
    scan(lab)
    assert pathtrace(lab, "baseline", first["id"]).code == 0
    third = document(scan(lab, "--json"))
    assert third["against"] == f"the baseline as bought ({first['id']})"


def test_a_broken_expectation_exits_1_is_told_once_and_told_again_when_it_is_over(lab: Path) -> None:
    expecting(lab, "index: 1 ms", "answer/library->people: 20 s", "answer: +50%")
    first = scan(lab)
    assert first.code == 1
    assert '"index" took ' in first.out
    assert "and may take 1 ms (new)" in first.out
    second = document(scan(lab, "--json"))
    assert [(each["name"], each["kept"], each["state"]) for each in second["expectations"]] == [
        ("index", False, "standing"),
        ("answer/library->people", True, None),
        ("answer", True, None),
    ]
    assert second["told"] == []
    expecting(lab, "index: 20 s")
    third = document(done := scan(lab, "--json"))
    assert done.code == 0
    assert [each["state"] for each in third["told"]] == ["ended"]


def test_a_flow_that_is_surely_slower_than_asked_for_exits_1(lab: Path) -> None:
    log = lab / "sleep"
    log.write_text("0")
    slow = SLOW.replace("sleep 0.4", f"sleep $(cat {log})").replace("files: 200", "files: 4")
    (lab / "lab.yaml").write_text(slow.replace("repeats: 1", "repeats: 3"))
    for _ in range(3):
        assert scan(lab, "--fail-on", "slower:400%").code == 0
    log.write_text("0.6")
    done = scan(lab, "--fail-on", "slower:400%", "--json")
    assert done.code == 1
    assert {each["verdict"] for each in document(done)["beside"] if each["name"] == "index"} == {"slower"}
    assert scan(lab, "--fail-on", "nonsense").code == 2


def test_a_host_that_is_busy_with_other_work_is_waited_for_and_then_the_scan_is_skipped(lab: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as spinning:
        try:
            done = scan(lab, "--quiet-below", "0.1%", "--wait", "0", "--json")
        finally:
            spinning.kill()
    night = document(done)
    assert (done.code, night["outcome"], night["run"]) == (0, "skipped", None)
    assert "busy" in night["night"]["reason"]
    assert kept(lab, night) == night
    assert "skipped" in pathtrace(lab, "history").out


def test_a_place_that_is_gone_is_a_failed_scan_told_once_and_told_again_when_it_is_back(lab: Path) -> None:
    (lab / "docs").mkdir()
    for number in range(5):
        (lab / "docs" / f"{number}.txt").write_text("words and words\n" * 50)
    here = QUICK.replace("make: {files: 40, bytes: 400 KiB, kind: text}", f"path: {lab}/docs")
    (lab / "lab.yaml").write_text(here + f"tell: {{log: {lab}/told.jsonl}}\n")
    assert scan(lab).code == 0
    (lab / "docs").rename(lab / "gone")
    for state in ("new", "standing"):
        done = scan(lab, "--json")
        night = document(done)
        assert (done.code, night["outcome"], night["failure"]) == (3, "failed", state)
        assert f"{lab}/docs" in night["night"]["reason"]
        assert kept(lab, night)["night"]["status"] == "failed"
    (lab / "gone").rename(lab / "docs")
    done = scan(lab, "--json")
    assert (done.code, document(done)["failure"]) == (0, "ended")
    assert [json.loads(line)["outcome"] for line in (lab / "told.jsonl").read_text().splitlines()] == [
        *("measured", "failed"),
        *("failed", "measured"),
    ]
    assert pathtrace(lab, "history").out.count("failed") >= 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--quiet-below", "20"), "--quiet-below '20' is not a share in per cent"),
        (("--quiet-below", "0%"), "--quiet-below '0%' must lie above 0%"),
        (("--wait", "soon"), "--wait 'soon'"),
        (("--label", "last"), "cannot name a run"),
    ],
)
def test_options_that_make_no_sense_are_answered_and_nothing_is_kept(
    lab: Path, options: tuple[str, str], said: str
) -> None:
    done = scan(lab, *options)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert sorted(path.name for path in lab.iterdir()) == ["lab.yaml"]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_scan_that_is_stopped_keeps_what_was_measured_and_judges_nothing(
    lab: Path, number: signal.Signals, code: int
) -> None:
    (lab / "lab.yaml").write_text(SLOW + "expect: {index: 1 ms}\n")
    process = subprocess.Popen(
        command("scan", "lab.yaml", "--no-probes", "--json"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(lab),
        cwd=lab,
        text=True,
    )
    assert process.stderr is not None
    process.stderr.readline()
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, "Traceback" in err) == (code, False)
    night = json.loads(out)
    assert (night["night"]["status"], night["expectations"]) == ("interrupted", [])
    assert not (lab / ".scratch").exists()


def test_a_scan_that_waits_can_be_stopped_and_says_so(lab: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as spinning:
        process = subprocess.Popen(
            command("scan", "lab.yaml", "--quiet-below", "0.1%"),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(lab),
            cwd=lab,
            text=True,
        )
        try:
            assert process.stderr is not None
            assert process.stderr.readline().startswith("waiting for up to ")
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate(timeout=30)
        finally:
            spinning.kill()
    assert process.returncode == 130
    assert "skipped" in out
    assert "stopped while it waited" in " ".join(out.split())


@pytest.mark.skipif(shutil.which("ionice") is None, reason="needs ionice")
def test_what_is_measured_has_its_usual_priority_and_only_what_comes_after_is_idle(lab: Path) -> None:
    seen = lab / "seen"
    look = f'[sh, -c, "cat >/dev/null; ionice >> {seen}; echo \'\\"a piece\\"\'"]'
    (lab / "lab.yaml").write_text(QUICK.replace("run: chunk", f"command: {look}").replace("40", "3"))
    assert scan(lab).code == 0
    assert seen.read_text()
    assert "idle" not in seen.read_text()


@dataclass(frozen=True, slots=True)
class Pinged:
    """What a scan called, and with which priority it went on then."""

    path: str
    nice: int
    io: int | None


class PriorityWatch(HTTPServer):
    """A healthcheck that looks at the process that calls it."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Look)
        self.heard: list[Pinged] = []
        self.started = threading.Event()
        self.scan: psutil.Process | None = None


class _Look(BaseHTTPRequestHandler):
    server: PriorityWatch

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        assert self.server.started.wait(30)
        assert self.server.scan is not None
        scan = self.server.scan
        io = int(scan.ionice().ioclass) if sys.platform == "linux" else None
        self.server.heard.append(Pinged(self.path, scan.nice(), io))
        self.send_response(200)
        self.end_headers()

    do_POST = do_GET  # noqa: N815  (the name is http.server's)

    def log_message(self, format: str, *args: object) -> None:
        """Nobody reads it."""


@pytest.fixture
def watch() -> Iterator[PriorityWatch]:
    with PriorityWatch() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def watched_scan(lab: Path, watch: PriorityWatch) -> int:
    with (lab / "lab.yaml").open("a") as scenario:
        scenario.write(f"tell: {{ping: 'http://127.0.0.1:{watch.server_port}/lab'}}\n")
    with subprocess.Popen(
        command("scan", "lab.yaml", "--no-probes", "--quiet"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment(lab),
        cwd=lab,
    ) as process:
        watch.scan = psutil.Process(process.pid)
        watch.started.set()
        return process.wait(60)


def usual_then_idle(end: str) -> list[Pinged]:
    mine = psutil.Process()
    usual, idle = (int(mine.ionice().ioclass), 3) if sys.platform == "linux" else (None, None)
    return [Pinged("/lab/start", mine.nice(), usual), Pinged(end, 19, idle)]


@pytest.mark.skipif(sys.platform == "win32", reason="there priorities are classes, not numbers")
def test_once_it_has_measured_a_scan_gives_way_to_everything_else(lab: Path, watch: PriorityWatch) -> None:
    assert watched_scan(lab, watch) == 0
    assert watch.heard == usual_then_idle("/lab")


@pytest.mark.skipif(sys.platform == "win32", reason="there priorities are classes, not numbers")
def test_a_scan_that_could_not_measure_gives_way_too(lab: Path, watch: PriorityWatch) -> None:
    (lab / ".scratch").write_text("no folder, so that no run can begin")
    assert watched_scan(lab, watch) == 3
    assert watch.heard == usual_then_idle("/lab/fail")
