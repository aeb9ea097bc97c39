from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pathtrace.errors import RunFileError
from pathtrace.store.predictions import add_predictions, read_predictions


def test_predictions_are_kept_in_order_and_nothing_is_left_beside_them(tmp_path: Path) -> None:
    assert read_predictions(tmp_path) == ()
    add_predictions(tmp_path, "2026-11-30T09:00:00+00:00", [{"run": "a", "flows": []}])
    add_predictions(tmp_path, "2026-11-30T10:00:00+00:00", [{"run": "a", "flows": [1]}])
    assert read_predictions(tmp_path) == (
        {"predicted_at": "2026-11-30T09:00:00+00:00", "run": "a", "flows": []},
        {"predicted_at": "2026-11-30T10:00:00+00:00", "run": "a", "flows": [1]},
    )
    assert [path.name for path in tmp_path.iterdir()] == ["predictions.json"]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": "other/1", "predictions": []}', "[" * 100_000])
def test_a_damaged_file_is_refused_and_stays_as_it_is(text: str, tmp_path: Path) -> None:
    (tmp_path / "predictions.json").write_text(text)
    with pytest.raises(RunFileError, match=r"predictions\.json"):
        add_predictions(tmp_path, "2026-11-30T09:00:00+00:00", [{}])
    assert (tmp_path / "predictions.json").read_text() == text


def test_several_are_kept_at_once_and_what_was_said_before_keeps_its_time(tmp_path: Path) -> None:
    add_predictions(tmp_path, "2026-11-30T10:00:00+00:00", [{"run": "a"}])
    add_predictions(tmp_path, "2026-11-30T11:00:00+00:00", [{"run": "a"}, {"run": "b"}])
    add_predictions(tmp_path, "2026-11-30T12:00:00+00:00", [])
    assert [(each["predicted_at"][11:13], each["run"]) for each in read_predictions(tmp_path)] == [
        ("10", "a"),
        ("11", "b"),
    ]


def test_of_many_that_add_at_once_none_is_lost(tmp_path: Path) -> None:
    def add(number: int) -> None:
        add_predictions(tmp_path, "2026-11-30T10:00:00+00:00", [{"run": number}])

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add, range(40)))
    assert sorted(each["run"] for each in read_predictions(tmp_path)) == list(range(40))
