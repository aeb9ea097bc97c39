"""Asks a stored run what changes would give, and keeps the answers with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pathtrace.analysis import analyse
from pathtrace.analysis.predicting.questions import Question, answer
from pathtrace.analysis.predicting.sources import prices_of
from pathtrace.analysis.predicting.upgrades import candidates_of, not_tried, purchasable, upgrades
from pathtrace.errors import EvidenceError, StoreError
from pathtrace.model.prediction import Prediction, Upgrade, Upgrades
from pathtrace.model.report import Report
from pathtrace.model.run import Run
from pathtrace.render.figures import Document
from pathtrace.render.markdown import run_page
from pathtrace.render.upgrades import price_document
from pathtrace.render.whatif import whatif_document
from pathtrace.store.find import resolve
from pathtrace.store.predictions import add_predictions, read_predictions
from pathtrace.store.runs import DAMAGED, load

__all__ = ["Question"]

MOST_PLAYED = 1_000_000
"""Operations that are played again for one ``--all``: about ten seconds."""
MOST_FOR_PAGE = 200_000
"""The same for the page that is written with each run: about two."""


@dataclass(frozen=True, slots=True)
class Answered:
    """``unstored``: why it is not kept. ``damaged``: part of what was recorded is lost."""

    prediction: Prediction
    damaged: bool
    unstored: StoreError | None

    @property
    def known(self) -> bool:
        """False if what was recorded does not tell of some flow."""
        told = all(flow.after_s is not None for flow in self.prediction.flows)
        return told and not self.prediction.unmeasured


@dataclass(frozen=True, slots=True)
class Ranked:
    upgrades: Upgrades
    damaged: bool
    unstored: StoreError | None


def ask(store: Path, name: str, question: Question) -> Answered:
    """RunFileError, UsageError or EvidenceError if nothing can be said."""
    folder, run, report = _opened(store, name)
    prediction = answer(run, report, question)
    return Answered(prediction, _damaged(report), _keep(folder, [whatif_document(prediction)]))


def ask_all(store: Path, name: str, prices: Sequence[str]) -> Ranked:
    """What makes sense for the run, ranked. What is not worth it is kept too: it may be done all the same.

    RunFileError, UsageError or EvidenceError.
    """
    folder, run, report = _opened(store, name)
    candidates = candidates_of(run, report)
    known = prices_of(prices, purchasable(candidates))
    found = upgrades(run, report, known, candidates, MOST_PLAYED)
    kept = [_priced(each) for each in (*found.ranked, *found.without_gain)]
    return Ranked(found, _damaged(report), _keep(folder, kept))


def page_of(run: Run, report: Report) -> str:
    """A run's page, with the best of what a complete run tells within little time."""
    if run.status != "complete":
        return run_page(run, report)
    if len(run.samples) > MOST_FOR_PAGE:
        return run_page(run, report, not_tried(run))
    try:
        return run_page(run, report, upgrades(run, report, {}, candidates_of(run, report), MOST_FOR_PAGE))
    except EvidenceError:
        return run_page(run, report)


def _opened(store: Path, name: str) -> tuple[Path, Run, Report]:
    folder = resolve(store, name)
    read_predictions(folder)  # a file that could not be added to is told before anything else
    run = load(folder)
    return folder, run, analyse(run)


def _damaged(report: Report) -> bool:
    return any(caveat.code == DAMAGED for caveat in report.caveats)


def _priced(upgrade: Upgrade) -> Document:
    """What is kept of one, with its price where one was said: a comparison tells it beside the fact."""
    price = price_document(upgrade.price)
    return {**whatif_document(upgrade.prediction), **({} if price is None else {"price": price})}


def _keep(folder: Path, documents: Sequence[Document]) -> StoreError | None:
    try:
        add_predictions(folder, datetime.now(UTC).isoformat(timespec="seconds"), documents)
    except StoreError as error:
        return error
    return None
