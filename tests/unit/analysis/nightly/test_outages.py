from __future__ import annotations

from pathtrace.analysis.nightly.outages import is_back, missed_nights, missed_throughout, missing
from tests.unit.analysis.made_nights import made, quiet

LOAD = ("load", "load/weights->model")


def test_two_of_three_nights_without_a_figure_are_missing() -> None:
    nights = made(quiet(20), missing=LOAD, dead=(10, 12))
    found = [missing(nights[: count + 1]) for count in range(9, 15)]
    assert found == [{}, {}, {}, {"load": 10}, {}, {}]


def test_a_hop_alone_is_named_where_its_flow_is_measured() -> None:
    nights = made(quiet(20), missing=("index/archive->indexer",), dead=(10, 11))
    assert missing(nights[:12]) == {"index/archive->indexer": 10}


def test_a_failed_night_measured_nothing() -> None:
    nights = made(quiet(20), failed=(10, 11))
    assert missing(nights[:12]) == {"index": 10, "load": 10, "answer": 10}


def test_what_was_never_measured_is_not_missed() -> None:
    assert missing(made(quiet(20), missing=LOAD, dead=range(20))) == {}


def test_it_is_back_after_two_nights_in_a_row() -> None:
    nights = made(quiet(20), missing=LOAD, dead=(10, 11, 13))
    assert [is_back(nights[: count + 1], "load") for count in range(10, 17)] == [
        *(False, False, False, False, False),
        *(True, True),
    ]


def test_nights_without_it_are_counted() -> None:
    nights = made(quiet(20), missing=LOAD, dead=(10, 11, 13))
    assert (missed_nights(nights, "load", 10), missed_nights(nights, "index", 10)) == (3, 0)
    assert missed_throughout(nights[:14], "load", 10)
    assert not missed_throughout(nights, "load", 10)
