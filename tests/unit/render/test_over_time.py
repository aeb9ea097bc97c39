from __future__ import annotations

from dataclasses import replace

from rich.console import Group

from pathtrace.model.report import Parts, Point
from pathtrace.render.over_time import BARS, bars, over_time
from tests.unit.render.drawn import drawn
from tests.unit.render.example import ARCHIVE_INDEXER, REPORT, stage


def test_the_highest_rate_has_the_full_bar() -> None:
    assert bars([0, 1, 2, 4, 7.9, 8]) == "▁▂▃▅██"
    assert bars([0, 0]) == "▁▁"
    assert bars([]) == ""
    assert bars([5]) == BARS[-1]


def test_a_hop_shows_its_rate_over_time_and_the_parts_of_a_file() -> None:
    series = tuple(Point(number / 10, 1e6 if number % 8 < 4 else 9e6, 100.0) for number in range(48))
    read = replace(
        stage("read", "archive", 10, 10, "disk:archive", 1e-5), parts=Parts(9e-6, 6e-6, 2e-6, 1e-6)
    )
    hop = replace(ARCHIVE_INDEXER, series=series, stages=(read,))
    report = replace(REPORT, hops=(hop,))
    assert drawn(Group(*over_time(report)), width=80).splitlines() == [
        "",
        "Over time  rate from start to end of the median repeat",
        "  archive->indexer  ▁▁██▁▁██▁▁██▁▁██▁▁██▁▁██ 1 MB/s to 9 MB/s; a file: open 8",
        "                    µs, stat 1 µs, read 6 µs, close 2 µs",
    ]


def test_hops_that_move_no_bytes_show_their_operations() -> None:
    series = tuple(Point(float(number), 0.0, number + 1.0) for number in range(4))
    report = replace(REPORT, hops=(replace(ARCHIVE_INDEXER, series=series, stages=()),))
    assert "▃▅▇█ 1/s to 4/s" in drawn(Group(*over_time(report)), width=80)


def test_without_series_nothing_is_said() -> None:
    assert list(over_time(replace(REPORT, hops=(replace(ARCHIVE_INDEXER, series=()),)))) == []
