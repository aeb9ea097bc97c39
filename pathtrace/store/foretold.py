"""The predictions kept with a run, as values that a comparison can score.

One that lacks a figure is left out; a file that cannot be read at all is an error, as it is elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pathtrace.model.comparison import Foretold, ForetoldChange, StoredPrediction
from pathtrace.model.prediction import Price
from pathtrace.store.predictions import read_predictions


def stored_predictions(folder: Path) -> tuple[StoredPrediction, ...]:
    """Oldest first; none if nothing was predicted. RunFileError."""
    return tuple(found for each in read_predictions(folder) if (found := _prediction(each)) is not None)


def _prediction(document: Mapping[str, Any]) -> StoredPrediction | None:
    try:
        return StoredPrediction(
            at=str(document["predicted_at"]),
            changes=tuple(_change(each) for each in document["changes"]),
            flows=tuple(_flow(each) for each in document["flows"] if each["after_s"] is not None),
            price=_price(document.get("price")),
        )
    except (KeyError, TypeError, ValueError):
        return None


def _change(change: Mapping[str, Any]) -> ForetoldChange:
    after = change["after"]
    return ForetoldChange(str(change["resource"]), after if isinstance(after, str) else float(after))


def _price(price: Mapping[str, Any] | None) -> Price | None:
    if price is None:
        return None
    currency = price["currency"]
    return Price(float(price["amount"]), None if currency is None else str(currency))


def _flow(flow: Mapping[str, Any]) -> Foretold:
    after = flow["after_s"]
    bounds = (float(after[name]) for name in ("expected", "low", "high"))
    return Foretold(str(flow["name"]), float(flow["before_s"]), *bounds)
