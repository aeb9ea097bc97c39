from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from pathtrace.model.run import Activity
from pathtrace.observers import activity
from pathtrace.observers.activity import ActivityWatch

SECOND = 1_000_000_000
SPIN = """
import time
input()
end = time.process_time() + 0.3
while time.process_time() < end:
    pass
print(flush=True)
input()
"""


def look(
    at_s: int, busy_s: float, processes: dict[int, tuple[str, float, int]], ours: set[int]
) -> activity._Look:
    return activity._Look(
        at_ns=at_s * SECOND,
        busy_s=busy_s,
        disk_bytes=1000 * at_s,
        network_bytes=50 * at_s,
        processes={(pid, 1.0): activity._Process(*facts) for pid, facts in processes.items()},
        ours=frozenset((pid, 1.0) for pid in ours),
        ended_cpu_s=0.0,
    )


def test_only_what_others_did_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(activity.psutil, "cpu_count", lambda: 2)
    first = look(0, 10.0, {1: ("pathtrace", 1.0, 0), 2: ("backup", 5.0, 0), 3: ("shell", 0.0, 0)}, {1})
    last = look(10, 19.0, {1: ("pathtrace", 4.0, 4000), 2: ("backup", 9.5, 0), 4: ("cron", 1.0, 0)}, {1})

    assert activity._between("workstation", first, last) == Activity(
        host="workstation",
        cpu_percent=pytest.approx(30.0),  # type: ignore[arg-type]
        disk_bytes_per_s=600.0,
        network_bytes_per_s=50.0,
        notable=("backup (pid 2): 45 % of a core", "cron (pid 4): 10 % of a core"),
    )


class _Cores(NamedTuple):
    user: float
    steal: float


def test_what_another_machine_on_the_same_one_had_is_other_work_too(monkeypatch: pytest.MonkeyPatch) -> None:
    cores = iter((_Cores(0.0, 0.0), _Cores(0.0, 5.0)))
    moments = iter((0, 10 * SECOND))
    monkeypatch.setattr(activity.psutil, "cpu_times", lambda: next(cores))
    monkeypatch.setattr(activity.psutil, "cpu_count", lambda: 1)
    monkeypatch.setattr(activity, "_all_processes", dict)
    watch = ActivityWatch("here", (), lambda: next(moments))
    watch.begin()
    percent = watch.end().cpu_percent
    assert percent is not None
    assert 45 <= percent <= 50


class _Interrupted(NamedTuple):
    user: float
    softirq: float
    steal: float = 0.0


def test_interrupts_are_nobody_s_work() -> None:
    assert activity._worked_s(_Interrupted(user=3.0, softirq=2.0)) == 3.0
    assert activity._worked_s(_Interrupted(user=3.0, softirq=2.0, steal=1.0)) == 4.0


def test_nothing_is_known_without_a_first_look() -> None:
    assert ActivityWatch("here", (), time.perf_counter_ns).end() == Activity("here", None, None, None, ())


def test_a_moment_is_too_short_to_tell_what_others_did() -> None:
    ticks = iter((0, SECOND // 20))
    watch = ActivityWatch("here", (), lambda: next(ticks))
    watch.begin()
    assert watch.end() == Activity("here", None, None, None, ())


def test_bytes_of_partitions_and_stacked_devices_are_not_counted_again() -> None:
    class Counters:
        read_bytes = 1
        write_bytes = 0

    names = ("sda", "sda1", "sdaa", "nvme0n1", "nvme0n1p2", "loop0", "dm-0", "md0")

    assert activity._whole_disks(dict.fromkeys(names, Counters())) == 3


@pytest.fixture
def spinning() -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen([sys.executable, "-c", SPIN], text=True, stdin=-1, stdout=-1)
    yield process
    process.communicate("\n\n")


def spin(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    print(file=process.stdin, flush=True)
    process.stdout.readline()


def test_a_server_of_the_scenario_and_a_child_are_not_others(spinning: subprocess.Popen[str]) -> None:
    ticks = iter((0, SECOND))
    watch = ActivityWatch("here", (spinning.pid,), lambda: next(ticks))
    watch.begin()
    spin(spinning)

    assert not any(f"pid {spinning.pid}" in text for text in watch.end().notable)
