"""What each interface of this host is: speed, duplex, MTU, kind, driver, addresses, the slot it sits in.

Asked once per run. Netlink and ioctls tell of this process's own network namespace; sysfs may show another
one's, so it is used for what hangs on a bus address, and else only where the interface's number agrees.
"""

from __future__ import annotations

import array
import os
import re
import socket
import struct
import sys
from collections.abc import Iterable
from typing import Any

import psutil

from pathtrace.model.run import Interface
from pathtrace.observers import procfs
from pathtrace.observers.links import Link, links
from pathtrace.units import bytes_per_s_of_megabits

_LOOPBACK = 772
_ETHERNET = 1
_TUNNELS = frozenset((65534, 512, 768, 769, 776, 778, 823))
"""Hardware types: none (tun, WireGuard), PPP, IP in IP, IPv6 in IPv6, SIT, GRE, GRE over IPv6."""
_WIFI = frozenset((801, 802, 803))
_TUNNEL_KINDS = frozenset(
    (
        *("tun", "wireguard", "gre", "gretap", "ip6gre", "ip6gretap", "ipip", "sit", "vti", "vti6"),
        *("ip6tnl", "xfrm", "vxlan", "geneve", "ppp", "erspan", "ip6erspan", "amt", "gtp", "ovpn"),
    )
)
_UNTOLD = ("loopback", "tunnel")
"""Kinds without a speed of their own: a tunnel's driver makes one up (10 Mbit/s)."""

_PCI_ADDRESS = re.compile(r"[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
_MOST_LANES = 32
_WIFI_CLASS = "0x0280"
_ETHTOOL_IOCTL, _DRIVER_INFO = 0x8946, 3
_DRIVER_INFO_BYTES = 196


def interfaces(sysfs: str = "/sys") -> tuple[Interface, ...]:
    """Every interface, loopback too; what is not known of one is None."""
    known = {link.name: link for link in links()}
    addresses = psutil.net_if_addrs()
    found = []
    for name, stats in psutil.net_if_stats().items():
        link = known.get(name)
        driver, bus_address = _driver(name)
        bus_address = link.parent if link and link.parent_bus == "pci" else bus_address
        device = f"{sysfs}/bus/pci/devices/{bus_address}"
        kind = _kind(link, device, sysfs) if link else _plain_kind(stats.flags)
        here, best = pcie(device)
        speed = bytes_per_s_of_megabits(stats.speed) if stats.speed and kind not in _UNTOLD else None
        found.append(
            Interface(
                name=name,
                speed_bytes_per_s=speed,  # 0 is psutil's word for "the driver does not say"
                mtu_bytes=stats.mtu or None,
                up=stats.isup,
                duplex=_duplex(stats.duplex),
                kind=kind,
                driver=driver,
                addresses=_numeric(addresses.get(name, ())),
                pcie_bytes_per_s=here,
                pcie_best_bytes_per_s=best,
            )
        )
    return tuple(found)


def pcie(device: str) -> tuple[float | None, float | None]:
    """Bytes per second of a device's PCIe link: as negotiated, and the most that card and port both can."""
    now = _link(device, "current")
    sides = [_link(each, "max") for each in (device, os.path.dirname(os.path.realpath(device)))]
    known = [side for side in sides if side is not None]
    if now is None:
        return None, None
    best = _rate(min(speed for speed, _ in known), min(width for _, width in known)) if known else None
    return _rate(*now), best


def _link(device: str, which: str) -> tuple[float, int] | None:
    """Gigatransfers per second of a lane, and lanes."""
    speed = re.match(r"([\d.]+) GT/s", procfs.read_text(f"{device}/{which}_link_speed") or "")
    width = procfs.read_text(f"{device}/{which}_link_width")
    if speed is None or width is None or not width.isdigit() or not 0 < int(width) <= _MOST_LANES:
        return None
    return float(speed[1]), int(width)


def _rate(gigatransfers: float, lanes: int) -> float:
    # of 10 bits 8 carry data up to 5 GT/s, of 130 bits 128 above; headers of packets are not taken off
    carried = 8 / 10 if gigatransfers <= 5 else 128 / 130
    return bytes_per_s_of_megabits(gigatransfers * 1000 * carried * lanes)


def kind_of(link: Link, sysfs: str = "/sys") -> str | None:
    """ethernet, wifi, tunnel, or the kernel's word for another virtual one; None: it is nothing of these."""
    _, bus_address = _driver(link.name)
    bus_address = link.parent if link.parent_bus == "pci" else bus_address
    return _kind(link, f"{sysfs}/bus/pci/devices/{bus_address}", sysfs)


def _kind(link: Link, device: str, sysfs: str) -> str | None:
    if link.type == _LOOPBACK:
        return "loopback"
    if link.kind in _TUNNEL_KINDS or (link.kind is None and link.type in _TUNNELS):
        return "tunnel"
    if link.kind is not None:
        return link.kind
    if link.type in _WIFI or _is_wifi(link, device, sysfs):
        return "wifi"
    return "ethernet" if link.type == _ETHERNET else None


def _is_wifi(link: Link, device: str, sysfs: str) -> bool:
    if (procfs.read_text(f"{device}/class") or "").startswith(_WIFI_CLASS):
        return True
    folder = f"{sysfs}/class/net/{link.name}"
    same = procfs.read_text(f"{folder}/ifindex") == str(link.number)
    return same and os.path.exists(f"{folder}/phy80211")


def _plain_kind(flags: str) -> str | None:
    """Where the kernel does not list links: what the interface's flags tell."""
    return "loopback" if "loopback" in flags.split(",") else None


def _duplex(duplex: int) -> str | None:
    if duplex == psutil.NIC_DUPLEX_FULL:
        return "full"
    return "half" if duplex == psutil.NIC_DUPLEX_HALF else None


def _numeric(addresses: Iterable[Any]) -> tuple[str, ...]:
    """IPv4 and IPv6 addresses, zones left out."""
    families = (socket.AF_INET, socket.AF_INET6)
    return tuple(each.address.partition("%")[0] for each in addresses if each.family in families)


def _driver(name: str) -> tuple[str | None, str | None]:
    """The driver's name, and the PCI address of its device, by ETHTOOL_GDRVINFO; None where it is silent."""
    if not sys.platform.startswith("linux"):
        return None, None
    import fcntl

    answer = array.array("B", struct.pack("=I", _DRIVER_INFO) + bytes(_DRIVER_INFO_BYTES - 4))
    asked = struct.pack("16sP16x", name.encode()[:15], answer.buffer_info()[0])
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
            fcntl.ioctl(any_socket, _ETHTOOL_IOCTL, asked)
    except OSError:
        return None, None
    told = answer.tobytes()
    driver, bus = (_text(told[start : start + 32]) for start in (4, 100))
    return driver or None, bus if _PCI_ADDRESS.fullmatch(bus) else None


def _text(field: bytes) -> str:
    return field.partition(b"\0")[0].decode("utf-8", "replace")
