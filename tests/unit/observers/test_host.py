"""Observers that only ask the system: what they report of the host that the tests run on."""

from __future__ import annotations

import os
import socket
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from pathtrace.model.sample import Reading
from pathtrace.observers.cpu import CpuObserver, busy_s
from pathtrace.observers.interface import InterfaceObserver
from pathtrace.observers.memory import MemoryObserver
from pathtrace.observers.own import OwnObserver

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")


def value(readings: list[Reading], subject: str, metric: str) -> float:
    return next(r.value for r in readings if (r.subject, r.metric) == (subject, metric))


def test_bytes_sent_over_loopback_are_counted_by_its_interface() -> None:
    observer = InterfaceObserver()
    name = next(r.subject for r in observer.observe(0) if r.subject.startswith("lo"))
    before = value(list(observer.observe(1)), name, "rx_bytes")
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()) as one,
    ):
        other, _ = server.accept()
        with other:
            one.sendall(bytes(100_000))
            got = 0
            while got < 100_000:
                got += len(other.recv(100_000))

    assert value(list(observer.observe(2)), name, "rx_bytes") - before >= 100_000


def test_errors_and_carriers_are_read_once_a_second() -> None:
    observer = InterfaceObserver()
    seen = []
    for at_ns in (0, 900_000_000, 1_000_000_000):
        name = next(r.subject for r in observer.observe(0) if r.subject.startswith("lo"))
        seen.append([r.metric for r in observer.observe(at_ns) if r.subject == name])
    often = ["rx_bytes", "tx_bytes", "rx_packets", "tx_packets"]
    seldom = ["rx_errors", "rx_dropped", "tx_dropped"]
    carriers = ["carrier_changes"] if sys.platform.startswith("linux") else []

    assert seen == [often, often, [*often, *seldom, *carriers]]


def test_cores_add_up_to_all() -> None:
    readings = list(CpuObserver().observe(1))

    cores = [r.value for r in readings if r.subject != "all" and r.metric == "busy_s"]

    assert value(readings, "all", "busy_s") == pytest.approx(sum(cores))
    assert len(cores) == os.cpu_count()


def test_idle_waiting_and_stolen_time_is_not_busy() -> None:
    times = SimpleNamespace(
        user=1.0, nice=2.0, system=4.0, irq=8.0, idle=16.0, iowait=32.0, steal=64.0, guest=1.0
    )

    assert busy_s(times) == 15.0


@linux
def test_memory_is_read_in_bytes(tmp_path: Path) -> None:
    lines = "MemTotal: 9 kB\nMemAvailable: 5 kB\nCached: 3 kB\nDirty: 1 kB\nSwapTotal: 8 kB\nSwapFree: 6 kB\n"
    (tmp_path / "meminfo").write_text(lines)

    assert MemoryObserver(proc=str(tmp_path)).observe(4) == [
        Reading(4, "memory", "host", "available_bytes", 5120.0),
        Reading(4, "memory", "host", "cached_bytes", 3072.0),
        Reading(4, "memory", "host", "dirty_bytes", 1024.0),
        Reading(4, "memory", "host", "swap_used_bytes", 2048.0),
    ]


@linux
def test_what_pathtrace_itself_reads_and_computes_is_seen(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(bytes(300_000))
    observer = OwnObserver()
    before = list(observer.observe(0))
    (tmp_path / "file").read_bytes()
    sum(range(1_000_000))
    after = list(observer.observe(1))

    assert [(r.subject, r.metric) for r in after if not r.subject.startswith("thread:")] == [
        ("process", "cpu_s"),
        ("process", "rss_bytes"),
        ("process", "children_cpu_s"),
        ("process", "read_bytes"),
        ("process", "rchar_bytes"),
        ("process", "major_faults"),
        ("loop", "cpu_s"),
        ("loop", "run_delay_s"),
    ]
    assert value(after, "process", "rchar_bytes") - value(before, "process", "rchar_bytes") >= 300_000
    assert value(after, "loop", "cpu_s") > value(before, "loop", "cpu_s")
    assert value(after, "process", "cpu_s") > value(before, "process", "cpu_s")


@linux
def test_the_thread_of_pathtrace_that_fills_a_core_is_named() -> None:
    begun, may_end = threading.Event(), threading.Event()

    def work() -> None:
        ends = time.thread_time() + 0.05
        while time.thread_time() < ends:
            pass
        begun.set()
        may_end.wait()

    thread = threading.Thread(target=work, name="cutter")
    twin = threading.Thread(target=work, name="cutter")
    observer = OwnObserver()
    for each in (thread, twin):
        begun.clear()
        each.start()
        begun.wait()
    readings = list(observer.observe(0))
    may_end.set()
    for each in (thread, twin):
        each.join()

    cutters = {r.subject: r.value for r in readings if "cutter" in r.subject and r.metric == "cpu_s"}
    assert "thread:cutter" in cutters
    assert len(cutters) == 2
    assert all(0.05 <= cpu_s < 0.2 for cpu_s in cutters.values())
    assert value(readings, "thread:cutter", "run_delay_s") >= 0
    assert len({r.subject for r in readings if r.subject.startswith("thread:")}) <= 16
