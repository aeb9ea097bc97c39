"""The ``environment`` of a run's document: the hosts as they were seen."""

from __future__ import annotations

from pathtrace.model.run import Environment, HostFacts
from pathtrace.render.figures import Document, Json


def environment(environment: Environment) -> Document:
    return {
        "hosts": {host.name: _host(host) for host in environment.hosts},
        "python": environment.python,
        "pathtrace": environment.pathtrace,
        "boot_at": environment.boot_at,
    }


def _host(host: HostFacts) -> Document:
    mounts: list[Json] = [
        {
            "path": mount.path,
            "device": mount.device,
            "fstype": mount.fstype,
            "disk": mount.disk,
            "network": mount.network,
            "server": mount.server,
            "there": mount.there,
            "options": list(mount.options),
        }
        for mount in host.mounts
    ]
    interfaces: list[Json] = [
        {
            "name": interface.name,
            "speed_bytes_per_s": interface.speed_bytes_per_s,
            "mtu_bytes": interface.mtu_bytes,
            "up": interface.up,
            "duplex": interface.duplex,
            "kind": interface.kind,
            "driver": interface.driver,
            "addresses": list(interface.addresses),
            "pcie_bytes_per_s": interface.pcie_bytes_per_s,
            "pcie_best_bytes_per_s": interface.pcie_best_bytes_per_s,
        }
        for interface in host.interfaces
    ]
    return {
        "cpu": host.cpu,
        "memory_bytes": host.memory_bytes or None,  # 0: another host that did not tell
        "kernel": host.kernel,
        "gpus": list(host.gpus),
        "mounts": mounts,
        "interfaces": interfaces,
        "servers": list(host.servers),
    }
