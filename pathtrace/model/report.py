"""What a run means: figures with spread, what limits each hop and on what evidence, the ranking.

Field names are those of the ``pathtrace.run/1`` document wherever the document has them. Absent
knowledge is ``None``, never 0.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Caveat:
    """A doubt about a figure, which travels with it. ``code`` is a slug, ``subject`` what it is about."""

    code: str
    text: str
    remedy: str | None = None
    subject: str | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """Something worth knowing that is not a hop's limit: said before the ranking."""

    code: str
    text: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure shown to a person. ``low``/``high`` bound the median over ``n`` repeats; None if n < 2."""

    value: float
    low: float | None
    high: float | None
    n: int
    unit: str


@dataclass(frozen=True, slots=True)
class Latency:
    """Percentiles of one kind of operation; None where there are too few (p99 under 100, p90 under 10)."""

    p50_s: float | None
    p90_s: float | None
    p99_s: float | None
    max_s: float | None


@dataclass(frozen=True, slots=True)
class TimeUse:
    """Worker-seconds over a flow's wall time; the three add up to wall × workers."""

    busy_s: float
    starved_s: float
    blocked_s: float


@dataclass(frozen=True, slots=True)
class Parts:
    """Median seconds of an operation's parts: ``setup`` is open, connect, spawn; ``finish`` close, commit."""

    setup_s: float
    body_s: float
    finish_s: float
    stat_s: float | None = None
    """The part of ``setup_s`` in which open files were asked how long they are; of files read whole."""


@dataclass(frozen=True, slots=True)
class StageReport:
    action: str
    place: str
    workers: int
    operations: int
    errors: int
    bytes: int
    time: TimeUse
    latency: Latency
    parts: Parts | None
    cpu_s: float | None
    """CPU seconds of whoever did the work, where known."""
    while_busy: str
    """The resource that bounds this stage while it works."""


@dataclass(frozen=True, slots=True)
class Throughput:
    """``low``/``high`` bound ``bytes_per_s`` over repeats."""

    bytes_per_s: float | None
    low: float | None
    high: float | None
    active_bytes_per_s: float | None
    operations_per_s: float | None


@dataclass(frozen=True, slots=True)
class FrequencyReport:
    declared: str
    observed: str | None
    evidence: str
    bytes_per_request: float | None = None
    """What the far process read for each request, by its own counters."""


@dataclass(frozen=True, slots=True)
class First:
    """The first repeat of a cold run, shown apart."""

    duration_s: float
    bytes_per_s: float | None


@dataclass(frozen=True, slots=True)
class LimitedBy:
    resource: str
    also: tuple[str, ...]
    while_busy: str
    evidence: tuple[str, ...]
    next_measurement: str | None


@dataclass(frozen=True, slots=True)
class Point:
    """A hop's rates at one moment, which is the middle of a stretch as long as its neighbours'."""

    t_s: float
    """From the flow's start."""
    bytes_per_s: float
    operations_per_s: float


@dataclass(frozen=True, slots=True)
class Wire:
    """What the hop's own connections carried, headers and all; unknown parts are None."""

    bytes: int | None
    overhead_ratio: float | None
    retransmits: int | None
    rtt_s: float | None
    interface: str | None = None
    """This host's, that carried them."""
    interface_kind: str | None = None
    """As ``Interface.kind`` has it."""


@dataclass(frozen=True, slots=True)
class HopReport:
    flow: str
    name: str
    source: str
    destination: str
    phase: str
    measured_from: str
    stand_in: bool
    frequency: FrequencyReport
    operations: int
    errors: int
    bytes: int
    duration_s: float | None
    """None: the hop was not measured."""
    active_s: float | None
    throughput: Throughput
    latency: Latency
    time: TimeUse | None
    stages: tuple[StageReport, ...]
    first: First | None
    limited_by: LimitedBy
    caveats: tuple[Caveat, ...]
    series: tuple[Point, ...] = ()
    """Of the median repeat."""
    wire: Wire | None = None


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of a flow's critical path, added up by hop, stage and resource."""

    hop: str
    stage: str
    """``action@place``."""
    resource: str
    seconds: float


@dataclass(frozen=True, slots=True)
class FlowReport:
    name: str
    frequency: str
    waits: str
    duration_s: Estimate | None
    """None: no complete execution."""
    bottleneck: str
    critical_path: tuple[Segment, ...]
    executions_per_day: float
    seconds_per_execution: float | None
    within_acceptable_wait: bool | None


@dataclass(frozen=True, slots=True)
class RequestsReport:
    flow: str
    count: int
    errors: int
    users: int
    per_s: float | None
    latency: Latency
    time_to_first_token_s: float | None
    tokens_per_s: float | None
    within_acceptable_wait: float | None
    """Share of requests answered within ``acceptable_wait``, 0 to 1."""
    after_idle_s: float | None = None
    """Set if these were asked after a pause of so long: they are not a load level."""


@dataclass(frozen=True, slots=True)
class ResourceReport:
    name: str
    kind: str
    ceiling_bytes_per_s: float | None
    ceiling_operations_per_s: float | None
    ceiling_latency_s: float | None
    ceiling_source: str | None
    utilisation: float | None
    evidence: str | None
    direction: str | None = None
    """``nas->workstation``, of a link."""


@dataclass(frozen=True, slots=True)
class RankingEntry:
    rank: int
    flow: str
    hop: str
    stage: str
    resource: str
    frequency: str
    waits: str
    seconds_per_day: float
    seconds_per_execution: float
    share: float
    """Of its flow's critical path, 0 to 1."""
    stand_in: bool
    advice: str
    free: bool
    """True if the advice costs no money (a setting, a cache)."""


@dataclass(frozen=True, slots=True)
class DatasetReport:
    place: str
    files: int | None
    bytes: int | None
    fingerprint: str | None
    sparse_bytes: int | None
    listing_s: float | None = None


@dataclass(frozen=True, slots=True)
class CapacityReport:
    subject: str
    """A place (room on its disk) or a host (memory)."""
    total_bytes: int | None
    used_bytes: int | None
    needed_bytes: int | None


@dataclass(frozen=True, slots=True)
class RepeatHop:
    flow: str
    hop: str
    duration_s: float
    bytes: int
    operations: int


@dataclass(frozen=True, slots=True)
class RepeatReport:
    index: int
    duration_s: float
    start_condition: str
    hops: tuple[RepeatHop, ...]
    outlier: bool = False
    """True if a flow took far longer or shorter in it than in the others. It counts all the same."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """At most three lines: the answer to the question, what limits, what to do first."""

    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """A run, analysed. Facts that need no analysis (environment, …) stay in ``Run``."""

    verdict: Verdict
    dataset: tuple[DatasetReport, ...]
    capacity: tuple[CapacityReport, ...]
    hops: tuple[HopReport, ...]
    flows: tuple[FlowReport, ...]
    requests: tuple[RequestsReport, ...]
    resources: tuple[ResourceReport, ...]
    ranking: tuple[RankingEntry, ...]
    findings: tuple[Finding, ...]
    caveats: tuple[Caveat, ...]
    repeats: tuple[RepeatReport, ...]
    after_idle: tuple[RequestsReport, ...] = ()
    """The first requests after the scenario's idle gaps."""
