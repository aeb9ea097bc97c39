"""Nights made for tests: three flows with six hops, a night a day, walked through as a scan does.

Noise is either drawn or put together from kept nights of a real machine; what is planted comes on top.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import numpy as np
import numpy.typing as npt

from pathtrace.analysis.nightly.nights import changes
from pathtrace.model.history import (
    COMPLETE,
    ENDED,
    FAILED,
    NEW,
    PARTIAL,
    Change,
    HistoryEntry,
    Told,
    Took,
)

Floats = npt.NDArray[np.float64]

SECONDS = {
    "index": 60.0,
    "index/archive->indexer": 20.0,
    "index/indexer->embedder": 55.0,
    "index/embedder->library": 58.0,
    "load": 30.0,
    "load/weights->model": 30.0,
    "answer": 3.0,
    "answer/library->model": 0.4,
    "answer/model->people": 2.9,
}
RESOURCES = {
    "index": "database:library",
    "index/archive->indexer": "disk:archive",
    "index/indexer->embedder": "model:embedder",
    "index/embedder->library": "database:library",
    "load": "link:lan",
    "load/weights->model": "link:lan",
    "answer": "model:model",
    "answer/library->model": "database:library",
    "answer/model->people": "model:model",
}
NAMES = tuple(SECONDS)
FIRST = datetime(2024, 1, 1, 3, 17, tzinfo=UTC)
LINK = {"load", "load/weights->model"}
"""What goes over the link."""
INSERT = {"index", "index/embedder->library"}
INDEX = {name for name in NAMES if name.startswith("index")}


def at(night: int) -> datetime:
    return FIRST + timedelta(days=night)


def run_id(night: int) -> str:
    return f"{at(night):%Y%m%d-%H%M%S}-aaaa"


def night_of(run: str) -> int:
    return (datetime.strptime(run[:15], "%Y%m%d-%H%M%S").replace(tzinfo=UTC) - FIRST).days


def quiet(nights: int, seed: int = 1, spread: float = 0.02) -> Floats:
    """Logarithms of what each night differs by, one column a name."""
    return np.random.default_rng(seed).normal(0.0, spread, (nights, len(NAMES)))


def columns(names: Collection[str]) -> list[int]:
    return [index for index, name in enumerate(NAMES) if name in names]


def plus(
    noise: Floats, names: Collection[str], by: Floats | float, first: int = 0, last: int | None = None
) -> Floats:
    """The same with ``by`` more for some names from one night on, ``last`` excluded."""
    planted = noise.copy()
    grown = np.broadcast_to(np.asarray(by, dtype=float), (len(noise),))
    planted[first:last, columns(names)] += grown[first:last, np.newaxis]
    return planted


def made(
    noise: Floats,
    *,
    work: Floats | None = None,
    own: Floats | float = 0.02,
    failed: Collection[int] = (),
    missing: Collection[str] = (),
    dead: Collection[int] = (),
    environment: Callable[[int], Sequence[tuple[str, str]]] = lambda night: (),
) -> list[HistoryEntry]:
    """One entry a night. ``work``: logarithms of bytes; ``own``: logarithm of half an interval's width.

    What is ``missing`` is not measured in ``dead`` nights, nothing is in ``failed`` ones.
    """
    entries = []
    widths = np.broadcast_to(np.asarray(own, dtype=float), noise.shape)
    for night, row in enumerate(noise):
        gone = NAMES if night in failed else missing if night in dead else ()
        sizes = np.zeros(len(NAMES)) if work is None else work[night]
        took = tuple(
            _took(name, float(by), float(size), float(width))
            for name, by, size, width in zip(NAMES, row, sizes, widths[night], strict=True)
            if name not in gone
        )
        status = FAILED if night in failed else PARTIAL if gone else COMPLETE
        entries.append(entry(night, took, status, tuple(environment(night))))
    return entries


def entry(
    night: int, took: tuple[Took, ...], status: str = COMPLETE, environment: tuple[tuple[str, str], ...] = ()
) -> HistoryEntry:
    return HistoryEntry(
        id=run_id(night),
        at=at(night),
        scenario="household",
        workload_fingerprint="w",
        setup_fingerprint="s",
        start="cold",
        status=status,
        duration_s=60.0,
        took=took,
        environment=environment,
        scanned=True,
    )


def _took(name: str, by: float, size: float, own: float) -> Took:
    median_s = SECONDS[name] * float(np.exp(by))
    low_s, high_s = median_s * float(np.exp(-own)), median_s * float(np.exp(own))
    return Took(name, median_s, low_s, high_s, RESOURCES[name], 1000, round(1e9 * float(np.exp(size))))


@dataclass(frozen=True, slots=True)
class Heard:
    """What one night told."""

    night: int
    change: Change

    @property
    def words(self) -> tuple[int, str, str, str]:
        return self.night, self.change.kind, self.change.state, self.change.name


def told(change: Change, night: str) -> Told:
    return Told(change.kind, change.name, change.since, change.state, change.ratio, night)


def heard(entries: Sequence[HistoryEntry], first: int = 1) -> list[Heard]:
    """Night by night as ``scan`` does it: each with what earlier nights told."""
    so_far: list[Told] = []
    found = []
    for count in range(first, len(entries) + 1):
        for change in changes(entries[:count], so_far):
            if change.state in (NEW, ENDED):
                so_far.append(told(change, entries[count - 1].id))
                found.append(Heard(count - 1, change))
    return found


def with_status(entries: Sequence[HistoryEntry], nights: Collection[int], status: str) -> list[HistoryEntry]:
    """The same, some nights of which left no figures."""
    return [
        replace(entry, status=status, took=(), environment=()) if night in nights else entry
        for night, entry in enumerate(entries)
    ]
