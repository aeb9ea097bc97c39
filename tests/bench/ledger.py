"""What the benches found: each a figure against its bar, kept for the table and the JSON file.

A ratio is of pairs that were taken by turns in one run, so that whatever else the machine does meets both
sides. It stands with the interval of its median; a bar is missed only where the whole interval is.
"""

from __future__ import annotations

import json
import os
import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeVar

from pathtrace.analysis.spread import interval

T = TypeVar("T")

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True, slots=True)
class Entry:
    """``low``/``high``: interval of the median; equal to ``value`` for what was measured once."""

    name: str
    value: float
    low: float
    high: float
    bar: float
    at_least: bool
    unit: str
    note: str

    @property
    def verdict(self) -> str:
        best, worst = (self.high, self.low) if self.at_least else (self.low, self.high)
        kept = (lambda figure: figure >= self.bar) if self.at_least else (lambda figure: figure <= self.bar)
        return "kept" if kept(worst) else "missed" if not kept(best) else "unclear"

    @property
    def line(self) -> str:
        spread = f"({self.low:.3g} to {self.high:.3g})" if self.low != self.high else ""
        sign = "≥" if self.at_least else "≤"
        value = f"{self.value:.3g}{self.unit}"
        bar = f"{sign} {self.bar:.3g}{self.unit}"
        return f"{self.name:<46} {value:>9} {spread:<18} {bar:<10} {self.verdict:<8}{self.note}"


class Ledger:
    """Takes entries; one that missed its bar fails the test that made it."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []

    def at_least(
        self, name: str, values: Sequence[float], bar: float, unit: str = "", note: str = ""
    ) -> None:
        self._judge(name, values, bar, True, unit, note)

    def at_most(self, name: str, values: Sequence[float], bar: float, unit: str = "", note: str = "") -> None:
        self._judge(name, values, bar, False, unit, note)

    def between(self, name: str, values: Sequence[float], low: float, high: float) -> None:
        """Held against whichever bar is nearer."""
        near_high = statistics.median(values) >= (low * high) ** 0.5
        (self.at_most if near_high else self.at_least)(name, values, high if near_high else low)

    def _judge(
        self, name: str, values: Sequence[float], bar: float, at_least: bool, unit: str, note: str
    ) -> None:
        middle = statistics.median(values)
        low, high = interval(values)
        entry = Entry(
            name,
            middle,
            middle if low is None else low,
            middle if high is None else high,
            bar,
            at_least,
            unit,
            note,
        )
        self.entries.append(entry)
        assert entry.verdict != "missed", entry.line

    def write(self) -> Path:
        """All entries as JSON; returns the file."""
        RESULTS.mkdir(exist_ok=True)
        path = RESULTS / "bench.json"
        document = {
            "format": "pathtrace.bench/1",
            "cores": os.cpu_count(),
            "load": os.getloadavg()[0],
            "entries": [asdict(entry) | {"verdict": entry.verdict} for entry in self.entries],
        }
        path.write_text(json.dumps(document, indent=1) + "\n")
        return path


def by_turns(pairs: int, one: Callable[[], T], other: Callable[[], T]) -> list[tuple[T, T]]:
    """``pairs`` of results, which of the two comes first changing each time."""
    results = []
    for number in range(pairs):
        if number % 2:
            second = other()
            results.append((one(), second))
        else:
            results.append((one(), other()))
    return results
