"""How fast a cable of the lab is: a token bucket on each of its two ends, and what TCP gets through it.

The bucket counts bytes as the kernel does: with TSO a "packet" is up to 64 KB, whose headers it
multiplies by its segments. A size table (`stab overhead 24`) throws that away and then charges 24 bytes
per 64 KB (measured: 999 Mbit/s of payload at 1gbit), so what Ethernet adds to each frame (preamble,
checksum, gap: 24 bytes on 1514) is taken off the rate instead. Exact for full frames of MTU 1500.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys

from .hosts import Host

UNSHAPED = "unshaped"

# Small, as what a bucket saved up while idle goes at memory speed and small files would see it; not smaller,
# as a busy machine that comes late loses what the bucket cannot hold. Each is 1 to 3 ms of its link.
_BURSTS = {"100mbit": "32kb", "1gbit": "256kb", "2500mbit": "512kb", "10gbit": "1mb"}
_BITS_PER_S = {"100mbit": 100e6, "1gbit": 1e9, "2500mbit": 2.5e9, "10gbit": 10e9}
LINKS = (*_BITS_PER_S, UNSHAPED)

_FRAME, _ON_THE_WIRE, _TCP_PAYLOAD = 1514, 1538, 1448
_PATIENCE = "20ms"  # how long a frame may queue before the link drops it, like a switch's buffer


def payload_bits_per_s(link: str) -> float:
    """What one TCP stream carries over an otherwise idle cable: 941.5 Mbit/s over 1 Gbit/s."""
    return _BITS_PER_S[link] * _TCP_PAYLOAD / _ON_THE_WIRE


def shape(end: Host, device: str, link: str, burst: str | None = None) -> None:
    """Let `device` of `end` send at most at the speed of `link` from now on (one of LINKS).

    A smaller `burst` is nearer to a wire where requests come one by one, and loses some of the rate on a busy
    machine. Packets that exceed it are cut into frames on behalf of whoever sends: behind a full 1 Gbit/s
    that alone fills a core (`send_smaller_packets`).
    """
    if link not in LINKS:
        raise ValueError(f"no such link {link!r}; there are {', '.join(LINKS)}")
    if link != UNSHAPED:
        rate = f"{_BITS_PER_S[link] * _FRAME / _ON_THE_WIRE / 1e3:.0f}kbit"
        bucket = ["tbf", "rate", rate, "burst", burst or _BURSTS[link], "latency", _PATIENCE]
        end.run("tc", "qdisc", "replace", "dev", device, "root", "handle", "1:", *bucket)
    elif "tbf" in end.run("tc", "qdisc", "show", "dev", device):
        end.run("tc", "qdisc", "del", "dev", device, "root")


def send_smaller_packets(end: Host, device: str, most: int) -> None:
    """Let `device` send packets of at most so many bytes, on connections that are made from now on."""
    end.run("ip", "link", "set", "dev", device, "gso_max_size", str(most))


def send_single_frames(end: Host, device: str) -> None:
    """Let `device` send frames as they are on a wire; without this, up to 45 travel as one packet."""
    end.run("ethtool", "-K", device, "tso", "off", "gso", "off")


@functools.cache
def why_not() -> str | None:
    """Why no shaped links between namespaces can be had here, or None."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "network namespaces need Linux and root"
    for tool in ("ip", "tc", "nsenter", "unshare", "ethtool", "sysctl"):
        if shutil.which(tool) is None:
            return f"the lab's network needs {tool}"
    trial = ["tc", "qdisc", "add", "dev", "lo", "root", "tbf", "rate", "1gbit", "burst", "128kb"]
    done = subprocess.run(
        ["unshare", "--net", "--mount", "--", *trial, "latency", "20ms"], capture_output=True, text=True
    )
    return f"no shaped link in a namespace: {done.stderr.strip()}" if done.returncode else None
