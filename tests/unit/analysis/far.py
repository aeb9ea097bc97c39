"""Runs that read or write a share on ``nas``, with the counters of the way and of the other host planted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from pathtrace.analysis import analyse
from pathtrace.model.network import Endpoint, PathFacts, Route
from pathtrace.model.report import Finding, HopReport, Report
from pathtrace.model.run import Ceiling, HostFacts, Interface, Mount, Reached, Run
from pathtrace.model.sample import Reading, Sample, Window
from tests.unit.analysis.builders import MB, MS, Desk, host, reached, run_of, scenario, steady, stream

TEXT = """
pathtrace: 1
workload: {loads_per_day: 100}
hosts: {nas: {address: 10.0.0.2}}
links: LINKS
places:
  weights: {kind: files, url: "smb://nas/models/x.bin"}
  model: {kind: inference}
flows:
  load: {path: [weights, model], frequency: per-load}
"""
LAN = "{lan: {hosts: [nas, workstation], speed: 1 Gbit/s}}"
HEADERS = 66
SEGMENT = 1448
LINE = 117.6875 * MB
"""What 1 Gbit/s carries of TCP payload."""
INWARD, OUTWARD = "nas->workstation", "workstation->nas"


def ceiling(
    resource: str,
    bytes_per_s: float | None = None,
    *,
    direction: str | None = None,
    operations: float | None = None,
    latency_s: float | None = None,
    evidence: str = "alone",
    source: str = "measured",
) -> Ceiling:
    return Ceiling(resource, bytes_per_s, operations, latency_s, source, evidence, 1.0, direction)


def line(bytes_per_s: float = LINE, name: str = "lan") -> tuple[Ceiling, ...]:
    """Both directions of a link as its responder measured them."""
    return tuple(ceiling(f"link:{name}", bytes_per_s, direction=way) for way in (INWARD, OUTWARD))


@dataclass(frozen=True)
class Way:
    """What is planted of one pass: forty blocks of the same size, one after the other."""

    took_ms: int = 100
    each: int = 10 * MB
    blocks: int = 40
    text: str = TEXT
    links: str = LAN
    ceilings: tuple[Ceiling, ...] = field(default_factory=line)
    crossed: float = 1.0
    """Payload that crossed the network, per byte asked for."""
    others: float = 0.0
    """Payload of others on the same interface, per byte asked for."""
    sockets: bool = True
    interface: bool = True
    requests: int = 1
    """Per operation."""
    rtt_s: float = 0.0001
    lost: float = 0.0
    queue: float = 0.0
    merged: bool = False
    """The interface counts packets of 64 KB."""
    more: Callable[[int, int], list[Reading]] = lambda start, end: []
    paths: tuple[PathFacts, ...] = ()
    interfaces: tuple[Interface, ...] = ()
    route: str | None = "eth0"
    carried_by: str = "eth0"
    place: Reached | None = None
    details: dict[str, int] = field(default_factory=dict)
    repeats: int = 1
    outcome: int = 0

    @property
    def payload(self) -> float:
        return float(self.each * self.blocks)


def run(way: Way) -> Run:
    executions, readings, at = [], [], 0
    for repeat in range(way.repeats):
        samples, window = _pass(way, at, repeat)
        executions.append((samples, window))
        readings += _network(way, window.start_ns, window.end_ns) + way.more(window.start_ns, window.end_ns)
        at = window.end_ns + 3000 * MS
    place = way.place or replace(reached("weights", bytes=way.each * way.blocks))
    place = replace(place, endpoint=Endpoint("nas", "10.0.0.2", 445))
    made = run_of(
        scenario(way.text.replace("LINKS", way.links)),
        executions,
        readings=readings,
        ceilings=way.ceilings,
        places=(place, reached("model")),
        hosts=(_here(way.interfaces),),
        faults=("weights: timed out",),
    )
    routes = () if way.route is None else (Route("nas", "10.0.0.2", way.route, "10.0.0.1", None, 1500),)
    return replace(made, routes=routes, paths=way.paths)


def report(way: Way) -> Report:
    return analyse(run(way))


def first_hop(way: Way) -> HopReport:
    return report(way).hops[0]


def limit(way: Way) -> str:
    return first_hop(way).limited_by.resource


def found(way: Way, code: str) -> list[Finding]:
    return [finding for finding in report(way).findings if finding.code == code]


def disk(
    start: int, end: int, *, read: float, busy: float = 0.2, written: float = 0.0, name: str = "sda"
) -> list[Reading]:
    """A disk of nas, told of once a second."""
    wall_s = (end - start) / 1e9
    return steady(
        "far_disk",
        f"nas/{name}",
        read_bytes=(start, end, read),
        write_bytes=(start, end, written),
        busy_s=(start, end, busy * wall_s),
    )


def cores(start: int, end: int, *shares: float) -> list[Reading]:
    wall_s, made = (end - start) / 1e9, []
    for number, share in enumerate(shares):
        made += steady("far_cpu", f"nas/core{number}", busy_s=(start, end, share * wall_s))
    return made


def process(start: int, end: int, name: str, cores: float) -> list[Reading]:
    return steady("far_process", f"nas/{name}", cpu_s=(start, end, cores * (end - start) / 1e9))


def black_hole(evidence: str = "1500 bytes pass, 9000 vanish") -> PathFacts:
    return PathFacts("nas", "10.0.0.2", (), 1500, 9000, True, 0.0002, (evidence,), 1.0)


def on_mount(fstype: str = "cifs", far_disk: str | None = None) -> Reached:
    """The same place on a mount of the share, its disk there known over ssh."""
    mount = Mount("/mnt/nas", "//nas/models", fstype, None, True, "nas", "models")
    there = Mount("/srv", f"/dev/{far_disk}", "ext4", far_disk, False) if far_disk else None
    return replace(reached("weights", bytes=400 * MB), mount=mount, far_mount=there)


def _pass(way: Way, at: int, repeat: int) -> tuple[list[Sample], Window]:
    return stream(
        (Desk(), Desk()),
        lambda stage, k: (way.took_ms * MS, MS // 10)[stage],
        way.blocks,
        offset=at,
        repeat=repeat,
        details=lambda sample: {
            "bytes": way.each,
            **(way.details | {"outcome": way.outcome} if sample.stage == 0 else {}),
        },
    )


def _network(way: Way, start: int, end: int) -> list[Reading]:
    received, sent = way.payload * way.crossed, 120.0 * way.requests * way.blocks
    segments = received / SEGMENT
    readings: list[Reading] = []
    if way.sockets:
        readings += _sockets(way, start, end, received, sent, segments)
    if way.interface:
        whole = received + way.payload * way.others
        packets = whole / (65536 if way.merged else SEGMENT)
        answers = way.requests * way.blocks
        readings += steady(
            "interface",
            way.carried_by,
            rx_bytes=(start, end, whole + packets * HEADERS),
            tx_bytes=(start, end, sent + answers * HEADERS),
            rx_packets=(start, end, packets),
            tx_packets=(start, end, answers),
        )
        if way.route is not None and way.carried_by != way.route:
            readings += steady("interface", way.route, rx_bytes=(start, end, 1e3), tx_bytes=(start, end, 1e3))
    return readings


def _sockets(way: Way, start: int, end: int, received: float, sent: float, segments: float) -> list[Reading]:
    counters = steady(
        "tcp",
        "weights",
        bytes_received=(start, end, received),
        bytes_sent=(start, end, sent),
        segments_in=(start, end, segments),
        segments_out=(start, end, float(way.requests * way.blocks)),
        retransmits=(start, end, 0.0),
        out_of_order=(start, end, segments * way.lost),
    )
    gauges = {"rtt_s": way.rtt_s * 2, "min_rtt_s": way.rtt_s, "receive_queue_bytes": way.queue}
    moments = range(start, end, 100 * MS)
    return counters + [
        Reading(at, "tcp", "weights", metric, value) for at in moments for metric, value in gauges.items()
    ]


def _here(interfaces: tuple[Interface, ...]) -> HostFacts:
    return replace(host(), interfaces=interfaces)
