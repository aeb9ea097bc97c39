"""What else was seen while a stage worked: its disk, its server, the machine, pathtrace itself.

Turns readings and facts into figures over a span of time. Judging them is for the rules of
``reading``, ``processing`` and ``serving``.
"""

from __future__ import annotations

from dataclasses import dataclass

from pathtrace.analysis.counters import Counters
from pathtrace.analysis.limiting.limit import MOSTLY
from pathtrace.analysis.summary import StageFigures
from pathtrace.model.run import Ceiling, HostFacts, Mount, Reached, Run
from pathtrace.model.scenario import Flow, Place, PlaceKind
from pathtrace.units import seconds

PAGE_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of the run: an execution's first start to last end."""

    start_ns: int
    end_ns: int

    @property
    def wall_s(self) -> float:
        return seconds(self.end_ns - self.start_ns)


@dataclass(frozen=True, slots=True)
class DiskUse:
    """What a block device did in a span. ``busy_s`` None: this system does not tell."""

    name: str
    read_bytes: float
    write_bytes: float
    busy_s: float | None

    def busy_share(self, active_s: float) -> float | None:
        """Of the time in which operations were in progress; read-ahead may make it more: then 1."""
        if self.busy_s is None or not active_s:
            return None
        return min(1.0, self.busy_s / active_s)


@dataclass(frozen=True, slots=True)
class ServerUse:
    """What the process behind a place's URL did in a span. Unknown parts are None."""

    cpu_s: float
    read_bytes: float | None
    major_faults: float | None

    @property
    def device_bytes(self) -> float:
        """Off a disk, by the larger of its own two counters."""
        return max(self.read_bytes or 0.0, (self.major_faults or 0.0) * PAGE_BYTES)


