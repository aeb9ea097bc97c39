"""What to do about a network, or what stands behind one: what is free first, and what would be useless."""

from __future__ import annotations

from dataclasses import dataclass

from pathtrace.analysis.evidence import Evidence
from pathtrace.analysis.limiting.far_host import protocol_of
from pathtrace.analysis.limiting.limit import SLIGHT
from pathtrace.analysis.limiting.limits import Judged
from pathtrace.analysis.limiting.link_use import link_use
from pathtrace.analysis.limiting.links import link_name
from pathtrace.analysis.limiting.round_trips import is_mapped
from pathtrace.analysis.limiting.slow_link import is_slow
from pathtrace.analysis.study import FlowStudy
from pathtrace.model.scenario import Action, Place
from pathtrace.units import format_link, format_ratio

_CRYPTOGRAPHY = {
    "smb": "turn signing and encryption of the share off, or let it sign with AES-GMAC",
    "sftp": "choose a lighter cipher (`Ciphers aes128-gcm@openssh.com`), or a protocol without one",
    "http": "serve it without TLS on your own network",
}


@dataclass(frozen=True, slots=True)
class Advice:
    """``free``: it costs no money."""

    text: str
    free: bool


def link_advice(kind: str, link: str, bound: str, study: FlowStudy, evidence: Evidence) -> Advice:
    """Of what is on the way itself."""
    if kind == "loss":
        text = f"find where {link} loses packets (cable, port, wireless) before buying: saves {bound}"
        return Advice(text, True)
    if kind == "mtu":
        text = f"set one MTU on every host and port of {link} (1500 is safe): saves {bound}"
        return Advice(text, True)
    places = [place for place in study.flow.path if evidence.is_far(place)]
    place = next((each for each in places if link_name(evidence, each) == f"link:{link}"), None)
    if place is not None and _is_others(place, study, evidence):
        return Advice(f"let the other traffic on {link} go at another time: saves {bound}", True)
    if place is not None and (slow := is_slow(evidence, f"link:{link}", place)) is not None:
        text = (
            f"find why {link} carries {format_link(slow[0])} of {format_link(slow[1])} (cable, port, setting)"
        )
        return Advice(f"{text}: saves {bound}", True)
    return Advice(f"a faster {link} saves {bound}, as far as what stands behind it can follow", False)


def far_advice(
    kind: str, place: str, bound: str, study: FlowStudy, judged: Judged | None, evidence: Evidence
) -> Advice:
    """Of another host's cores, disk or server; and what little a faster link there would save."""
    host, link = evidence.place(place).host, link_name(evidence, place).partition(":")[2]
    useless = _of_a_faster_link(link, judged, place, study, evidence)
    if kind == "disk":
        return Advice(
            f"a faster disk under {place} on {host}, or memory to cache it, saves {bound}{useless}", False
        )
    if kind == "server":
        following = judged.limit.next_measurement if judged is not None else None
        what = f"find out what {host} does meanwhile before buying: {following or f'look at {host} itself'}"
        return Advice(f"{what} (it holds {bound}){useless}", True)
    lighter = _CRYPTOGRAPHY.get(protocol_of(evidence, place) or "")
    if lighter is not None:
        return Advice(f"one core does the work: {lighter}: saves {bound}{useless}", True)
    return Advice(f"a leaner server, or a faster core on {host}, saves {bound}{useless}", False)


def _of_a_faster_link(
    link: str, judged: Judged | None, place: str, study: FlowStudy, evidence: Evidence
) -> str:
    """Where requests wait for one another the time on the link is part of each: that much, and no more."""
    use = link_use(judged.figures, evidence, study.span, place) if judged is not None else None
    share = use.share if use is not None else None
    if share is None or judged is None:
        return ""
    most = min(share, 1.0 - (judged.limit.utilisation or 0.0))  # while this is busy nobody waits for the link
    if most < SLIGHT:
        return f"; a faster {link} would change next to nothing"
    return f"; a faster {link} saves {format_ratio(min(1.0, most))} of it at the very most"


def trips_advice(place: Place, bound: str) -> Advice:
    if is_mapped(place.spec):
        text = f"read {place.name} ahead or whole (`access: read`) instead of page by page: saves {bound}"
    else:
        text = f"ask {place.name} for more at once (`depth`, `workers`) or for less often: saves {bound}"
    return Advice(f"{text}; a faster link saves next to nothing", True)


def _is_others(place: str, study: FlowStudy, evidence: Evidence) -> bool:
    """True if most of what crossed was not this run's, or others held the link when it was measured too."""
    for judged in study.stages.values():
        if judged.figures.stage.place == place and judged.figures.stage.action is not Action.DELIVER:
            use = link_use(judged.figures, evidence, study.span, place)
            return use is not None and (
                use.measured_beside_others or use.others_bytes_per_s > use.own_bytes_per_s
            )
    return False
