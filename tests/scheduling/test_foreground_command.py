"""``pathtrace schedule run`` as a process, with real signals and a real scan."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.command import ROOT, STAND_INS, command, environment
from tests.scheduling import private


def started(folder: Path, *more: str, **variables: str) -> subprocess.Popen[str]:
    (folder / "my lab.yaml").write_text(STAND_INS)
    words = command("schedule", "run", "my lab.yaml", "--store", "runs", *more)
    return subprocess.Popen(
        words,
        cwd=folder,
        env=environment(folder, **variables),
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def wait_for(process: subprocess.Popen[str], words: str) -> str:
    assert process.stderr is not None
    for line in process.stderr:
        if words in line:
            return line
    raise AssertionError(f"it ended without saying {words!r}")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_it_ends_at_once_on_a_signal_while_it_sleeps(
    number: signal.Signals, code: int, tmp_path: Path
) -> None:
    process = started(tmp_path, "--at", "03:17")
    assert " 03:17" in wait_for(process, "next scan: ")
    process.send_signal(number)
    out, err = process.communicate(timeout=10)
    assert (process.returncode, out, err) == (code, "", "stopped\n")


def test_it_starts_a_real_scan_and_ends_with_it_on_a_signal(
    tmp_path: Path,
) -> None:
    (tmp_path / "variables").write_text("NAS_PASSWORD=secret\n")
    process = started(tmp_path, "--every", "1min", "--env-file", "variables")
    try:
        wait_for(process, "scan starts")
        nights = tmp_path / "runs"
        while not any(path.name[:1].isdigit() for path in nights.glob("*")):
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=40)
        assert process.returncode == 143
        assert err.splitlines()[-1] == "stopped"
        assert "scan ended after" in err
    finally:
        process.kill()
        process.wait()


def test_a_scenario_that_cannot_be_used_ends_it_before_it_sleeps(tmp_path: Path) -> None:
    words = command("schedule", "run", "gone.yaml")
    done = subprocess.run(
        words, cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True, timeout=30
    )
    assert done.returncode == 2
    assert done.stderr.splitlines()[0].endswith(
        "gone.yaml: cannot read the scenario: No such file or directory"
    )


@pytest.mark.needs_root
def test_as_the_first_process_of_a_container_it_leaves_no_dead_orphans() -> None:
    private.require_root()
    private.require("unshare")
    code = """if True:
        import os, time
        from pathtrace.scheduling.foreground import reap_orphans
        assert os.getpid() == 1
        child = os.fork()
        if child == 0:
            os.fork() or time.sleep(0.1)
            os._exit(0)
        os.waitpid(child, 0)
        time.sleep(0.3)
        reap_orphans()
        reap_orphans()
        try:
            os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            print("none")
    """
    words = ["unshare", "--pid", "--fork", "--kill-child", sys.executable, "-c", code]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=30)
    assert (done.stdout, done.stderr) == ("none\n", "")
