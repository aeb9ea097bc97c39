"""What the server of a place computes for a mean operation: as much as was seen, or between two bounds.

While a link is full, the kernel of its host hands over packets as the link takes them, and that counts to
the program that it interrupts: for the same file ssh's server was seen to take 2.3 s behind 1 Gbit/s and
1 s behind 2.5. That time is the network's, and nobody knows how much of it a faster link needs.
"""

from __future__ import annotations

from pathtrace.analysis.evidence import Evidence
from pathtrace.analysis.limiting.far_host import network_cores, server_cores
from pathtrace.analysis.limiting.limits import Judged
from pathtrace.analysis.predicting.disk_bounds import ALONE, Bounds
from pathtrace.analysis.study import FlowStudy


def server_bounds(
    judged: Judged, study: FlowStudy, evidence: Evidence, then_link_s: float, full: bool
) -> Bounds:
    """Nothing if nobody saw it, or if several operations are served at once. ``then_link_s``: what the link
    takes of a mean operation afterwards, which hides whatever is shorter; ``full``: it was, until now."""
    figures, place = judged.figures, judged.figures.stage.place
    if not evidence.is_far(place) or figures.elapsed_s > ALONE * figures.active_s:
        return Bounds(0.0, 0.0)
    each_s = figures.elapsed_s / figures.operations
    cores = server_cores(figures, evidence, study.span, place) or 0.0
    most_s = min(1.0, cores) * each_s
    if not full or most_s <= then_link_s:
        return Bounds(most_s, most_s)
    packets = network_cores(figures, evidence, study.span, place)
    own = 0.0 if packets is None else max(0.0, min(1.0, cores - packets))
    return Bounds(own * each_s, most_s)
