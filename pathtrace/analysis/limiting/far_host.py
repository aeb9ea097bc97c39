"""What another host did while a place of its worked: its disk, its cores, the processes on it.

Such counters come once or twice a second over ``ssh:``; what is too short to be told apart is not told.
Whether it limits a hop is for ``far_limits``.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from pathtrace.analysis.evidence import Evidence, Span
from pathtrace.analysis.limiting.limit import (
    FAR_LOOKS,
    FAR_SPAN_S,
    FULL,
    HELD_BACK,
    MOSTLY,
    SERVED,
    SHARED_CPU,
    cores_text,
)
from pathtrace.analysis.summary import StageFigures
from pathtrace.model.scenario import Action
from pathtrace.units import format_bytes, format_ratio

SERVERS = {
    "smb": ("smbd", "ksmbd", "samba"),
    "sftp": ("sshd", "sftp-server", "sshd-session", "internal-sftp"),
    "nfs": ("nfsd", "ganesha.nfsd", "nfs-ganesha"),
    "http": ("nginx", "httpd", "apache2", "caddy", "lighttpd", "rclone", "minio", "weed"),
    "postgresql": ("postgres", "postmaster"),
}
"""Programs that serve a protocol; a comm is cut at 15 letters, and may have a title after it."""
_PROTOCOLS = {
    "smb": "smb",
    "cifs": "smb",
    "smb3": "smb",
    "smbfs": "smb",
    "sftp": "sftp",
    "fuse.sshfs": "sftp",
    "nfs": "nfs",
    "nfs4": "nfs",
    "https": "http",
    "http": "http",
    "webdav": "http",
    "s3": "http",
    "davfs": "http",
    "postgresql": "postgresql",
    "postgres": "postgresql",
}


@dataclass(frozen=True, slots=True)
class FarDisk:
    """A disk of another host. ``busy`` is the share of the time in which operations were in progress."""

    name: str
    read_bytes: float
    write_bytes: float
    busy: float | None

    @property
    def text(self) -> str:
        moved = f"{format_bytes(self.read_bytes)} read, {format_bytes(self.write_bytes)} written"
        busy = "" if self.busy is None else f", busy {format_ratio(self.busy)} of the time"
        return f"{self.name}: {moved}{busy}"


@dataclass(frozen=True, slots=True)
class FullCore:
    """A program that fills a core, or is kept from one. ``share`` of the time, 0 to 1."""

    host: str
    what: str
    share: float
    text: str


def protocol_of(evidence: Evidence, place: str) -> str | None:
    """How a place is served: by its URL, or by its mount."""
    mount = evidence.mount(place)
    url = getattr(evidence.place(place).spec, "url", None)
    named = urlsplit(url).scheme if url else (mount.fstype if mount else "")
    return _PROTOCOLS.get(named)


def is_seen(evidence: Evidence, host: str) -> bool:
    """True if a host's cores or disks told anything at all."""
    subjects = (
        *evidence.counters.subjects("far_cpu", "busy_s"),
        *evidence.counters.subjects("far_disk", "read_bytes"),
    )
    return any(subject.startswith(f"{host}/") for subject in subjects)


def too_short(evidence: Evidence, span: Span) -> bool:
    """True if the host's counters cannot tell this execution from the ones beside it."""
    if len(evidence.run.windows) <= 1:
        return False
    looks = [
        len(evidence.counters.steps(counter[0], subject, counter[1], span.start_ns, span.end_ns)[0]) + 1
        for counter in (("far_cpu", "busy_s"), ("far_disk", "read_bytes"))
        for subject in evidence.counters.subjects(*counter)
    ]
    return span.wall_s < FAR_SPAN_S or max(looks, default=FAR_LOOKS) < FAR_LOOKS


def far_disk(figures: StageFigures, evidence: Evidence, span: Span, place: str) -> FarDisk | None:
    """The disk under a place; where that is not known, the one of its host that moved the most."""
    if too_short(evidence, span):
        return None
    host, reached = evidence.place(place).host, evidence.reached(place)
    if reached is not None and reached.far_mount is not None:
        known = reached.far_mount.disk  # None: it lies in memory, or on what has no counters
        return _disk(figures, evidence, span, f"{host}/{known}") if known else None
    disks = [
        disk
        for subject in evidence.counters.subjects("far_disk", "read_bytes")
        if subject.startswith(f"{host}/") and (disk := _disk(figures, evidence, span, subject)) is not None
    ]
    writes = figures.stage.action in (Action.WRITE, Action.INSERT)
    moved = [disk for disk in disks if (disk.write_bytes if writes else disk.read_bytes)]
    return max(moved, key=lambda disk: disk.read_bytes + disk.write_bytes, default=None)


def served_by_disk(figures: StageFigures, disk: FarDisk) -> bool:
    """True if the place's bytes came off the disk rather than out of its host's memory."""
    return figures.stage.action is not Action.READ or disk.read_bytes >= SERVED * figures.bytes


