"""What is known of a disk that a full link hides, by what it left in a run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pathtrace.analysis.assembly import measured_flows
from pathtrace.analysis.predicting.disk_bounds import Bounds, disk_bounds, disk_time
from tests.unit.analysis import far
from tests.unit.analysis.builders import MB

FULL = far.Way(took_ms=86, repeats=3)
"""40 blocks of 10 MB, one at a time, on a link that they fill."""
SMALL = far.Way(took_ms=2, each=20_000, blocks=1000)
"""1,000 small files, one at a time: 500 a second."""


def taken(way: far.Way) -> float | None:
    evidence, [study] = measured_flows(far.run(way))
    return disk_time(study.stages[0], evidence, study.span)


def bounds(way: far.Way, *, full: bool) -> Bounds:
    evidence, [study] = measured_flows(far.run(way))
    return disk_bounds(study.stages[0], study, evidence, 10 * MB / far.LINE, 0.0001, full)


def test_a_disk_that_was_measured_takes_what_the_bytes_take_there() -> None:
    assert taken(replace(FULL, ceilings=(*far.line(), far.ceiling("disk:weights", 200 * MB)))) == 2.0


def test_a_disk_whose_host_was_looked_at_takes_as_long_as_it_was_busy() -> None:
    busy = replace(FULL, more=lambda start, end: far.disk(start, end, read=400.0 * MB, busy=0.25))
    assert taken(busy) == pytest.approx(0.25 * 3.44, rel=0.02)


def test_of_a_disk_that_left_nothing_all_may_be() -> None:
    assert taken(FULL) is None
    assert bounds(FULL, full=True) == Bounds(0.0, pytest.approx(0.086, rel=0.01))


def test_files_that_are_as_quick_from_the_servers_memory_leave_the_disk_little() -> None:
    warm = far.ceiling("server:weights", 11 * MB, operations=550.0)
    least, most = 0.0, pytest.approx(0.002 * (1 - 500 / 550 + 0.1), rel=0.05)
    assert bounds(replace(SMALL, ceilings=(*far.line(), warm)), full=False) == Bounds(least, most)
