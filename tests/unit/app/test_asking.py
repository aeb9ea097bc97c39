"""Predictions kept with a stored run of an archive on a NAS, and what a comparison reads of them."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from pathtrace.app.asking import ask_all
from pathtrace.app.comparing import compare_runs
from pathtrace.model.prediction import Price
from pathtrace.model.run import Run
from pathtrace.store import runs
from tests.unit.analysis.builders import scenario
from tests.unit.analysis.compared import AFTER_TEXT, BEFORE_TEXT, run, upgraded


def kept(store: Path, made: Run, label: str) -> Run:
    (store / made.id).mkdir()
    asyncio.run(runs.save(store / made.id, replace(made, label=label), str))
    return made


def often(made: Run, text: str) -> Run:
    """Every ten seconds, so that it is worth to predict anything."""
    return replace(made, scenario=scenario(text.replace("every 24 h", "every 10 s")))


@pytest.mark.parametrize(("prices", "price"), [(["lan=120 EUR"], Price(120.0, "EUR")), ([], None)])
def test_a_price_that_was_said_when_it_was_predicted_is_told_beside_the_fact(
    tmp_path: Path, prices: list[str], price: Price | None
) -> None:
    kept(tmp_path, often(run(), BEFORE_TEXT), "before")
    ranked = ask_all(tmp_path, "before", prices)
    assert ranked.unstored is None
    later = replace(upgraded(), started_at="2999-01-01T00:00:00+00:00")
    kept(tmp_path, often(later, AFTER_TEXT), "after")
    [whole] = compare_runs(tmp_path, "before", ["after"], ["lan"]).comparisons
    assert [each.flow for each in whole.predictions] == ["index"]
    assert (whole.cost.price if whole.cost else None) == price