def full_core(figures: StageFigures, evidence: Evidence, span: Span, place: str) -> FullCore | None:
    """The place's server, or the local program under its mount, if one of them fills a core."""
    found = [_helper(figures, evidence, span, place)]
    if not too_short(evidence, span):
        found.append(_server(figures, evidence, span, place))
    return max((each for each in found if each is not None), key=lambda each: each.share, default=None)


def busiest_program(
    figures: StageFigures, evidence: Evidence, span: Span, place: str
) -> tuple[str, str, float] | None:
    """Host, name and cores used, of the place's server or of the program under its mount here."""
    here, host = evidence.run.scenario.here.name, evidence.place(place).host
    found = [(here, *pair) for pair in _helpers(figures, evidence, span, place)]
    if not too_short(evidence, span):
        mine = _serving(_processes(figures, evidence, span, host), evidence, place)
        found += [(host, *pair) for pair in mine]
    return max(found, key=lambda each: each[2], default=None)


def server_cores(figures: StageFigures, evidence: Evidence, span: Span, place: str) -> float | None:
    """Cores used by the fullest program that serves the place; None where its host did not tell of one."""
    return max(_of_servers(figures, evidence, span, place), default=None)


def chained_cores(figures: StageFigures, evidence: Evidence, span: Span, place: str) -> float | None:
    """Cores used by all programs between a mount of this host and the files on its server; None unless both
    ends told of theirs."""
    servers = _of_servers(figures, evidence, span, place)
    helpers = _helper_subjects(evidence, place)
    if not servers or not helpers or not figures.active_s:
        return None
    grown = [evidence.while_busy("helper", subject, "cpu_s", figures, span) or 0.0 for subject in helpers]
    return sum(servers) + sum(grown) / figures.active_s


def network_cores(figures: StageFigures, evidence: Evidence, span: Span, place: str) -> float | None:
    """Cores that the kernel of the place's host took for packets; programs that it interrupts are charged."""
    host = evidence.place(place).host
    took = evidence.while_busy("far_cpu", f"{host}/all", "softirq_s", figures, span)
    return None if took is None or not figures.active_s else took / figures.active_s


def full_host(figures: StageFigures, evidence: Evidence, span: Span, place: str) -> FullCore | None:
    """All cores of the place's host, whoever fills them; or one, where no program's time is known."""
    return None if too_short(evidence, span) else _whole_host(figures, evidence, span, place)


def is_idle(figures: StageFigures, evidence: Evidence, span: Span, place: str) -> bool:
    """True if the host was seen, and neither its disk nor a core was half as busy as the time passed."""
    host = evidence.place(place).host
    if too_short(evidence, span) or not is_seen(evidence, host):
        return False
    disk = far_disk(figures, evidence, span, place)
    busiest = max((cores for _, cores in _processes(figures, evidence, span, host)), default=None)
    core = max((share for _, share in _cores(figures, evidence, span, host)), default=None)
    shares = (disk.busy if disk else None, busiest, core)
    return all(share < MOSTLY for share in shares if share is not None)


def busy_others(figures: StageFigures, evidence: Evidence, span: Span, place: str) -> list[tuple[str, float]]:
    """Programs of the place's host that are not its server, with the cores that each used."""
    host, serving = evidence.place(place).host, SERVERS.get(protocol_of(evidence, place) or "", ())
    if too_short(evidence, span) or not serving:
        return []
    found = [pair for pair in _processes(figures, evidence, span, host) if not _is_one_of(pair[0], serving)]
    return sorted(found, key=lambda pair: -pair[1])


def _disk(figures: StageFigures, evidence: Evidence, span: Span, subject: str) -> FarDisk | None:
    read = evidence.around("far_disk", subject, "read_bytes", span)
    written = evidence.around("far_disk", subject, "write_bytes", span)
    if read is None or written is None:
        return None
    busy = evidence.while_busy("far_disk", subject, "busy_s", figures, span)
    share = min(1.0, busy / figures.active_s) if busy is not None and figures.active_s else None
    return FarDisk(subject, read, written, share)


def _helper(figures: StageFigures, evidence: Evidence, span: Span, place: str) -> FullCore | None:
    """The program under a mount of this host, such as ssh under sshfs."""
    here = evidence.run.scenario.here.name
    found = []
    for name, cores in _helpers(figures, evidence, span, place):
        held = evidence.while_busy("helper", f"{place}/{name}", "run_delay_s", figures, span) or 0.0
        found.append(_full(here, name, cores, held / figures.active_s))
    return max((each for each in found if each is not None), key=lambda each: each.share, default=None)


def _helpers(figures: StageFigures, evidence: Evidence, span: Span, place: str) -> list[tuple[str, float]]:
    """Name and cores used by the fullest thread, of each program under a mount of this host."""
    found = []
    for subject in _helper_subjects(evidence, place) if figures.active_s else ():
        one = evidence.while_busy("helper", subject, "thread_cpu_s", figures, span)
        if one is None:
            one = evidence.while_busy("helper", subject, "cpu_s", figures, span)
        found.append((subject.partition("/")[2], (one or 0.0) / figures.active_s))
    return found


