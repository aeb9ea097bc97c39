from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pathtrace.analysis import analyse
from pathtrace.model.sample import Reading, ReadingTable, SampleTable
from tests.unit.analysis.builders import MB
from tests.unit.analysis.far import Way, cores, disk, found, on_mount, process, report, run

HALF = Way(took_ms=170)


def seen_disk(read: float, written: float = 0.0, busy: float = 0.3, **more: object) -> Way:
    return replace(
        HALF,
        more=lambda a, b: disk(a, b, read=read * HALF.payload, written=written, busy=busy),
        **more,  # type: ignore[arg-type]  # fields by name
    )


def test_a_server_whose_disk_is_hardly_read_served_it_from_memory() -> None:
    (finding,) = found(seen_disk(0.05), "server-cache")
    assert finding.text == "the memory of nas served weights: its disk was hardly read"
    assert finding.evidence[0] == "19.1 MiB came off nas/sda for 381 MiB"


def test_a_server_whose_disk_was_read_in_full_did_not() -> None:
    assert found(seen_disk(1.0), "server-cache") == []


def test_later_repeats_that_are_faster_over_the_wire_are_the_servers_cache() -> None:
    got = _first_slower(1.0)
    assert [each.code for each in got if each.code in ("server-cache", "warm-repeats")] == ["server-cache"]


def test_later_repeats_that_did_not_cross_the_wire_are_this_hosts_cache() -> None:
    got = _first_slower(0.001)
    assert [each.code for each in got if "cache" in each.code] == ["client-cache"]
    (finding,) = [each for each in got if each.code == "client-cache"]
    assert "in 2 of 3 repeats" in finding.text
    assert len(finding.evidence) == 3


def _first_slower(crossed_later: float):  # type: ignore[no-untyped-def]
    """A first repeat over the wire, then two that are three times as fast."""
    slow, fast = (
        run(replace(HALF, took_ms=300)),
        run(replace(HALF, repeats=3, took_ms=100, crossed=crossed_later)),
    )
    gap = slow.windows[0].end_ns + 3_000_000_000
    start = fast.windows[1].start_ns

    def later(at: int) -> int:
        return at - start + gap

    kept = fast.samples.rows[fast.samples.rows["repeat"] > 0].copy()
    for column in ("intended_ns", "start_ns"):
        kept[column] += gap - start
    total = {key: reading.value for reading in slow.readings.rows if (key := reading[1:4])}
    base: dict[tuple[str, str, str], float] = {}
    moved = []
    for reading in fast.readings.rows:
        if reading.at_ns < start:
            continue
        base.setdefault(reading[1:4], reading.value)
        if reading.metric in ("rtt_s", "min_rtt_s", "receive_queue_bytes"):
            moved.append(reading._replace(at_ns=later(reading.at_ns)))
        else:
            grown = reading.value - base[reading[1:4]] + total[reading[1:4]]
            moved.append(reading._replace(at_ns=later(reading.at_ns), value=grown))
    windows = tuple(
        replace(each, start_ns=later(each.start_ns), end_ns=later(each.end_ns)) for each in fast.windows[1:]
    )
    rows = np.concatenate((slow.samples.rows, kept))
    joined = replace(
        slow,
        samples=SampleTable(rows),
        readings=ReadingTable((*slow.readings.rows, *moved)),
        windows=(*slow.windows, *windows),
    )
    return analyse(joined).findings


@pytest.mark.parametrize(("crossed", "count"), [(1.5, 1), (1.05, 0)])
def test_more_over_the_wire_than_was_asked_for_is_amplification(crossed: float, count: int) -> None:
    assert len(found(replace(HALF, crossed=crossed), "read-amplification")) == count


def test_more_off_the_disk_than_was_asked_for_is_amplification_too() -> None:
    (finding,) = found(seen_disk(1.8, place=on_mount(far_disk="sda")), "read-amplification")
    assert finding.text == "nas/sda read 1.8 times what weights was asked for: ahead, or for others"
    assert found(seen_disk(1.8), "read-amplification") == [], "which disk it lies on is not known"


def test_a_server_that_fills_its_core_is_told_of_with_its_name() -> None:
    (finding,) = found(replace(HALF, more=lambda a, b: process(a, b, "smbd[5]", 0.97)), "full-core")
    assert finding.text == "smbd[5] on nas uses 97 % of a core, while weights was busy"
    assert found(replace(HALF, more=lambda a, b: process(a, b, "smbd[5]", 0.5)), "full-core") == []


def test_writing_while_the_run_only_reads_is_another_job() -> None:
    (finding,) = found(seen_disk(1.0, written=400e6), "other-activity")
    assert finding.text == "nas did other work meanwhile"
    assert found(seen_disk(1.0, written=1e5), "other-activity") == []


def test_advice_behind_a_link_says_how_much_a_faster_one_would_save_beside_what_is_busy() -> None:
    half = report(seen_disk(1.0, busy=0.7)).ranking[0]
    assert half.resource == "disk:weights"
    assert half.advice.endswith("a faster lan saves 30 % of it at the very most")


def test_advice_behind_an_idle_link_says_that_a_faster_one_is_useless() -> None:
    first = report(seen_disk(1.0, busy=0.97)).ranking[0]
    assert (first.resource, first.free) == ("disk:weights", False)
    assert first.advice.endswith("a faster lan would change next to nothing")

    def full(start: int, end: int) -> list[Reading]:
        return process(start, end, "smbd[5]", 0.97)

    core = report(replace(HALF, more=full)).ranking[0]
    assert (core.resource, core.free) == ("cpu:weights", True)
    assert "signing" in core.advice
    assert core.advice.endswith("a faster lan would change next to nothing")


@pytest.mark.parametrize(
    ("way", "resource", "free", "words"),
    [
        (Way(took_ms=89), "link:lan", False, "a faster lan saves"),
        (replace(HALF, others=0.95), "link:lan", False, "a faster lan saves"),
        (replace(HALF, took_ms=500, others=4.6), "link:lan", True, "let the other traffic on lan go"),
        (replace(HALF, lost=0.02), "loss:lan", True, "find where lan loses packets"),
    ],
)
def test_a_purchase_is_advised_only_where_the_link_itself_holds(
    way: Way, resource: str, free: bool, words: str
) -> None:
    first = report(way).ranking[0]
    assert (first.resource, first.free) == (resource, free)
    assert first.advice.startswith(words)


def test_a_pass_too_short_for_counters_that_come_once_a_second_says_so() -> None:
    short = Way(took_ms=17, each=1 * MB, repeats=3, more=lambda a, b: disk(a, b, read=40e6, busy=0.99))
    got = report(short).hops[0].limited_by
    assert got.resource == "server:weights"
    assert "the pass was too short to see what nas did" in got.evidence


def test_a_host_that_others_fill_is_no_full_core_of_a_hop_that_something_else_limits() -> None:
    def crowded(start: int, end: int) -> list[Reading]:
        seen = cores(start, end, 0.97, 0.96) + process(start, end, "smbd[5]", 0.4)
        return seen + process(start, end, "ffmpeg[9]", 1.5)

    assert found(replace(HALF, more=crowded), "full-core")
    assert found(Way(took_ms=89, more=crowded), "full-core") == []