class Evidence:
    """The run's facts and counters, asked by place and span."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.counters = Counters(run.readings)
        self._reached = {reached.place: reached for reached in run.reached}
        self._ceilings = {ceiling.resource: ceiling for ceiling in run.ceilings}
        self._hosts = {host.name: host for host in run.environment.hosts}

    def place(self, name: str) -> Place:
        return self.run.scenario.place(name)

    def reached(self, place: str) -> Reached | None:
        return self._reached.get(place)

    def ceiling(self, resource: str) -> Ceiling | None:
        return self._ceilings.get(resource)

    def tracer_ceiling(self, figures: StageFigures) -> Ceiling | None:
        """What the same code path does against memory."""
        return self._ceilings.get(f"tracer:{figures.flow}/{figures.stage.index}")

    @property
    def here(self) -> HostFacts | None:
        """The host that runs pathtrace."""
        return self._hosts.get(self.run.scenario.here.name)

    @property
    def cores(self) -> int:
        return max(1, self.here.cores) if self.here else 1

    def host(self, name: str) -> HostFacts | None:
        return self._hosts.get(name)

    def is_far(self, place: str) -> bool:
        """True if its data or its server is on another host than pathtrace."""
        return self.place(place).host != self.run.scenario.here.name

    def around(self, observer: str, subject: str, metric: str, span: Span) -> float | None:
        """Growth between the readings that enclose a span, where no other execution lies between them.

        What a counter shows a moment late still belongs to the span: nothing of the run happens outside.
        Where another execution is near, the counter is interpolated at the span's end.
        """
        edges = self.counters.edges(observer, subject, metric, span.start_ns, span.end_ns)
        if edges is None:
            return None
        start, end = edges
        for window in self.run.windows:
            if start < window.end_ns <= span.start_ns:
                start = span.start_ns
            if span.end_ns <= window.start_ns < end:
                end = span.end_ns
        return self.counters.growth(observer, subject, metric, start, end)

    def while_busy(
        self, observer: str, subject: str, metric: str, figures: StageFigures, span: Span
    ) -> float | None:
        """Growth that belongs to a stage's operations, for shares of ``active_s``.

        All of the span's where operations were in progress most of the time; else only what fell into them,
        which a counter that is seldom read shows evened out.
        """
        if figures.active_s >= MOSTLY * span.wall_s:
            return self.around(observer, subject, metric, span)
        return self._during(observer, subject, metric, figures)

    def mount(self, place: str) -> Mount | None:
        reached = self._reached.get(place)
        return reached.mount if reached else None

    def disk(self, place: str, span: Span) -> DiskUse | None:
        """The device under a place; None if it is not known or was not read."""
        mount = self.mount(place)
        return self.device(mount.disk, span) if mount and mount.disk else None

    def device(self, name: str, span: Span) -> DiskUse | None:
        read = self._growth("disk", name, "read_bytes", span)
        written = self._growth("disk", name, "write_bytes", span)
        if read is None or written is None:
            return None
        return DiskUse(name, read, written, self._growth("disk", name, "busy_s", span))

    def disk_during(self, place: str, figures: StageFigures) -> DiskUse | None:
        """The device under a place while a stage's operations were in progress, and only then."""
        mount = self.mount(place)
        if mount is None or mount.disk is None:
            return None
        read = self._during("disk", mount.disk, "read_bytes", figures)
        written = self._during("disk", mount.disk, "write_bytes", figures)
        if read is None or written is None:
            return None
        return DiskUse(mount.disk, read, written, self._during("disk", mount.disk, "busy_s", figures))

    def server_during(self, place: str, figures: StageFigures) -> ServerUse | None:
        """The process behind a place's URL while a stage's operations were in progress; None if unseen."""
        cpu = self._during("process", place, "cpu_s", figures)
        if cpu is None:
            return None
        read = self._during("process", place, "read_bytes", figures)
        return ServerUse(cpu, read, self._during("process", place, "major_faults", figures))

    def run_delay(self, place: str, span: Span) -> float | None:
        """Seconds in which threads of the process behind a place's URL wanted a core and had none."""
        return self._growth("process", place, "run_delay_s", span)

    def server_read(self, place: str, span: Span) -> float | None:
        """Bytes that the process behind a place's URL read in a span, by the largest of its counters."""
        counted = (
            self._growth("process", place, "read_bytes", span),
            self._growth("process", place, "rchar_bytes", span),
            self._fault_bytes(place, span),
        )
        return max((value for value in counted if value is not None), default=None)

    def server_read_during(self, place: str, figures: StageFigures) -> float | None:
        """Bytes that it read while a stage's operations were in progress, whatever they came from."""
        return self._during("process", place, "rchar_bytes", figures)

    def _fault_bytes(self, place: str, span: Span) -> float | None:
        faults = self._growth("process", place, "major_faults", span)
        return None if faults is None else faults * PAGE_BYTES

    def own_cores(self, span: Span) -> float | None:
        """Cores that pathtrace's own process used, threads included; child processes are not."""
        return self._rate("self", "process", "cpu_s", span)

    def loop_cores(self, span: Span) -> float | None:
        """Share of a core that pathtrace's event loop used."""
        return self._rate("self", "loop", "cpu_s", span)

    def host_share(self, span: Span) -> float | None:
        """Share of all cores of this host that worked, whoever used them."""
        busy = self._rate("cpu", "all", "busy_s", span)
        return None if busy is None else busy / self.cores

    def off_device(self, disk: DiskUse, span: Span) -> float:
        """Bytes that pathtrace's own reads took off a device: not more than its process had from any.

        Another program may read the same device meanwhile.
        """
        own = self._growth("self", "process", "read_bytes", span)
        return disk.read_bytes if own is None else min(disk.read_bytes, own)

    def own_fault_bytes(self, span: Span) -> float | None:
        """Bytes that pathtrace's own process took in by major page faults, at least."""
        faults = self._growth("self", "process", "major_faults", span)
        return None if faults is None else faults * PAGE_BYTES

    def available_share(self, span: Span) -> float | None:
        """The least share of this host's memory that was available."""
        lowest = self.counters.lowest("memory", "host", "available_bytes", span.start_ns, span.end_ns)
        if lowest is None or self.here is None or not self.here.memory_bytes:
            return None
        return lowest / self.here.memory_bytes

    def shares_server(self, model: str) -> bool:
        """True if another place's URL leads to the same process."""
        return bool(self.sharing(model))

    def sharing(self, model: str) -> tuple[str, ...]:
        """The other places behind whose URL the same process is."""
        reached = self._reached.get(model)
        pid = reached.server_pid if reached else None
        return tuple(
            other.place
            for other in self._reached.values()
            if pid is not None and other.place != model and other.server_pid == pid
        )

    def model_place(self, flow: Flow, stage: int) -> str | None:
        """The model at work at a stage: its own place, or the nearest before it."""
        for earlier in reversed(flow.stages[: stage + 1]):
            if self.place(earlier.place).kind is PlaceKind.INFERENCE:
                return earlier.place
        return None

    def weights_of(self, model: str) -> str | None:
        """The files place whose weights a flow loads into ``model``."""
        for flow in self.run.scenario.flows:
            if len(flow.path) > 1 and flow.path[-1] == model:
                source = self.place(flow.path[0])
                if source.kind is PlaceKind.FILES:
                    return source.name
        return None

    def weights_bytes(self, model: str) -> int | None:
        """Bytes of the weights of ``model``, where a flow loads them."""
        weights = self.weights_of(model)
        reached = self._reached.get(weights) if weights else None
        return reached.facts.bytes if reached and reached.facts else None

    def _growth(self, observer: str, subject: str, metric: str, span: Span) -> float | None:
        return self.counters.growth(observer, subject, metric, span.start_ns, span.end_ns)

    def _during(self, observer: str, subject: str, metric: str, figures: StageFigures) -> float | None:
        return self.counters.growth_during(observer, subject, metric, figures.in_progress)

    def _rate(self, observer: str, subject: str, metric: str, span: Span) -> float | None:
        grown = self._growth(observer, subject, metric, span)
        return None if grown is None or not span.wall_s else grown / span.wall_s
