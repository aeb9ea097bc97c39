"""Readings as growth over a span of time. Knows that counters only rise; not what they count."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pathtrace.analysis.executions import Ints
from pathtrace.model.sample import ReadingTable

Floats = npt.NDArray[np.float64]
Series = tuple[Floats, Floats]


class Counters:
    """All readings of a run, grouped once: looking through them anew for each figure takes too long."""

    def __init__(self, table: ReadingTable) -> None:
        grouped: dict[tuple[str, str, str], list[tuple[int, float]]] = {}
        for row in table.rows:
            grouped.setdefault((row.observer, row.subject, row.metric), []).append((row.at_ns, row.value))
        self._series: dict[tuple[str, str, str], Series] = {}
        for key, pairs in grouped.items():
            pairs.sort()
            at, values = np.array(pairs, dtype=np.float64).T
            self._series[key] = (at, values)

    def growth(self, observer: str, subject: str, metric: str, start_ns: int, end_ns: int) -> float | None:
        """How much a counter grew, interpolated at both ends; None if it was not read on both sides."""
        moments = np.array([start_ns, end_ns], dtype=np.float64)
        values = self.at(observer, subject, metric, moments)
        return None if values is None else float(values[1] - values[0])

    def growth_during(
        self, observer: str, subject: str, metric: str, stretches: tuple[Ints, Ints]
    ) -> float | None:
        """How much a counter grew within the given stretches (starts, ends), taken together."""
        starts, ends = stretches
        if not len(starts):
            return None
        moments = np.concatenate((starts, ends)).astype(np.float64)
        values = self.at(observer, subject, metric, moments)
        return None if values is None else float(values[len(starts) :].sum() - values[: len(starts)].sum())

    def at(self, observer: str, subject: str, metric: str, moments_ns: Floats) -> Floats | None:
        """The counter at each moment, free of restarts; None unless two readings touch the span."""
        series = self._series.get((observer, subject, metric))
        if series is None or len(series[0]) < 2:
            return None
        at, values = series
        if at[-1] <= moments_ns.min() or at[0] >= moments_ns.max():
            return None
        steps = np.maximum(0.0, np.diff(values))
        risen = np.concatenate(([0.0], np.cumsum(steps)))
        return np.interp(moments_ns, at, risen)

    def reached(
        self, observer: str, subject: str, metric: str, span_ns: tuple[int, int], share: float
    ) -> float:
        """The moment in the span by which a counter had made ``share`` of its growth there."""
        at, values = self._series[observer, subject, metric]
        risen = np.concatenate(([0.0], np.cumsum(np.maximum(0.0, np.diff(values)))))
        first, last = np.interp(np.array(span_ns, dtype=np.float64), at, risen)
        inside = (at > span_ns[0]) & (at < span_ns[1])
        moments = np.concatenate(([span_ns[0]], at[inside], [span_ns[1]])).astype(np.float64)
        heights = np.concatenate(([first], risen[inside], [last]))
        return float(np.interp(first + share * (last - first), heights, moments))

    def edges(
        self, observer: str, subject: str, metric: str, start_ns: int, end_ns: int
    ) -> tuple[int, int] | None:
        """The last reading at or before the span and the first at or after it, or its own ends."""
        series = self._series.get((observer, subject, metric))
        if series is None:
            return None
        before, after = series[0][series[0] <= start_ns], series[0][series[0] >= end_ns]
        return int(before[-1]) if len(before) else start_ns, int(after[0]) if len(after) else end_ns

    def median(self, observer: str, subject: str, metric: str, start_ns: int, end_ns: int) -> float | None:
        """The middle value of a gauge within the span; None if it was not read there."""
        series = self._series.get((observer, subject, metric))
        if series is None:
            return None
        within = series[1][(series[0] >= start_ns) & (series[0] <= end_ns)]
        return float(np.median(within)) if len(within) else None

    def steps(
        self, observer: str, subject: str, metric: str, start_ns: int, end_ns: int
    ) -> tuple[Floats, Floats]:
        """Nanoseconds and growth between neighbouring readings within the span."""
        series = self._series.get((observer, subject, metric))
        if series is None:
            return np.empty(0), np.empty(0)
        within = (series[0] >= start_ns) & (series[0] <= end_ns)
        return np.diff(series[0][within]), np.maximum(0.0, np.diff(series[1][within]))

    def subjects(self, observer: str, metric: str) -> tuple[str, ...]:
        """Whatever an observer told this counter of."""
        return tuple(key[1] for key in self._series if key[0] == observer and key[2] == metric)

    def lowest(self, observer: str, subject: str, metric: str, start_ns: int, end_ns: int) -> float | None:
        """The smallest value of a gauge within the span."""
        series = self._series.get((observer, subject, metric))
        if series is None:
            return None
        within = series[1][(series[0] >= start_ns) & (series[0] <= end_ns)]
        return float(within.min()) if len(within) else None
