"""What counts as busy, from counters that grow."""

from __future__ import annotations

import asyncio
import time

from pathtrace.app.quiet import Use, busy, disk_use, network_use, sample
from pathtrace.model.sample import Reading


def of_disk(name: str, busy_s: float) -> Reading:
    return Reading(0, "disk", name, "busy_s", busy_s)


def of_network(name: str, metric: str, moved: float) -> Reading:
    return Reading(0, "interface", name, metric, moved)


def test_the_busiest_disk_counts_and_is_called_by_its_own_name() -> None:
    first = (of_disk("vda", 10.0), of_disk("vda1", 10.0), of_disk("vdb", 5.0))
    last = (of_disk("vda", 10.5), of_disk("vda1", 10.5), of_disk("vdb", 5.1))
    assert disk_use(first, last, 2.0) == (Use(0.25, "disk vda 25 % busy"),)


def test_no_disk_is_more_than_busy_all_the_time_and_a_new_one_tells_nothing_yet() -> None:
    assert disk_use((of_disk("vda", 1.0),), (of_disk("vda", 4.0),), 2.0) == (Use(1.0, "disk vda 100 % busy"),)
    assert disk_use((), (of_disk("vda", 4.0),), 2.0) == ()


def test_the_busiest_interface_counts_by_its_own_speed_and_loopback_does_not() -> None:
    names = ("lo", "eth0", "wlan0")
    first = [of_network(name, metric, 0.0) for name in names for metric in ("rx_bytes", "tx_bytes")]
    last = [
        *(of_network("lo", metric, 9e9) for metric in ("rx_bytes", "tx_bytes")),
        *(of_network("eth0", metric, 1e8) for metric in ("rx_bytes", "tx_bytes")),
        of_network("wlan0", "rx_bytes", 5e7),
        of_network("wlan0", "tx_bytes", 0.0),
    ]
    speeds = {"eth0": 1.25e9, "wlan0": None}
    words = "network wlan0 carries 200 Mbit/s, 20 % of its speed"
    assert network_use(first, last, 2.0, speeds) == (Use(0.2, words),)


def test_quiet_is_what_lies_below_the_limit_and_the_busiest_is_named_first() -> None:
    uses = (Use(0.2, "CPU"), Use(0.05, "disk"), Use(0.7, "network"))
    assert busy(uses, 0.2) == "network; CPU"
    assert busy(uses, 0.71) is None
    assert busy((), 0.1) is None


def test_a_sample_of_this_host_sees_its_cpu() -> None:
    found = asyncio.run(sample("here", time.perf_counter_ns))
    assert any(each.words.startswith("CPU ") and 0 <= each.ratio <= 1 for each in found)
