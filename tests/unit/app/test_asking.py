"""What is kept with a stored run of what was asked of it, what a comparison reads of that, and its page."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pathtrace.analysis import analyse
from pathtrace.app import asking
from pathtrace.app.asking import Question, ask, ask_all, page_of
from pathtrace.app.comparing import compare_runs
from pathtrace.model.prediction import Price
from pathtrace.model.run import Run
from pathtrace.store import runs
from pathtrace.store.foretold import stored_predictions
from tests.unit.analysis import far
from tests.unit.analysis.builders import MB, scenario
from tests.unit.analysis.compared import AFTER_TEXT, BEFORE_TEXT, run, upgraded

FULL = far.Way(took_ms=86, repeats=3, ceilings=(*far.line(), far.ceiling("disk:weights", 200 * MB)))


def stored(store: Path, made: Run) -> Path:
    folder = runs.create(store, far.TEXT.replace("LINKS", far.LAN), str, datetime.now(UTC))
    asyncio.run(runs.save(folder, made, str))
    return folder


def test_each_answer_is_kept_once_as_a_comparison_reads_it(tmp_path: Path) -> None:
    folder = stored(tmp_path, far.run(FULL))
    for _ in range(2):
        answered = ask(tmp_path, folder.name, Question(("lan=10GbE",), (), ("a sheet; 2026; vendor",)))
        assert (answered.known, answered.damaged, answered.unstored) == (True, False, None)
    [kept] = stored_predictions(folder)
    assert [(each.resource, each.after) for each in kept.changes] == [("link:lan", 1250 * MB)]


def test_what_was_ranked_is_kept_with_its_price(tmp_path: Path) -> None:
    folder = stored(tmp_path, far.run(FULL))
    ranked = ask_all(tmp_path, folder.name, ("lan=120 EUR",))
    prices = [each.price for each in (*ranked.upgrades.ranked, *ranked.upgrades.without_gain)]
    assert Price(120.0, "EUR") in prices
    assert [each.price for each in stored_predictions(folder)] == prices


def test_of_a_large_run_nothing_is_played_again_for_its_page(monkeypatch: pytest.MonkeyPatch) -> None:
    made = far.run(FULL)
    monkeypatch.setattr(asking, "MOST_FOR_PAGE", len(made.samples) - 1)
    page = page_of(made, analyse(made))
    assert "- The run is too large to be played again in passing\n- All of it" in page


def test_a_run_that_is_not_complete_has_a_page_without_predictions() -> None:
    made = far.run(FULL)
    assert "## What if" in page_of(made, analyse(made))
    partial = replace(made, status="interrupted")
    assert "## What if" not in page_of(partial, analyse(partial))


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
