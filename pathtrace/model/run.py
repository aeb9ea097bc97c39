"""What a replay leaves behind: facts, samples, readings. No figure here has been interpreted."""

from __future__ import annotations

from dataclasses import dataclass

from pathtrace.model.network import Endpoint, PathFacts, Route
from pathtrace.model.report import Caveat
from pathtrace.model.sample import ReadingTable, SampleTable, Window
from pathtrace.model.scenario import Scenario
from pathtrace.model.work import LayerState, PlaceFacts


@dataclass(frozen=True, slots=True)
class Interface:
    name: str
    speed_bytes_per_s: float | None
    mtu_bytes: int | None
    up: bool
    duplex: str | None = None
    """full or half."""
    kind: str | None = None
    """ethernet, wifi, tunnel, bridge, veth, loopback, …"""
    driver: str | None = None
    addresses: tuple[str, ...] = ()
    pcie_bytes_per_s: float | None = None
    """What the slot that it sits in carries, as negotiated."""
    pcie_best_bytes_per_s: float | None = None
    """What slot and card could negotiate at most."""


@dataclass(frozen=True, slots=True)
class Mount:
    """``device`` as in the mount table; ``disk`` the block device's kernel name, or None."""

    path: str
    device: str
    fstype: str
    disk: str | None
    network: bool
    server: str | None = None
    """The other host, by name or address, as the mount table has it."""
    there: str | None = None
    """Share or folder on that host."""
    options: tuple[str, ...] = ()
    """As the mount table has them; secrets left out."""

    @property
    def far(self) -> bool:
        """True if every request goes through another host or program: none is a device's own."""
        return self.network or self.fstype.startswith("fuse")


@dataclass(frozen=True, slots=True)
class HostFacts:
    name: str
    cpu: str | None
    cores: int
    memory_bytes: int
    memory_available_bytes: int | None
    kernel: str
    gpus: tuple[str, ...]
    mounts: tuple[Mount, ...]
    interfaces: tuple[Interface, ...]
    servers: tuple[str, ...]
    congestion_control: str | None = None
    """What the kernel takes for TCP connections that ask for nothing else."""


@dataclass(frozen=True, slots=True)
class Environment:
    hosts: tuple[HostFacts, ...]
    python: str
    pathtrace: str
    boot_at: str
    """ISO 8601, UTC."""
    clock_resolution_ns: int


@dataclass(frozen=True, slots=True)
class Reached:
    """What was learnt of a place when the run opened it; ``fault`` if it could not be used."""

    place: str
    facts: PlaceFacts | None
    fault: str | None
    mount: Mount | None
    """Where a ``files`` place or a database file lies."""
    server_pid: int | None
    """The local process behind a place's URL, where it can be seen."""
    identity: str | None = None
    """The server's or engine's own name and version, where it says."""
    endpoint: Endpoint | None = None
    """Where its server is reached, of a place on another host."""
    far_mount: Mount | None = None
    """What its data lies on, on its own host, where that host was asked (``ssh``)."""


@dataclass(frozen=True, slots=True)
class StartCondition:
    repeat: int
    start: str
    layers: tuple[LayerState, ...]


@dataclass(frozen=True, slots=True)
class Ceiling:
    """What one resource can do at most, measured alone. Unknown parts are None."""

    resource: str
    """``disk:archive``, ``tracer:flow/stage-index`` (the same code path against memory)."""
    bytes_per_s: float | None
    operations_per_s: float | None
    latency_s: float | None
    source: str
    """measured, computed, declared or nominal."""
    evidence: str
    took_s: float
    direction: str | None = None
    """``nas->workstation``: of a link, whose directions and ends are measured apart."""


@dataclass(frozen=True, slots=True)
class Activity:
    """What else a host did outside the run: CPU not ours, and processes worth naming."""

    host: str
    cpu_percent: float | None
    disk_bytes_per_s: float | None
    network_bytes_per_s: float | None
    notable: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ObserverCost:
    """What an observer's looks took, as a ratio of the wall time of all repeats."""

    observer: str
    ratio: float


@dataclass(frozen=True, slots=True)
class OwnCost:
    """pathtrace's own cost: CPU of recording and observing as a ratio of the wall time of all repeats."""

    recording_ratio: float
    observing_ratio: float
    sample_ns: float
    """Cost of taking and packing one sample, measured at the start of the run."""
    probes_s: float | None = None
    """How long the probes took, once all repeats were over; None: there were none."""
    observers: tuple[ObserverCost, ...] = ()
    """The parts of ``observing_ratio``."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """A question with a known answer, asked after the timed part. ``missing``: what was not found."""

    ask: str
    passed: bool
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FlowWidth:
    """How well the repeats so far tell a flow's duration."""

    flow: str
    repeats: int
    """Whole ones."""
    half_width: float | None
    """The farther end of the interval of the median, as a ratio of the median; None below two repeats."""
    drifts: bool
    """True if the repeats became steadily longer or shorter: then their interval means nothing."""
    two_kinds: bool
    """True if there are two kinds of repeat, which a median hides."""


@dataclass(frozen=True, slots=True)
class Until:
    """A run that was to be repeated until the interval of every flow's median duration is narrow."""

    asked: float
    """The half-width, as a ratio of the median."""
    reached: bool
    repeats: int
    flows: tuple[FlowWidth, ...]
    """Those that could be measured."""
    ended_by: str | None = None
    """What ended it where it was not reached: bytes, time, stop, store or repeats; None: it was cut off."""


@dataclass(frozen=True, slots=True)
class Run:
    id: str
    label: str | None
    status: str
    """complete, partial or interrupted."""
    started_at: str
    duration_s: float
    scenario: Scenario
    environment: Environment
    reached: tuple[Reached, ...]
    starts: tuple[StartCondition, ...]
    windows: tuple[Window, ...]
    ceilings: tuple[Ceiling, ...]
    activity: tuple[Activity, ...]
    cost: OwnCost | None
    caveats: tuple[Caveat, ...]
    faults: tuple[str, ...]
    """Texts that ``Sample.detail`` points to; redacted."""
    samples: SampleTable
    readings: ReadingTable
    checks: tuple[CheckResult, ...] = ()
    """One for each of the scenario's ``checks`` that could be asked."""
    routes: tuple[Route, ...] = ()
    """To each other host that a place is on."""
    paths: tuple[PathFacts, ...] = ()
    until: Until | None = None
    """None: as many repeats as the scenario says."""
