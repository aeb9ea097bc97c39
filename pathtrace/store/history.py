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
from pathtrace.model.scenario import FrequencyKind
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
        try:
            medians = tuple(_medians(document, run)) if _is_like(document, run, start) else ()
        except (AttributeError, KeyError, TypeError):
            continue  # somebody else's document: not in the shape that ours have
        for name, median_s in medians:
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
    return _same_data(document.get("dataset", {}), run) and wanted == (
        said.get("workload_fingerprint"),
        said.get("setup_fingerprint"),
        condition.get("start"),
        document.get("status"),
    )


def _same_data(kept: dict[str, Any], run: Run) -> bool:
    """False where a place's fingerprint is known in both and another."""
    known = {each.place: each.facts.fingerprint for each in run.reached if each.facts is not None}
    pairs = ((place["fingerprint"], known.get(name)) for name, place in kept.items())
    return all(was is None or now is None or was == now for was, now in pairs)


def _medians(document: dict[str, Any], run: Run) -> Iterator[tuple[str, float]]:
    """Of requests that arrive at a rate nothing: how long all of them take is the rate's doing."""
    paced = {
        flow.name
        for flow in run.scenario.flows
        if flow.frequency.kind is FrequencyKind.PER_REQUEST and run.scenario.workload.rate_per_s is not None
    }
    for flow in document.get("flows", []):
        if flow["name"] in paced:
            continue
        took = (flow.get("duration_s") or {}).get("median")
        if isinstance(took, int | float):
            yield flow["name"], float(took)
    for hop in document.get("hops", []):
        if hop["flow"] not in paced and isinstance(hop.get("duration_s"), int | float):
            yield f"{hop['flow']}/{hop['name']}", float(hop["duration_s"])
