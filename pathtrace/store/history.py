"""Earlier runs of the same work in the same set-up: how much their times differ from day to day.

From the index of history; where a newer version wrote that, from the documents beside the runs. A run that
cannot be read is left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pathtrace.errors import RunFileError
from pathtrace.model.comparison import LikeTimes
from pathtrace.model.history import COMPLETE, HistoryEntry
from pathtrace.model.run import Run
from pathtrace.model.scenario import FrequencyKind
from pathtrace.store import files
from pathtrace.store.find import run_ids
from pathtrace.store.index import History

MOST = 50
"""Runs that are looked at, the latest ones."""

Times = Iterable[tuple[str, float]]
"""Of one run: ``flow`` or ``flow/hop``, and its median in seconds."""


def like_times(store: Path, run: Run, start: str) -> tuple[LikeTimes, ...]:
    """Median times of ``run`` and of the complete runs before it that are like it, by flow and hop.

    ``start``: the start condition that ``run`` had.
    """
    try:
        with History(store) as history:
            history.refresh()
            scenario = run.scenario
            nights = history.like(scenario.workload_fingerprint, scenario.setup_fingerprint)
    except RunFileError:
        return _gathered(_of_folders(store, run, start), run)
    like = [night for night in nights if night.id <= run.id and _is_like_night(night, run, start)]
    return _gathered((_times(night) for night in like[-MOST:]), run)


def _is_like_night(night: HistoryEntry, run: Run, start: str) -> bool:
    return night.status == COMPLETE and night.start == start and _same_data(dict(night.datasets), run)


def _times(night: HistoryEntry) -> Times:
    return ((took.name, took.median_s) for took in night.took)


def _gathered(runs: Iterable[Times], run: Run) -> tuple[LikeTimes, ...]:
    """Of requests that arrive at a rate nothing: how long all of them take is the rate's doing."""
    paced = {
        flow.name
        for flow in run.scenario.flows
        if flow.frequency.kind is FrequencyKind.PER_REQUEST and run.scenario.workload.rate_per_s is not None
    }
    found: dict[str, list[float]] = {}
    for times in runs:
        for name, median_s in times:
            if name.partition("/")[0] not in paced:
                found.setdefault(name, []).append(median_s)
    return tuple(LikeTimes(name, tuple(values)) for name, values in found.items())


def _of_folders(store: Path, run: Run, start: str) -> Iterator[Times]:
    for document in _documents(store, run.id):
        try:
            medians = tuple(_medians(document)) if _is_like(document, run, start) else ()
        except (AttributeError, KeyError, TypeError):
            continue  # somebody else's document: not in the shape that ours have
        yield medians


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
    data = {place: each["fingerprint"] for place, each in document.get("dataset", {}).items()}
    return _same_data(data, run) and wanted == (
        said.get("workload_fingerprint"),
        said.get("setup_fingerprint"),
        condition.get("start"),
        document.get("status"),
    )


def _same_data(kept: Mapping[str, str | None], run: Run) -> bool:
    """False where a place's fingerprint is known in both and another."""
    known = {each.place: each.facts.fingerprint for each in run.reached if each.facts is not None}
    pairs = ((was, known.get(name)) for name, was in kept.items())
    return all(was is None or now is None or was == now for was, now in pairs)


def _medians(document: dict[str, Any]) -> Iterator[tuple[str, float]]:
    for flow in document.get("flows", []):
        took = (flow.get("duration_s") or {}).get("median")
        if isinstance(took, int | float):
            yield flow["name"], float(took)
    for hop in document.get("hops", []):
        if isinstance(hop.get("duration_s"), int | float):
            yield f"{hop['flow']}/{hop['name']}", float(hop["duration_s"])
