"""The counters of another Linux host as text: what a plain shell there is asked to write, and what it says.

Runs nothing itself. The loop needs ``sh``, ``cat``, ``grep`` and ``awk``, as BusyBox has them too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from shlex import quote

from pathtrace.model.sample import Reading

NOT_LINUX = "no /proc"
_HERTZ = "hz "
_BREAK = "|"
"""Between the lines of a look, which comes as one: hundreds of them would each wake the event loop."""

_GROWN = (
    r'{n=match($0,/\)[^)]*$/); split(substr($0,n+2),f," ");'
    r" if (f[12]+f[13]>0) print substr($0,1,n), f[12]+f[13], f[20]}"
)
"""Of each ``/proc/PID/stat``: number, name, ticks at work and time of birth; nothing of the ever idle."""
_LOOK = (
    "grep '^cpu' /proc/stat; echo disks; cat /proc/diskstats 2>/dev/null; "
    "echo interfaces; cat /proc/net/dev; "
    "echo memory; grep -E '^(MemAvailable|Cached):' /proc/meminfo; "
    "if [ $k = 1 ] || [ $p = 1 ]; then echo processes; "
    f"cat /proc/[0-9]*/stat 2>/dev/null | awk {quote(_GROWN)}; fi"
)
_LOOP = (
    "LC_ALL=C; export LC_ALL; "
    f"[ -r /proc/stat ] || {{ echo '{NOT_LINUX}'; exit 0; }}; "
    f'echo "{_HERTZ}$(getconf CLK_TCK 2>/dev/null || echo 100)"; '
    "p=1; sleep 0.5 2>/dev/null && p=0.5; k=1; "
    f"while :; do {{ {_LOOK}; }} | tr '\\n' '{_BREAK}' || exit 0; echo || exit 0; "
    "k=$((1-k)); sleep $p || exit 0; done"
)
COMMAND = f"exec sh -c {quote(_LOOP)}"
"""Whatever the login shell is. A line for each look, until nobody reads it any more."""

_SECTIONS = ("cpu", "disks", "interfaces", "memory", "processes")
_SECTOR_BYTES = 512
_UNIT_BYTES = 1024
"""``/proc/meminfo`` counts in units of 1024 bytes."""
_MEMORY = {"MemAvailable:": "available_bytes", "Cached:": "cached_bytes"}
_GREW_S = 0.02
_NAMED_A_ROUND, _NAMED_AT_MOST = 8, 64

Process = tuple[str, str]
"""Number and time of birth, since numbers are used again."""


class FarCounters:
    """Turns the lines of ``COMMAND`` into readings of one host. What makes no sense is left out."""

    def __init__(self, host: str) -> None:
        self._host = host
        self._hertz = 100.0
        self._processes = _Processes(host)

    def feed(self, line: str, at_ns: int) -> list[Reading]:
        """Take one line that was received at ``at_ns``; returns the readings of that look."""
        if line.startswith(_HERTZ):
            told = line.removeprefix(_HERTZ)
            self._hertz = float(told) if told.isdigit() else self._hertz
            return []
        return self._readings(at_ns, _sections(line.split(_BREAK)))

    def _readings(self, at_ns: int, sections: Mapping[str, Sequence[list[str]]]) -> list[Reading]:
        readings: list[Reading] = []
        for name, read in (("cpu", self._cpu), ("disks", _disk), ("interfaces", _interface)):
            for fields in sections.get(name, ()):
                try:
                    observer, subject, metrics = read(fields)
                except (ValueError, IndexError):
                    continue
                subject = f"{self._host}/{subject}"
                readings += (Reading(at_ns, observer, subject, m, value) for m, value in metrics)
        for fields in sections.get("memory", ()):
            if fields[0] in _MEMORY and len(fields) > 1 and fields[1].isdigit():
                value = float(int(fields[1]) * _UNIT_BYTES)
                readings.append(Reading(at_ns, "far_memory", self._host, _MEMORY[fields[0]], value))
        if "processes" in sections:
            readings += self._processes.readings(at_ns, sections["processes"], self._hertz)
        return readings

    def _cpu(self, fields: list[str]) -> tuple[str, str, list[tuple[str, float]]]:
        """As observers/cpu.py counts: idle, waiting and stolen time is not busy."""
        user, nice, system, _, iowait, irq, softirq = (int(field) / self._hertz for field in fields[1:8])
        subject = "all" if fields[0] == "cpu" else f"core{int(fields[0].removeprefix('cpu'))}"
        busy = user + nice + system + irq + softirq
        return "far_cpu", subject, [("busy_s", busy), ("iowait_s", iowait), ("softirq_s", softirq)]


def _sections(lines: Iterable[str]) -> dict[str, list[list[str]]]:
    name = _SECTIONS[0]
    sections: dict[str, list[list[str]]] = {}
    for line in lines:
        if line in _SECTIONS:
            name = line
            sections[name] = []
        elif fields := line.replace(":", ": ").split() if name == "interfaces" else line.split():
            sections.setdefault(name, []).append(fields)
    return sections


def _disk(fields: list[str]) -> tuple[str, str, list[tuple[str, float]]]:
    reads, writes = int(fields[3]), int(fields[7])
    if not reads and not writes and fields[2].startswith(("loop", "ram", "nbd", "zram", "sr", "fd")):
        raise ValueError("nothing is behind it")
    return (
        "far_disk",
        fields[2],
        [
            ("read_bytes", float(int(fields[5]) * _SECTOR_BYTES)),
            ("write_bytes", float(int(fields[9]) * _SECTOR_BYTES)),
            ("read_count", float(reads)),
            ("write_count", float(writes)),
            ("busy_s", int(fields[12]) / 1000),
        ],
    )


def _interface(fields: list[str]) -> tuple[str, str, list[tuple[str, float]]]:
    name = fields[0].removesuffix(":")
    if name == "lo":
        raise ValueError("leads nowhere")
    return "far_interface", name, [("rx_bytes", float(int(fields[1]))), ("tx_bytes", float(int(fields[9])))]


class _Processes:
    """Those that worked, each from the look before it was first seen to work."""

    def __init__(self, host: str) -> None:
        self._host = host
        self._before: dict[Process, float] = {}
        self._before_ns: int | None = None
        self._named: dict[Process, None] = {}

    def readings(self, at_ns: int, lines: Sequence[list[str]], hertz: float) -> list[Reading]:
        found: dict[Process, tuple[str, float]] = {}
        for fields in lines:
            if len(fields) >= 4 and fields[-2].isdigit():
                name = " ".join(fields[1:-2])[1:-1]
                found[fields[0], fields[-1]] = (f"{name}[{fields[0]}]", int(fields[-2]) / hertz)
        readings = self._of_new(found)
        readings += (self._reading(at_ns, found[each]) for each in self._named if each in found)
        self._before = {process: cpu_s for process, (_, cpu_s) in found.items()}
        self._before_ns = at_ns
        return readings

    def _of_new(self, found: Mapping[Process, tuple[str, float]]) -> list[Reading]:
        """What those that are named from now on had used at the look before."""
        if self._before_ns is None:
            return []
        grown = {process: cpu_s - self._before.get(process, 0.0) for process, (_, cpu_s) in found.items()}
        most = sorted(grown, key=lambda process: -grown[process])[:_NAMED_A_ROUND]
        new = [process for process in most if grown[process] >= _GREW_S and process not in self._named]
        new = new[: _NAMED_AT_MOST - len(self._named)]
        self._named.update(dict.fromkeys(new))
        names = ((found[process][0], self._before.get(process, 0.0)) for process in new)
        return [self._reading(self._before_ns, named) for named in names]

    def _reading(self, at_ns: int, named: tuple[str, float]) -> Reading:
        return Reading(at_ns, "far_process", f"{self._host}/{named[0]}", "cpu_s", named[1])
