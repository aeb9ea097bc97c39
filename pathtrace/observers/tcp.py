"""The TCP sockets that lead to places' servers: what the kernel counted of them, added up by place.

By destination, whoever opened them: pathtrace, the helper of a mount, the kernel itself. What the counters
say of a limit is for analysis.
"""

from __future__ import annotations

import socket
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from statistics import median, median_low

from pathtrace.model.network import Endpoint
from pathtrace.model.sample import Reading
from pathtrace.model.tcp_info import MOST_BYTES, TcpInfo, decode
from pathtrace.observers.sock_diag import ESTABLISHED, Destination, Socket, destination, sockets_to
from pathtrace.units import seconds

_COUNTERS = (
    ("bytes_received", "bytes_received"),
    ("bytes_sent", "bytes_sent"),
    ("segments_in", "segments_in"),
    ("segments_out", "segments_out"),
    ("retransmits", "retransmits"),
    ("out_of_order", "out_of_order"),
    ("busy_s", "busy_s"),
    ("rwnd_limited_s", "rwnd_limited_s"),
    ("sndbuf_limited_s", "sndbuf_limited_s"),
)
"""Metric, and the field of ``TcpInfo`` that is added up for it."""

_PERIOD_S = 0.1
_DEAREST_S = 5.0
_LOOKS_TO_REST = 250
"""The kernel goes through a table of all its sockets for each look, and that of a large host is large:
looks become rarer there, so that they take half a hundredth of a core at most."""


class TcpObserver:
    """Observer "tcp", subject the place.

    Counters over its sockets, those that ended included: ``bytes_received``, ``bytes_sent`` (with what was
    sent again), ``segments_in``, ``segments_out``, ``retransmits`` (segments), ``out_of_order`` (segments
    received), ``busy_s``, ``rwnd_limited_s``, ``sndbuf_limited_s``. Gauges: ``sockets`` (established),
    ``rtt_s`` (median), ``min_rtt_s``, ``receive_queue_bytes`` and ``send_queue_bytes`` (sums), ``mss_bytes``
    and ``path_mtu_bytes`` (medians). What a socket counted after the last look at it is not seen.
    """

    name = "tcp"

    def __init__(self, endpoints: Mapping[str, Endpoint]) -> None:
        """``endpoints`` by place. Those whose address is not numeric are left out."""
        self._tallies: dict[str, _Tally] = {}
        self._places: dict[Destination, list[str]] = {}
        for place, endpoint in endpoints.items():
            to = _destination(endpoint)
            if to is not None:
                self._tallies[place] = _Tally()
                self._places.setdefault(to, []).append(place)
        self._known = _counted_here() if self._places else ()
        self._look_s = 0.0

    @property
    def period_s(self) -> float:
        """Ten times a second, unless a look is dear here."""
        return min(_DEAREST_S, max(_PERIOD_S, self._look_s * _LOOKS_TO_REST))

    def observe(self, at_ns: int) -> Sequence[Reading]:
        """Readings of every place, also of one without a socket; none where the kernel does not tell."""
        if not self._known:
            return []
        began = time.perf_counter_ns()
        try:
            found = sockets_to(self._places)
        except OSError:
            return []
        readings = [
            Reading(at_ns, "tcp", place, metric, value)
            for place, sockets in self._sorted(found).items()
            for metric, value in self._tallies[place].metrics(sockets, self._known)
        ]
        self._look_s += (seconds(time.perf_counter_ns() - began) - self._look_s) / 8
        return readings

    def _sorted(self, found: Iterable[Socket]) -> dict[str, list[Socket]]:
        """By place; a place that names a port has the sockets to that port."""
        sockets: dict[str, list[Socket]] = {place: [] for place in self._tallies}
        for each in found:
            for to in ((each.address, each.port), (each.address, None)):
                for place in self._places.get(to, ()):
                    sockets[place].append(each)
        return sockets


class _Tally:
    """Counters of one place's sockets: of those that are there, and of those that were."""

    def __init__(self) -> None:
        self._last: dict[int, TcpInfo] = {}
        self._ended: dict[str, float] = {}

    def metrics(self, sockets: Sequence[Socket], known: Sequence[tuple[str, str]]) -> list[tuple[str, float]]:
        infos = {each.cookie: decode(each.info) for each in sockets}
        for cookie in self._last.keys() - infos.keys():
            self._keep(self._last[cookie])
        self._last = infos
        counters = [(metric, self._ended.get(field, 0.0) + _sum(infos, field)) for metric, field in known]
        return counters + _gauges(sockets, infos.values())

    def _keep(self, ended: TcpInfo) -> None:
        for _, field in _COUNTERS:
            self._ended[field] = self._ended.get(field, 0.0) + (getattr(ended, field) or 0)


def _sum(infos: Mapping[int, TcpInfo], field: str) -> float:
    return float(sum(getattr(info, field) or 0 for info in infos.values()))


def _gauges(sockets: Sequence[Socket], infos: Iterable[TcpInfo]) -> list[tuple[str, float]]:
    alive = [info for info in infos if info.state is not None]
    rtts = [info.rtt_s for info in alive if info.rtt_s is not None]
    least = [info.min_rtt_s for info in alive if info.min_rtt_s is not None]
    sizes = [size for info in alive if (size := _segment_bytes(info)) is not None]
    mtus = [info.path_mtu_bytes for info in alive if info.path_mtu_bytes is not None]
    found = [
        ("sockets", float(sum(each.state == ESTABLISHED for each in sockets))),
        ("receive_queue_bytes", float(sum(each.receive_queue_bytes for each in sockets))),
        ("send_queue_bytes", float(sum(each.send_queue_bytes for each in sockets))),
        ("rtt_s", median(rtts) if rtts else None),
        ("min_rtt_s", min(least, default=None)),
        ("mss_bytes", float(median_low(sizes)) if sizes else None),
        ("path_mtu_bytes", float(median_low(mtus)) if mtus else None),
    ]
    return [(metric, value) for metric, value in found if value is not None]


def _segment_bytes(info: TcpInfo) -> int | None:
    """Of the direction with more bytes: a kernel only guesses (536) the size of what it seldom receives."""
    received, sent = info.bytes_received or 0, info.bytes_acked or 0
    return (info.receive_mss_bytes if received > sent else info.mss_bytes) or None


def _destination(endpoint: Endpoint) -> Destination | None:
    try:
        return destination(endpoint.address, endpoint.port)
    except ValueError:
        return None


def _counted_here() -> tuple[tuple[str, str], ...]:
    """The counters that this kernel has, asked of a socket that leads nowhere: without any socket to a
    server they are zero, and those that it does not have are unknown."""
    if not sys.platform.startswith("linux"):
        return ()
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as own:
        info = decode(own.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, MOST_BYTES))
    return tuple((metric, field) for metric, field in _COUNTERS if getattr(info, field) is not None)
