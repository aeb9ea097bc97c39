from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pathtrace.analysis.nightly.night_series import counted, series, usual
from pathtrace.model.history import FAILED, INTERRUPTED, SKIPPED
from tests.unit.analysis.made_nights import NAMES, SECONDS, made, quiet, run_id, with_status


def test_skipped_and_interrupted_nights_do_not_count_and_failed_ones_do() -> None:
    nights = made(quiet(10))
    nights = with_status(nights, (3,), SKIPPED)
    nights = with_status(nights, (4,), INTERRUPTED)
    nights = with_status(nights, (5,), FAILED)
    assert [entry.id for entry in counted(nights)] == [run_id(night) for night in (0, 1, 2, 5, 6, 7, 8, 9)]


def test_only_nights_of_the_last_ones_work_and_start_count() -> None:
    nights = made(quiet(6))
    nights[0] = replace(nights[0], workload_fingerprint="other")
    nights[1] = replace(nights[1], start="warm")
    nights[2] = replace(nights[2], setup_fingerprint="another link")
    assert counted(nights) == tuple(nights[2:])


def test_a_failed_night_need_not_know_its_work() -> None:
    nights = with_status(made(quiet(4)), (2, 3), FAILED)
    nights[2] = replace(nights[2], workload_fingerprint="")
    nights[3] = replace(nights[3], workload_fingerprint="other")
    assert counted(nights) == tuple(nights[:3])


def test_a_baseline_begins_anew_the_last_one_counts() -> None:
    nights = [replace(entry, baseline=night in (2, 5)) for night, entry in enumerate(made(quiet(8)))]
    assert counted(nights) == tuple(nights[5:])


def test_beside_scans_runs_by_hand_do_not_count_unless_they_are_the_baseline() -> None:
    nights = made(quiet(6))
    nights[1] = replace(nights[1], scanned=False, baseline=True)
    nights[3] = replace(nights[3], scanned=False)
    assert counted(nights) == (nights[1], nights[2], nights[4], nights[5])
    by_hand = [replace(entry, scanned=False) for entry in nights]
    assert counted(by_hand) == tuple(by_hand[1:])


def test_nothing_measured_is_no_night() -> None:
    assert counted([]) == ()
    assert counted(with_status(made(quiet(3)), (0, 1, 2), FAILED)) == ()


def test_nights_out_of_order_are_put_in_order() -> None:
    nights = made(quiet(6))
    assert counted([*nights[3:], *nights[:3]]) == tuple(nights)


def test_a_series_holds_what_was_measured_and_when() -> None:
    found = series(made(quiet(5), missing=("load",), dead=(1, 3)))
    assert tuple(found) == NAMES
    load = found["load"]
    assert load.nights.tolist() == [0, 2, 4]
    assert np.exp(load.values) == pytest.approx([SECONDS["load"]] * 3, rel=0.1)
    assert (load.days - load.days[0]).tolist() == [0.0, 2.0, 4.0]
    assert load.own == pytest.approx(0.04 / 3.92)
    assert load.resources == ("link:lan",) * 3
    assert [load.place(night) for night in (0, 1, 2, 4, 5)] == [0, 1, 1, 2, 3]
    assert load.flow == "load"


def test_work_is_bytes_else_operations_else_nothing_known() -> None:
    nights = made(quiet(2))
    no_bytes = [
        replace(entry, took=tuple(replace(took, bytes=None) for took in entry.took)) for entry in nights
    ]
    nothing = [
        replace(entry, took=tuple(replace(took, operations=0) for took in entry.took)) for entry in no_bytes
    ]
    works = [series(each)["load"].work.tolist() for each in (nights, no_bytes, nothing)]
    assert works == [[np.log(1e9)] * 2, [np.log(1000)] * 2, [0.0, 0.0]]


def test_the_usual_resource_is_the_commonest_that_is_known() -> None:
    assert usual(["link:lan", None, "disk:archive", "link:lan", None, None]) == "link:lan"
    assert usual([None]) is None
