"""Predicts from a stored run, and keeps the prediction with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pathtrace.analysis import analyse
from pathtrace.analysis.prediction import predict
from pathtrace.errors import StoreError
from pathtrace.model.prediction import Prediction
from pathtrace.render.whatif import whatif_document
from pathtrace.store.find import resolve
from pathtrace.store.predictions import add_prediction, read_predictions
from pathtrace.store.runs import DAMAGED, load


@dataclass(frozen=True, slots=True)
class Predicted:
    """``unstored``: why it is not kept. ``damaged``: part of what was recorded is lost."""

    prediction: Prediction
    damaged: bool
    unstored: StoreError | None = None


def whatif(store: Path, name: str, settings: Sequence[str]) -> Predicted:
    """RunFileError, UsageError or EvidenceError if nothing can be said."""
    folder = resolve(store, name)
    read_predictions(folder)  # a file that could not be added to is told before anything else
    run = load(folder)
    report = analyse(run)
    prediction = predict(run, report, settings)
    damaged = any(caveat.code == DAMAGED for caveat in report.caveats)
    try:
        add_prediction(folder, datetime.now(UTC).isoformat(timespec="seconds"), whatif_document(prediction))
    except StoreError as error:
        return Predicted(prediction, damaged, error)
    return Predicted(prediction, damaged)
