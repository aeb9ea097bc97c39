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
from pathtrace.model.run import Environment, HostFacts, Interface, Mount
from pathtrace.observers import procfs
from pathtrace.units import bytes_per_s_of_megabits, nanoseconds

_NETWORK_TYPES = frozenset(
    (
        *("nfs", "nfs4", "cifs", "smb2", "smb3", "smbfs", "afpfs", "webdav", "davfs", "ceph", "glusterfs"),
        *("lustre", "afs", "9p", "virtiofs", "fuse.sshfs", "fuse.rclone", "fuse.glusterfs", "fuse.ceph"),
        *("fuse.s3fs", "fuse.davfs2"),
    )
)
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
        interfaces=_interfaces(),
        servers=(),
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
    mounts = [_mount(p.mountpoint, p.device, p.fstype) for p in psutil.disk_partitions(all=True)]
    return tuple(mount for mount in mounts if mount.network or mount.device.startswith("/dev/"))


def _mount(path: str, device: str, fstype: str) -> Mount:
    network = fstype in _NETWORK_TYPES or (not device.startswith("/") and ":" in device)
    return Mount(path=path, device=device, fstype=fstype, disk=_kernel_name(device), network=network)


def _kernel_name(device: str) -> str | None:
    """``/dev/mapper/vg-root`` is a link to ``/dev/dm-0``: the device's name in the kernel's counters."""
    if not device.startswith("/dev/"):
        return None
    name = os.path.basename(os.path.realpath(device))
    return name if os.path.exists(f"/sys/class/block/{name}") else None


def _interfaces() -> tuple[Interface, ...]:
    return tuple(
        Interface(
            name=name,
            # 0 is psutil's word for "the driver does not say"
            speed_bytes_per_s=bytes_per_s_of_megabits(stats.speed) if stats.speed else None,
            mtu_bytes=stats.mtu or None,
            up=stats.isup,
        )
        for name, stats in psutil.net_if_stats().items()
    )
