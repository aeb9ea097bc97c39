"""Earlier runs of the same work in the same set-up: how much their times differ from day to day.

Reads the documents beside the runs, no samples. A run that cannot be read is left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pathtrace.model.comparison import LikeTimes
from pathtrace.model.run import Run
from pathtrace.store import files
from pathtrace.store.find import run_ids

MOST = 50
"""Runs that are looked at, the latest ones."""


def like_times(store: Path, run: Run, start: str) -> tuple[LikeTimes, ...]:
    """Median times of ``run`` and of the complete runs before it that are like it, by flow and hop.

    ``start``: the start condition that ``run`` had.
    """
    found: dict[str, list[float]] = {}
    for document in _documents(store, run.id):
        if _is_like(document, run, start):
            for name, median_s in _medians(document):
                found.setdefault(name, []).append(median_s)
    return tuple(LikeTimes(name, tuple(values)) for name, values in found.items())


def _documents(store: Path, last: str) -> Iterator[dict[str, Any]]:
    """Ids begin with the moment at which a run began, so they sort as time does."""
    earlier = [run for run in run_ids(store) if run <= last]
    for run in earlier[-MOST:]:
        try:
            document = json.loads((store / run / files.DOCUMENT).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if isinstance(document, dict):
            yield document


def _is_like(document: dict[str, Any], run: Run, start: str) -> bool:
    said = document.get("scenario", {})
    wanted = (run.scenario.workload_fingerprint, run.scenario.setup_fingerprint, start, "complete")
    condition = document.get("start_condition", {})
    return wanted == (
        said.get("workload_fingerprint"),
        said.get("setup_fingerprint"),
        condition.get("start"),
        document.get("status"),
    )


def _medians(document: dict[str, Any]) -> Iterator[tuple[str, float]]:
    for flow in document.get("flows", []):
        took = (flow.get("duration_s") or {}).get("median")
        if isinstance(took, int | float):
            yield flow["name"], float(took)
    for hop in document.get("hops", []):
        if isinstance(hop.get("duration_s"), int | float):
            yield f"{hop['flow']}/{hop['name']}", float(hop["duration_s"])
