"""Runs of the same work in the same set-up: how much their times differ from day to day.

From the index of history; where a newer version wrote that, from the documents beside the runs. A run that
cannot be read is left out.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
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
from pathtrace.store.surroundings import surroundings

MOST = 50
"""Runs that are looked at, the latest ones."""

Times = Iterable[tuple[str, float]]
"""Of one run: ``flow`` or ``flow/hop``, and its median in seconds."""


@dataclass(frozen=True, slots=True)
class Span:
    """Which runs count: up to ``run``, and up to ``until`` if that is later, without those set ``apart``.

    Ids begin with the moment at which a run began, so they sort as time does.
    """

    run: str
    until: str
    apart: Collection[str]

    def has(self, id: str) -> bool:
        return id == self.run or (id <= max(self.run, self.until) and id not in self.apart)

    def is_later(self, id: str) -> bool:
        return id > self.run


def like_times(
    store: Path, run: Run, start: str, *, until: str = "", apart: Collection[str] = ()
) -> tuple[LikeTimes, ...]:
    """Median times of ``run`` and of the complete runs that are like it, by flow and hop.

    ``start``: the start condition that ``run`` had. ``until``: the id of the run that it is held against; of
    those between the two count the ones that also saw the same cards, ways and versions, since the scenario
    may still describe what was there before a change. ``apart``: ids of runs that are held against it.
    """
    span = Span(run.id, until, apart)
    try:
        with History(store) as history:
            history.refresh()
            scenario = run.scenario
            nights = history.like(scenario.workload_fingerprint, scenario.setup_fingerprint)
    except RunFileError:
        return _gathered(_of_folders(store, run, start, span), run)
    own = next((dict(night.environment) for night in nights if night.id == run.id), {})
    like = [
        night
        for night in nights
        if span.has(night.id)
        and _is_like_night(night, run, start)
        and not (span.is_later(night.id) and _is_elsewhere(dict(night.environment), own))
    ]
    return _gathered((_times(night) for night in like[-MOST:]), run)


def _is_like_night(night: HistoryEntry, run: Run, start: str) -> bool:
    return night.status == COMPLETE and night.start == start and _same_data(dict(night.datasets), run)


def _is_elsewhere(seen: Mapping[str, str], own: Mapping[str, str]) -> bool:
    """True where something that both saw is another: a card, a kernel, a way."""
    return any(seen[what] != own[what] for what in seen.keys() & own.keys())


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


def _of_folders(store: Path, run: Run, start: str, span: Span) -> Iterator[Times]:
    own = _seen(store, run.id)
    for id, document in _documents(store, span):
        if span.is_later(id) and _is_elsewhere(_seen(store, id), own):
            continue
        try:
            medians = tuple(_medians(document)) if _is_like(document, run, start) else ()
        except (AttributeError, KeyError, TypeError):
            continue  # somebody else's document: not in the shape that ours have
        yield medians


def _documents(store: Path, span: Span) -> Iterator[tuple[str, dict[str, Any]]]:
    counted = [run for run in run_ids(store) if span.has(run)]
    for run in counted[-MOST:]:
        document = _read(store / run / files.DOCUMENT)
        if document is not None:
            yield run, document


def _seen(store: Path, run: str) -> Mapping[str, str]:
    return dict(surroundings(_read(store / run / files.FACTS) or {}))


def _read(path: Path) -> dict[str, Any] | None:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return document if isinstance(document, dict) else None


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
