"""What is done for the pages of a mapped file at most, one thing after the other, without the link.

A page that is missing passes through the mount's programs, the server's, and back; while the kernel reads
ahead some of it goes on beside the link, and nobody sees how much. But all of it together is no more than
the programs computed and the round trips that they made.
"""

from __future__ import annotations

from pathtrace.analysis.evidence import Evidence
from pathtrace.analysis.limiting.far_host import chained_cores
from pathtrace.analysis.limiting.limits import Judged
from pathtrace.analysis.limiting.round_trips import trip_time
from pathtrace.analysis.study import FlowStudy


def mapped_chain(judged: Judged, study: FlowStudy, evidence: Evidence) -> float | None:
    """Seconds of a whole stage; None where a part of it was not seen, as the kernel's own mounts are."""
    figures, place = judged.figures, judged.figures.stage.place
    alone, trip_s = evidence.ceiling(f"round-trips:{place}"), trip_time(evidence, place, None)
    cores = chained_cores(figures, evidence, study.span, place)
    if cores is None or trip_s is None or alone is None or not alone.bytes_per_s or not alone.latency_s:
        return None
    requests = figures.bytes / (alone.bytes_per_s * alone.latency_s)
    own = evidence.while_busy("self", "process", "cpu_s", figures, study.span)
    return None if own is None else own + cores * figures.active_s + requests * trip_s
