"""What a database takes for a query that asks for nothing: its round trips, without the server's own work."""

from __future__ import annotations

from pathtrace.model.work import Clock
from pathtrace.ports import AnswersNothing
from pathtrace.probes.latency import LatencyProbe

_AT_MOST = 50


class QueryProbe(LatencyProbe):
    """Asks for nothing again and again for about ``limit_s``."""

    def __init__(self, resource: str, place: AnswersNothing, clock: Clock, limit_s: float = 0.5) -> None:
        super().__init__(resource, place.answer_nothing, "a query for nothing", clock, limit_s, _AT_MOST)
