from __future__ import annotations

from dataclasses import replace

import pytest

from pathtrace.analysis import analyse
from pathtrace.model.report import HopReport, Report
from pathtrace.model.run import Ceiling, Mount
from tests.unit.analysis.builders import MB, MS, Desk, host, reached, run_of, scenario, stream
from tests.unit.analysis.planted import hop

TEXT = """
pathtrace: 1
workload: {loads_per_day: 100}
places:
  weights: {kind: files, path: /mnt/models/x.bin, access: ACCESS}
  model: {kind: inference}
flows:
  load: {path: [weights, model], frequency: per-load}
"""
KIB = 1024
SHARE = Mount("/mnt/models", "nas:/models", "fuse.sshfs", None, True)


def loaded(
    *ceilings: Ceiling, each: int = 1 << 20, took_ms: int = 128, access: str = "mmap", mount: Mount = SHARE
) -> Report:
    """Forty blocks through a mount, each taking so long."""
    parts = stream(
        (Desk(), Desk()),
        lambda stage, k: (took_ms * MS, MS // 10)[stage],
        40,
        details=lambda sample: {"bytes": each},
    )
    place = replace(reached("weights", bytes=40 * each), mount=mount)
    described = scenario(TEXT.replace("ACCESS", access))
    return analyse(run_of(described, [parts], places=(place,), hosts=(host(),), ceilings=ceilings))


def alone(latency_ms: float, at_once: int | None) -> Ceiling:
    """What one request takes, and what the kernel reads for a page that is missing."""
    rate = at_once / (latency_ms / 1000) if at_once else None
    return Ceiling("round-trips:weights", rate, None, latency_ms / 1000, "measured", "one page alone", 0.5)


def together(bytes_per_s: float) -> Ceiling:
    return Ceiling("disk:weights", bytes_per_s, None, 0.002, "measured", "depth 16", 1.0)


def limited(report: Report) -> HopReport:
    return hop(report, "load", "weights->model")


def test_mapped_pages_that_come_one_request_after_the_other_are_round_trips() -> None:
    report = loaded(alone(2.0, 16 * KIB))  # 64 requests of 16 KiB in a block: 128 ms
    assert limited(report).limited_by.resource == "round-trips:weights"
    assert limited(report).limited_by.evidence[-2:] == (
        "one request takes 2 ms alone",
        "mapped pages come 16 KiB at a time: 2,560 requests one after the other are 100 % of the time",
    )
    assert report.ranking[0].advice == (
        "read weights ahead or whole (`access: read`) instead of page by page: "
        "saves at most 8 min 32 s a day; a faster link saves next to nothing"
    )


def test_pages_that_cost_little_of_the_time_are_not_what_holds_it() -> None:
    report = loaded(alone(0.2, 16 * KIB))
    assert limited(report).limited_by.resource == "unknown"


def test_a_call_that_takes_a_few_round_trips_is_made_of_them() -> None:
    report = loaded(alone(2.0, None), each=4096, took_ms=4, access="read")
    assert limited(report).limited_by.resource == "round-trips:weights"
    assert "an operation takes as long as 2.0 of them" in limited(report).limited_by.evidence


@pytest.mark.parametrize(("rate", "resource"), [(20 * MB, "round-trips:weights"), (9 * MB, "unknown")])
def test_long_calls_are_round_trips_only_where_more_at_once_goes_faster(rate: float, resource: str) -> None:
    report = loaded(alone(2.0, None), together(rate), access="read")
    assert limited(report).limited_by.resource == resource


def test_a_disk_of_ones_own_has_no_round_trips() -> None:
    mount = Mount("/mnt/models", "/dev/sdb", "ext4", None, False)
    assert limited(loaded(alone(2.0, 16 * KIB), mount=mount)).limited_by.resource == "unknown"
