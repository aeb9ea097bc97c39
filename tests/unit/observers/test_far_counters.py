from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathtrace.model.sample import Reading
from pathtrace.observers.far_counters import FarCounters


def look(*processes: str) -> str:
    lines = [
        "cpu  100 20 30 400 50 6 7 80 0 0",
        "cpu0 60 10 10 200 25 3 3 40 0 0",
        "disks",
        "   8       0 sda 1000 7 2048 300 500 6 4096 400 0 1500 700 0 0 0 0 1 2",
        "   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0",
        "interfaces",
        "Inter-|   Receive                                                |  Transmit",
        " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs",
        "    lo: 999 9 0 0 0 0 0 0 999 9 0 0 0 0 0 0",
        "  eth0:12345 67 0 0 0 0 0 0 890 12 0 0 0 0 0 0",
        "memory",
        "MemAvailable:   2000 kB",
        "Cached:         1000 kB",
    ]
    return "|".join((*lines, "processes", *processes, "")) if processes else "|".join((*lines, ""))


def test_a_look_is_read_in_seconds_and_bytes() -> None:
    counters = FarCounters("nas")
    assert counters.feed("hz 10", 1) == []

    assert counters.feed(look(), 42) == [
        Reading(42, "far_cpu", "nas/all", "busy_s", 16.3),
        Reading(42, "far_cpu", "nas/all", "iowait_s", 5.0),
        Reading(42, "far_cpu", "nas/all", "softirq_s", 0.7),
        Reading(42, "far_cpu", "nas/core0", "busy_s", pytest.approx(8.6)),
        Reading(42, "far_cpu", "nas/core0", "iowait_s", 2.5),
        Reading(42, "far_cpu", "nas/core0", "softirq_s", 0.3),
        Reading(42, "far_disk", "nas/sda", "read_bytes", 2048.0 * 512),
        Reading(42, "far_disk", "nas/sda", "write_bytes", 4096.0 * 512),
        Reading(42, "far_disk", "nas/sda", "read_count", 1000.0),
        Reading(42, "far_disk", "nas/sda", "write_count", 500.0),
        Reading(42, "far_disk", "nas/sda", "busy_s", 1.5),
        Reading(42, "far_interface", "nas/eth0", "rx_bytes", 12345.0),
        Reading(42, "far_interface", "nas/eth0", "tx_bytes", 890.0),
        Reading(42, "far_memory", "nas", "available_bytes", 2_048_000.0),
        Reading(42, "far_memory", "nas", "cached_bytes", 1_024_000.0),
    ]


def processes(counters: FarCounters, at_ns: int, *lines: str) -> list[Reading]:
    return [r for r in counters.feed(look(*lines), at_ns) if r.observer == "far_process"]


def test_a_process_is_named_when_it_works_from_the_look_before() -> None:
    counters = FarCounters("nas")
    assert processes(counters, 1, "1 (init) 500 3", "70 (smbd) 200 9") == []
    assert processes(counters, 2, "1 (init) 500 3", "70 (smbd) 260 9", "80 (a (b) c) 30 12") == [
        Reading(1, "far_process", "nas/smbd[70]", "cpu_s", 2.0),
        Reading(1, "far_process", "nas/a (b) c[80]", "cpu_s", 0.0),
        Reading(2, "far_process", "nas/smbd[70]", "cpu_s", 2.6),
        Reading(2, "far_process", "nas/a (b) c[80]", "cpu_s", 0.3),
    ]


def test_a_number_that_is_used_again_is_another_process() -> None:
    counters = FarCounters("nas")
    processes(counters, 1, "70 (smbd) 200 9")
    processes(counters, 2, "70 (smbd) 300 9")
    assert processes(counters, 3, "70 (sh) 1 500") == []


@given(st.lists(st.text(alphabet="0123456789 abc|:()/\t-"), max_size=30))
def test_any_text_is_survived(lines: list[str]) -> None:
    counters = FarCounters("nas")
    for section in ("", "disks|", "interfaces|", "memory|", "processes|"):
        for line in lines:
            counters.feed(section + line, 1)
