"""What was predicted from a run, kept in its folder: ``predictions.json``, whole at any moment.

Knows the file and its format number; what stands in a prediction is for ``render``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pathtrace.errors import RunFileError
from pathtrace.store.files import alone, write_document

PREDICTIONS = "predictions.json"
FORMAT = "pathtrace.predictions/1"
_ASIDE = "move it away, then ask again"


def add_predictions(folder: Path, at: str, documents: Sequence[Mapping[str, Any]]) -> None:
    """Put those that are not there yet behind the others; what is there keeps the time of its first saying.

    ``at``: ISO 8601. StoreError, RunFileError.
    """
    with alone(folder):
        kept = list(read_predictions(folder))
        known = [{key: value for key, value in each.items() if key != "predicted_at"} for each in kept]
        new = [each for each in documents if each not in known]
        if not new:
            return
        kept += [{"predicted_at": at, **each} for each in new]
        text = json.dumps({"format": FORMAT, "predictions": kept}, indent=1, allow_nan=False)
        write_document(folder, PREDICTIONS, text + "\n")


def read_predictions(folder: Path) -> tuple[Mapping[str, Any], ...]:
    """Those of a run, oldest first; empty if there are none. RunFileError if they cannot be read."""
    path = folder / PREDICTIONS
    try:
        read = json.loads(path.read_bytes())
    except FileNotFoundError:
        return ()
    except (OSError, ValueError, RecursionError) as error:
        raise RunFileError(f"cannot be read: {error}", where=str(path), hint=_ASIDE) from error
    kept = read.get("predictions") if isinstance(read, dict) and read.get("format") == FORMAT else None
    if not isinstance(kept, list) or not all(isinstance(each, dict) for each in kept):
        raise RunFileError(f"is no {FORMAT}", where=str(path), hint=_ASIDE)
    return tuple(kept)
