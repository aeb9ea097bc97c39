"""What is kept with a run of what was asked of it, and what its page says."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from pathtrace.analysis import analyse
from pathtrace.app.asking import Question, ask, ask_all, page_of
from pathtrace.model.prediction import Price
from pathtrace.model.run import Run
from pathtrace.store import runs
from pathtrace.store.foretold import stored_predictions
from tests.unit.analysis import far
from tests.unit.analysis.builders import MB

FULL = far.Way(took_ms=86, repeats=3, ceilings=(*far.line(), far.ceiling("disk:weights", 200 * MB)))


def stored(store: Path, run: Run) -> Path:
    folder = runs.create(store, far.TEXT.replace("LINKS", far.LAN), str, datetime.now(UTC))
    asyncio.run(runs.save(folder, run, str))
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
    prices = [each.price for each in ranked.upgrades.ranked]
    assert Price(120.0, "EUR") in prices
    assert [each.price for each in stored_predictions(folder)] == prices


def test_a_run_that_is_not_complete_has_a_page_without_predictions() -> None:
    run = far.run(FULL)
    assert "## What if" in page_of(run, analyse(run))
    partial = replace(run, status="interrupted")
    assert "## What if" not in page_of(partial, analyse(partial))
