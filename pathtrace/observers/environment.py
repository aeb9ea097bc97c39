"""What this host is: processor, memory, kernel, graphics, mounts, interfaces. Asked once per run.

Never looks into a mount, which could hang. Servers are filled in by whoever reached them.
"""

from __future__ import annotations

import os
import platform
import time
from datetime import UTC, datetime

import psutil

from pathtrace import __version__
from pathtrace.model.mount_table import MountLine, described, parse_mountinfo
from pathtrace.model.run import Environment, HostFacts, Mount
from pathtrace.observers import procfs
from pathtrace.observers.interface_facts import interfaces
from pathtrace.units import nanoseconds

_CONGESTION = "/proc/sys/net/ipv4/tcp_congestion_control"
_VENDORS = {"0x10de": "NVIDIA", "0x1002": "AMD", "0x8086": "Intel", "0x1af4": "virtio"}


def describe(host_name: str) -> Environment:
    """This host's facts under the scenario's name for it."""
    memory = psutil.virtual_memory()
    host = HostFacts(
        name=host_name,
        cpu=_cpu_model(),
        cores=psutil.cpu_count() or 1,
        memory_bytes=memory.total,
        memory_available_bytes=memory.available,
        kernel=f"{platform.system()} {platform.release()}",
        gpus=_gpus(),
        mounts=_mounts(),
        interfaces=interfaces(),
        servers=(),
        congestion_control=(procfs.read_text(_CONGESTION) or "").strip() or None,
    )
    return Environment(
        hosts=(host,),
        python=platform.python_version(),
        pathtrace=__version__,
        boot_at=datetime.fromtimestamp(psutil.boot_time(), UTC).isoformat(timespec="seconds"),
        clock_resolution_ns=max(1, nanoseconds(time.get_clock_info("perf_counter").resolution)),
    )


def _cpu_model() -> str | None:
    for line in (procfs.read_text("/proc/cpuinfo") or "").splitlines():
        name, _, value = line.partition(":")
        if name.strip() in ("model name", "Model", "Hardware") and value.strip():
            return value.strip()
    return platform.processor() or None


def _gpus(proc: str = "/proc", drm: str = "/sys/class/drm") -> tuple[str, ...]:
    found = list(_nvidia(f"{proc}/driver/nvidia/gpus"))
    for card in sorted(procfs.entries(drm)):
        if not card.startswith("card") or "-" in card:
            continue  # card0-HDMI-A-1 is a plug
        vendor = procfs.read_text(f"{drm}/{card}/device/vendor")
        if vendor and not (found and vendor == "0x10de"):
            found.append(f"{_VENDORS.get(vendor, vendor)} ({card})")
    return tuple(found)


def _nvidia(folder: str) -> tuple[str, ...]:
    models = []
    for gpu in sorted(procfs.entries(folder)):
        for line in (procfs.read_text(f"{folder}/{gpu}/information") or "").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "Model":
                models.append(value.strip())
    return tuple(models)


def _mounts() -> tuple[Mount, ...]:
    """Those with a device or a server behind them; without a mount table (macOS, Windows) psutil's list."""
    table = procfs.read_bytes("/proc/self/mountinfo")
    if table is None:
        lines = tuple(
            MountLine("", p.mountpoint, p.fstype, p.device) for p in psutil.disk_partitions(all=True)
        )
    else:
        lines = parse_mountinfo(table)
    mounts = [described(line, _kernel_name(line.device)) for line in lines]
    return tuple(mount for mount in mounts if mount.far or mount.device.startswith("/dev/"))


def _kernel_name(device: str) -> str | None:
    """``/dev/mapper/vg-root`` is a link to ``/dev/dm-0``: the device's name in the kernel's counters."""
    if not device.startswith("/dev/"):
        return None
    name = os.path.basename(os.path.realpath(device))
    return name if os.path.exists(f"/sys/class/block/{name}") else None
