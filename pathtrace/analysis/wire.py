"""What a hop's own connections carried, headers and all, beside what was asked for.

The interface's counter says it best where nothing else used the interface; else it is the connections'
payload and the headers of their segments.
"""

from __future__ import annotations

from pathtrace.analysis.evidence import Evidence, Span
from pathtrace.analysis.limiting.limit import ALONE
from pathtrace.analysis.limiting.network_evidence import (
    ETHERNET_BYTES,
    HEADER_BYTES,
    Crossing,
    crossing,
    interface_facts,
)
from pathtrace.analysis.summary import StageFigures
from pathtrace.model.report import Wire


def wire(stages: tuple[StageFigures, ...], payload: int, evidence: Evidence, span: Span) -> Wire | None:
    """Of a hop's stages over its execution; None if all their places are here, or nobody counted."""
    far = {each.stage.place: each for each in stages if evidence.is_far(each.stage.place)}
    crossed = [crossing(figures, evidence, span, place) for place, figures in far.items()]
    counted = [each for each in crossed if each.sockets is not None or each.traffic is not None]
    if not counted:
        return None
    sizes = [size for each in counted if (size := _bytes(each)) is not None]
    carried = round(sum(sizes)) if len(sizes) == len(counted) else None
    sockets = [each.sockets for each in counted if each.sockets is not None]
    again = [each.retransmits for each in sockets if each.retransmits is not None]
    trips = [each.rtt_s for each in sockets if each.rtt_s is not None]
    carried_by = next((each.traffic.interface for each in counted if each.traffic is not None), None)
    facts = interface_facts(evidence, carried_by)
    return Wire(
        bytes=carried,
        overhead_ratio=carried / payload - 1 if carried is not None and payload else None,
        retransmits=round(sum(again)) if again else None,
        rtt_s=max(trips, default=None),
        interface=carried_by,
        interface_kind=facts.kind if facts else None,
    )


def _bytes(crossed: Crossing) -> float | None:
    """IP packets in Ethernet frames, both ways."""
    traffic, sockets = crossed.traffic, crossed.sockets
    if traffic is not None and _alone(crossed):
        return traffic.rx_bytes + traffic.tx_bytes
    if sockets is None:
        return None
    received, sent = crossed.own_in or 0.0, crossed.own_out or 0.0
    packets = [value for value in (sockets.segments_in, sockets.segments_out) if value is not None]
    if traffic is not None:
        packets = [
            _fewer(sockets.segments_in, traffic.rx_packets, received, traffic.received),
            _fewer(sockets.segments_out, traffic.tx_packets, sent, traffic.sent),
        ]
    return received + sent + sum(packets) * (ETHERNET_BYTES + HEADER_BYTES)


def _fewer(segments: float | None, packets: float | None, own: float, whole: float) -> float:
    """Segments that an interface counts merged share one header there: then its part of the packets."""
    merged = packets * own / whole if packets is not None and whole else None
    return min((each for each in (segments, merged) if each is not None), default=0.0)


def _alone(crossed: Crossing) -> bool:
    """True if next to nothing else used the interface, so far as the connections tell."""
    assert crossed.traffic is not None
    if crossed.sockets is None:
        return False
    whole = crossed.traffic.received + crossed.traffic.sent
    return crossed.others_in + crossed.others_out <= ALONE * whole
