from pathlib import Path
from typing import Any

import pytest

from pathtrace.errors import RunFileError
from pathtrace.model.comparison import Foretold, ForetoldChange, StoredPrediction
from pathtrace.model.prediction import Price
from pathtrace.store.foretold import stored_predictions
from pathtrace.store.predictions import PREDICTIONS, add_predictions

WHOLE: dict[str, Any] = {
    "changes": [{"resource": "link:lan", "before": None, "after": 1.25e9}],
    "flows": [{"name": "index", "before_s": 61, "after_s": {"expected": 20, "low": 18, "high": 23}}],
}


def test_predictions_are_read_as_they_were_kept(tmp_path: Path) -> None:
    add_predictions(tmp_path, "2026-11-30T09:30:00+00:00", [WHOLE])
    assert stored_predictions(tmp_path) == (
        StoredPrediction(
            "2026-11-30T09:30:00+00:00",
            (ForetoldChange("link:lan", 1.25e9),),
            (Foretold("index", 61.0, 20.0, 18.0, 23.0),),
        ),
    )


def test_a_price_a_word_and_a_flow_of_which_nothing_is_known_are_read_too(tmp_path: Path) -> None:
    silent = {"name": "answer", "before_s": 3, "after_s": None}
    document = {
        "changes": [{"resource": "archive.access", "before": "mmap", "after": "read"}],
        "flows": [*WHOLE["flows"], silent],
        "price": {"amount": 120, "currency": None},
    }
    add_predictions(tmp_path, "2026-11-30T09:30:00+00:00", [document])
    [found] = stored_predictions(tmp_path)
    assert found.changes == (ForetoldChange("archive.access", "read"),)
    assert [flow.flow for flow in found.flows] == ["index"]
    assert found.price == Price(120.0, None)


def test_one_that_lacks_a_figure_is_left_out(tmp_path: Path) -> None:
    for part in (
        {"changes": None},
        {"flows": [{"name": "index"}]},
        {"changes": [{"resource": "x", "after": None}]},
        {"price": {"amount": "much"}},
    ):
        add_predictions(tmp_path, "2026-11-30T09:30:00+00:00", [WHOLE | part])
    assert stored_predictions(tmp_path) == ()


def test_a_run_without_predictions_has_none_and_a_broken_file_is_an_error(tmp_path: Path) -> None:
    assert stored_predictions(tmp_path) == ()
    (tmp_path / PREDICTIONS).write_text("{")
    with pytest.raises(RunFileError, match="cannot be read"):
        stored_predictions(tmp_path)
