"""What another host is, as text: the question to a plain shell there, and the facts in its answer."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from shlex import quote

from pathtrace.model.mount_table import described, parse_mountinfo
from pathtrace.model.run import HostFacts, Interface, Mount
from pathtrace.units import bytes_per_s_of_megabits

_MARK = "@pathtrace "
_UNIT_BYTES = 1024
"""``/proc/meminfo`` counts in units of 1024 bytes."""
_LOOPBACK, _WITHOUT_HARDWARE = "772", "65534"

_QUESTIONS = {
    "cpu": "grep -E '^(model name|Model|Hardware)' /proc/cpuinfo | head -n 1",
    "cores": "getconf _NPROCESSORS_ONLN || grep -c ^processor /proc/cpuinfo",
    "memory": "grep -E '^(MemTotal|MemAvailable):' /proc/meminfo",
    "kernel": "uname -sr",
    "mounts": "cat /proc/self/mountinfo",
    "names": "cat /proc/net/dev",
    "links": "ip -o link",
    "addresses": "ip -o addr",
    "sysfs": (
        'for i in /sys/class/net/*; do echo "${i##*/}|$(cat $i/ifindex)|$(cat $i/speed)|$(cat $i/duplex)|'
        "$(cat $i/mtu)|$(cat $i/operstate)|$(cat $i/type)|"
        "$([ -e $i/phy80211 ] && echo wifi; [ -e $i/bridge ] && echo bridge;"
        " [ -e $i/tun_flags ] && echo tunnel)|"
        '$(basename "$(readlink $i/device/driver)")"; done'
    ),
}
_SCRIPT = "; ".join(
    (
        "LC_ALL=C; export LC_ALL; PATH=$PATH:/sbin:/usr/sbin; exec 2>/dev/null",
        *(f"echo '{_MARK}{name}'; {question}" for name, question in _QUESTIONS.items()),
        "true",
    )
)
COMMAND = f"exec sh -c {quote(_SCRIPT)}"


def parse(name: str, answer: str) -> HostFacts:
    """The facts of the host that the scenario calls ``name``."""
    parts = _parts(answer)
    memory = {line.partition(":")[0]: line.split() for line in parts["memory"]}
    cores = parts["cores"][0].strip() if parts["cores"] else ""
    return HostFacts(
        name=name,
        cpu=parts["cpu"][0].partition(":")[2].strip() or None if parts["cpu"] else None,
        cores=int(cores) if cores.isdigit() else 1,
        memory_bytes=_bytes(memory.get("MemTotal")) or 0,
        memory_available_bytes=_bytes(memory.get("MemAvailable")),
        kernel=parts["kernel"][0].strip() if parts["kernel"] else "unknown",
        gpus=(),
        mounts=_mounts("\n".join(parts["mounts"])),
        interfaces=_interfaces(parts),
        servers=(),
    )


def _parts(answer: str) -> dict[str, list[str]]:
    parts: dict[str, list[str]] = {name: [] for name in _QUESTIONS}
    lines: list[str] = []
    for line in answer.splitlines():
        if line.startswith(_MARK):
            lines = parts.setdefault(line.removeprefix(_MARK), [])
        else:
            lines.append(line)
    return parts


def _bytes(fields: Sequence[str] | None) -> int | None:
    return int(fields[1]) * _UNIT_BYTES if fields and len(fields) > 1 and fields[1].isdigit() else None


def _mounts(table: str) -> tuple[Mount, ...]:
    mounts = (described(line, None) for line in parse_mountinfo(os.fsencode(table)))
    return tuple(mount for mount in mounts if mount.far or mount.device.startswith("/dev/"))


def _interfaces(parts: Mapping[str, Sequence[str]]) -> tuple[Interface, ...]:
    """By /proc/net/dev, which is of the shell's own network namespace; sysfs, which may be of another one,
    is believed of an interface that has the same number there."""
    names = [line.partition(":")[0].strip() for line in parts["names"] if ":" in line]
    links = {fields[1].partition("@")[0]: fields for fields in (line.split(":") for line in parts["links"])}
    sysfs = {fields[0]: fields for fields in (line.split("|") for line in parts["sysfs"]) if len(fields) == 9}
    addresses = _addresses(parts["addresses"])
    found = []
    for name in names:
        link = links.get(f" {name}")
        seen = sysfs.get(name)
        if seen is not None and link is not None and seen[1] != link[0].strip():
            seen = None
        found.append(_interface(name, ":".join(link[2:]) if link else "", seen, addresses.get(name, ())))
    return tuple(found)


def _interface(name: str, link: str, seen: Sequence[str] | None, addresses: tuple[str, ...]) -> Interface:
    """``link`` as ``ip link`` describes it, ``seen`` as sysfs does."""
    _, _, speed, duplex, mtu, state, hardware, kind, driver = seen or ("",) * 9
    words = link.split()
    if "mtu" in words:
        mtu = words[words.index("mtu") + 1]
    flags = words[0].strip("<>").split(",") if words else []
    kind = _kind(kind, hardware, flags, driver) or ""
    known = speed.isdigit() and int(speed) > 0 and kind not in ("tunnel", "loopback")
    return Interface(
        name=name,
        speed_bytes_per_s=bytes_per_s_of_megabits(int(speed)) if known else None,
        mtu_bytes=int(mtu) if mtu.isdigit() else None,
        up="UP" in flags if flags else state == "up",
        duplex=duplex if duplex in ("full", "half") else None,
        kind=kind or None,
        driver=driver or None,
        addresses=addresses,
    )


def _kind(kind: str, hardware: str, flags: Sequence[str], driver: str) -> str | None:
    if hardware == _LOOPBACK or "LOOPBACK" in flags:
        return "loopback"
    if hardware == _WITHOUT_HARDWARE or "POINTOPOINT" in flags:
        return "tunnel"
    return kind.strip() or ("ethernet" if driver else None)


def _addresses(lines: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Of ``2: eth0    inet 10.0.0.5/24 …``."""
    found: dict[str, tuple[str, ...]] = {}
    for fields in (line.split() for line in lines):
        if len(fields) > 3 and fields[2] in ("inet", "inet6"):
            found[fields[1]] = (*found.get(fields[1], ()), fields[3].partition("/")[0])
    return found
