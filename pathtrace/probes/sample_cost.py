"""What recording one sample costs, so that the tracer can state its own cost."""

from __future__ import annotations

import statistics
from collections.abc import Callable

from pathtrace.model.work import Clock

_BATCHES = 7
_BATCH = 500


def measure_sample_ns(take: Callable[[], None], clock: Clock) -> float:
    """Nanoseconds of one call of ``take``: the median over batches, so that a pause does not count."""
    means = []
    for _ in range(_BATCHES):
        start = clock()
        for _ in range(_BATCH):
            take()
        means.append((clock() - start) / _BATCH)
    return statistics.median(means)
