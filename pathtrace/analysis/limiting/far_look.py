"""A stage of a place on another host with all that was seen of it; and what was not, as a next step."""

from __future__ import annotations

from dataclasses import dataclass

from pathtrace.analysis.evidence import Evidence, Span
from pathtrace.analysis.limiting.far_host import is_seen, too_short
from pathtrace.analysis.limiting.limit import BEYOND, FEW_LOST, MOSTLY, SERVED
from pathtrace.analysis.limiting.link_use import LinkUse, link_use
from pathtrace.analysis.limiting.links import link_name
from pathtrace.analysis.limiting.network_evidence import Sockets
from pathtrace.analysis.summary import StageFigures
from pathtrace.model.run import Ceiling
from pathtrace.model.scenario import Action
from pathtrace.units import format_count_rate, format_duration, format_rate, format_ratio

LITTLE_PAYLOAD = 1_000_000
"""Below this the talk of a protocol hides what a cache did."""


@dataclass(frozen=True, slots=True)
class Look:
    """A stage with everything that was seen of the way to its place."""

    figures: StageFigures
    evidence: Evidence
    span: Span
    place: str
    use: LinkUse | None

    @property
    def host(self) -> str:
        return self.evidence.place(self.place).host

    @property
    def link(self) -> str:
        return link_name(self.evidence, self.place)

    @property
    def sockets(self) -> Sockets | None:
        return self.use.crossing.sockets if self.use else None

    @property
    def share(self) -> float | None:
        """Of the link's ceiling, in the fuller direction."""
        return self.use.share if self.use else None

    @property
    def seen(self) -> tuple[str, ...]:
        moved = (
            f"{format_rate(self.figures.rate)}, {format_count_rate(self.figures.operation_rate)} while busy"
        )
        crossed = f"what crossed {self.link} was not counted" if self.use is None else self.use.text
        return (moved, crossed)


def look_at(figures: StageFigures, evidence: Evidence, span: Span, place: str) -> Look:
    return Look(figures, evidence, span, place, link_use(figures, evidence, span, place))


def served_here(look: Look) -> float | None:
    """Bytes that crossed for a read that this host's cache served; None if it did not, or nobody knows."""
    figures, use = look.figures, look.use
    if figures.stage.action is not Action.READ or figures.bytes < LITTLE_PAYLOAD or use is None:
        return None
    crossed = use.crossing.own_in
    return crossed if crossed is not None and crossed < SERVED * figures.bytes else None


def lost_share(look: Look) -> tuple[float, str] | None:
    """Segments sent again, or received out of order, per segment; and the text that says so.

    What was sent again counts only where data was under way most of the time, and not for want of room at its
    receiver: a server that sleeps lets the last segment of a request be sent twice, which slows nothing.
    """
    sockets = look.sockets
    if sockets is None:
        return None
    sending_s = (sockets.busy_s or 0.0) - (sockets.rwnd_limited_s or 0.0)
    under_way = sockets.busy_s is None or sending_s >= MOSTLY * look.figures.active_s
    found = []
    for lost, of, what, counts in (
        (sockets.retransmits, sockets.segments_out, "segments sent had to be sent again", under_way),
        (sockets.out_of_order, sockets.segments_in, "segments received came out of order", True),
    ):
        if lost is not None and of and lost >= FEW_LOST and counts:
            found.append((lost / of, f"{round(lost):,} of {round(of):,} {what} ({format_ratio(lost / of)})"))
    return max(found, default=None)


def far_ceiling(evidence: Evidence, place: str) -> Ceiling | None:
    """What the place's disk does alone on its own host; not what a probe got through a mount here."""
    mount = evidence.mount(place)
    return evidence.ceiling(f"disk:{place}") if mount is None or mount.network else None


def reads_memory(look: Look) -> bool:
    """False if pathtrace's own ceiling was measured through a mount that keeps nothing in memory: then it is
    as fast as the server or the link, and not what the code path does alone.
    """
    ceiling, mount = look.evidence.tracer_ceiling(look.figures), look.evidence.mount(look.place)
    if ceiling is None or mount is None or not ceiling.bytes_per_s:
        return True
    server = look.evidence.ceiling(f"server:{look.place}")
    behind = server.bytes_per_s if server is not None else None
    if behind is None and look.use is not None and look.use.ceiling is not None:
        behind = look.use.ceiling.bytes_per_s
    return behind is None or ceiling.bytes_per_s > BEYOND * behind


def next_step(look: Look) -> str:
    """The first piece of evidence that is missing, as what to type."""
    host, scenario = look.host, look.evidence.run.scenario
    described = next((each for each in scenario.hosts if each.name == host), None)
    if look.use is None:
        return (
            f"name the address of {host} under `hosts` and run on Linux: what crosses the network is counted"
        )
    if look.use.ceiling is None or look.use.ceiling.source in ("declared", "nominal"):
        return (
            f"run `pathtrace respond` on {host}, name it (`responder:` under hosts.{host}), then "
            "`pathtrace run SCENARIO`"
        )
    if not is_seen(look.evidence, host):
        if described is not None and described.ssh:
            return f"mend `ssh:` of host {host}: its disk and its cores could not be seen"
        return f"add `ssh: user@{host}` to host {host}: then its disk and its cores are seen too"
    if too_short(look.evidence, look.span):
        took = format_duration(look.span.wall_s)
        return f"read more at a time: a pass took {took}, and {host} tells once or twice a second"
    if look.sockets is None:
        return "run on Linux, where the kernel tells of each connection"
    if look.evidence.ceiling(f"server:{look.place}") is None:
        return f"`pathtrace run SCENARIO` without --no-probes: the server of {look.place} alone"
    return f"read {look.place} with more at once (`depth`, `workers`): what fills up then is the limit"
