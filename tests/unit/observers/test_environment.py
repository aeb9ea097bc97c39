from __future__ import annotations

import os
import platform
from pathlib import Path

from pathtrace.observers import environment


def test_this_host_is_described() -> None:
    described = environment.describe("workstation")

    (host,) = described.hosts
    assert (host.name, host.cores, host.servers) == ("workstation", os.cpu_count(), ())
    assert host.memory_bytes > (host.memory_available_bytes or 0) > 0
    assert described.python == platform.python_version()
    assert described.boot_at.endswith("+00:00")
    assert described.clock_resolution_ns >= 1
    assert {mount.fstype for mount in host.mounts} & {"proc", "sysfs", "tmpfs"} == set()


def test_what_tcp_takes_for_granted_here_is_known_where_the_kernel_says() -> None:
    kernel = Path("/proc/sys/net/ipv4/tcp_congestion_control")
    said = kernel.read_text().strip() if kernel.exists() else None
    assert environment.describe("workstation").hosts[0].congestion_control == said


def test_a_device_that_the_kernel_does_not_know_by_that_name_has_no_disk() -> None:
    assert environment._kernel_name("/dev/no-such-device") is None
    assert environment._kernel_name("nas:/export") is None


def test_graphics_cards_are_named_once(tmp_path: Path) -> None:
    information = tmp_path / "driver" / "nvidia" / "gpus" / "0000:01:00.0" / "information"
    information.parent.mkdir(parents=True)
    information.write_text("Model: \t\t NVIDIA GeForce RTX 3090\nIRQ: 1\n")
    for card, vendor in (("card0", "0x10de\n"), ("card1", "0x1002\n"), ("card1-HDMI-A-1", "0x1002\n")):
        (tmp_path / card / "device").mkdir(parents=True)
        (tmp_path / card / "device" / "vendor").write_text(vendor)

    gpus = environment._gpus(proc=str(tmp_path), drm=str(tmp_path))

    assert gpus == ("NVIDIA GeForce RTX 3090", "AMD (card1)")


def test_a_host_without_graphics_has_none(tmp_path: Path) -> None:
    assert environment._gpus(proc=str(tmp_path), drm=str(tmp_path / "none")) == ()