def _helper_subjects(evidence: Evidence, place: str) -> list[str]:
    """The programs under a mount of this host."""
    found = evidence.counters.subjects("helper", "cpu_s")
    return [subject for subject in found if subject.startswith(f"{place}/")]


def _of_servers(figures: StageFigures, evidence: Evidence, span: Span, place: str) -> list[float]:
    """Cores used by each program of the place's protocol on its host; none where nothing is told."""
    if too_short(evidence, span):
        return []
    programs = SERVERS.get(protocol_of(evidence, place) or "", ())
    found = _processes(figures, evidence, span, evidence.place(place).host)
    return [used for name, used in found if _is_one_of(name, programs)]


def _server(figures: StageFigures, evidence: Evidence, span: Span, place: str) -> FullCore | None:
    """The place's server: of a protocol whose programs are known one of these, else the fullest program."""
    host = evidence.place(place).host
    mine = _serving(_processes(figures, evidence, span, host), evidence, place)
    name, cores = max(mine, key=lambda pair: pair[1], default=("", 0.0))
    held = evidence.while_busy("far_process", f"{host}/{name}", "run_delay_s", figures, span) or 0.0
    return _full(host, name, cores, held / figures.active_s) if name and figures.active_s else None


def _whole_host(figures: StageFigures, evidence: Evidence, span: Span, place: str) -> FullCore | None:
    host = evidence.place(place).host
    cores, processes = _cores(figures, evidence, span, host), _processes(figures, evidence, span, host)
    if not cores:
        return None
    if processes:
        return _crowded(cores, processes, _serving(processes, evidence, place), host)
    name, most = max(cores, key=lambda pair: pair[1])
    if most < FULL:
        return None
    text = f"{name} of {host} is {format_ratio(min(1.0, most))} busy; which program fills it was not seen"
    return FullCore(host, name, min(1.0, most), text)


def _crowded(
    cores: list[tuple[str, float]],
    processes: list[tuple[str, float]],
    serving: list[tuple[str, float]],
    host: str,
) -> FullCore | None:
    """All cores are taken, and the place's server, which wants its share, waits for its turn."""
    least = min(share for _, share in cores)
    if least < FULL or sum(used for _, used in serving) < SHARED_CPU:
        return None
    busiest = max(processes, key=lambda pair: pair[1])[0]
    count = f"all {len(cores)} cores of {host} are" if len(cores) > 1 else f"the only core of {host} is"
    text = f"{count} full ({format_ratio(min(1.0, least))}), most of it with {busiest}"
    return FullCore(host, busiest, min(1.0, least), text)


def _serving(processes: list[tuple[str, float]], evidence: Evidence, place: str) -> list[tuple[str, float]]:
    """Those of a place's protocol; all of them where its programs are not known."""
    programs = SERVERS.get(protocol_of(evidence, place) or "", ())
    return [pair for pair in processes if _is_one_of(pair[0], programs)] or processes


def _full(host: str, name: str, cores: float, held: float) -> FullCore | None:
    if cores >= FULL:
        return FullCore(host, name, min(1.0, cores), f"{name} on {host} uses {cores_text(cores)}")
    if held >= HELD_BACK and held >= cores and held + cores >= MOSTLY:
        text = f"{name} on {host} waits for a core {format_ratio(min(1.0, held))} of the time"
        return FullCore(host, name, min(1.0, held + cores), text)
    return None


def _processes(figures: StageFigures, evidence: Evidence, span: Span, host: str) -> list[tuple[str, float]]:
    """Name and cores used, of every program that the host told of."""
    return _per_subject(figures, evidence, span, ("far_process", "cpu_s"), host)


def _cores(figures: StageFigures, evidence: Evidence, span: Span, host: str) -> list[tuple[str, float]]:
    found = _per_subject(figures, evidence, span, ("far_cpu", "busy_s"), host)
    return [pair for pair in found if pair[0] != "all"]


def _per_subject(
    figures: StageFigures, evidence: Evidence, span: Span, counter: tuple[str, str], host: str
) -> list[tuple[str, float]]:
    found = []
    for subject in evidence.counters.subjects(*counter):
        grown = evidence.while_busy(counter[0], subject, counter[1], figures, span)
        if subject.startswith(f"{host}/") and grown is not None and figures.active_s:
            found.append((subject.partition("/")[2], grown / figures.active_s))
    return found


def _is_one_of(process: str, programs: tuple[str, ...]) -> bool:
    """``process`` is ``comm[pid]``."""
    comm = process.partition("[")[0].rstrip(":")
    return any(comm == name[:15] or comm.startswith((f"{name}:", f"{name}-")) for name in programs)
