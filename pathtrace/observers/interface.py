"""Network interfaces: what went in and out of each. Which link an interface belongs to is not known here.

All of this process's own network namespace: not from ``/sys/class/net``, which shows the one it was
mounted in.
"""

from __future__ import annotations

from collections.abc import Sequence

import psutil

from pathtrace.model.sample import Reading
from pathtrace.observers import links
from pathtrace.units import NANOSECONDS_PER_SECOND

_SLOWLY_NS = NANOSECONDS_PER_SECOND
_OFTEN = (
    ("rx_bytes", "bytes_recv"),
    ("tx_bytes", "bytes_sent"),
    ("rx_packets", "packets_recv"),
    ("tx_packets", "packets_sent"),
)
_SELDOM = (
    ("rx_errors", "errin"),
    ("rx_dropped", "dropin"),
    ("tx_dropped", "dropout"),
)


class InterfaceObserver:
    """Observer "interface", subject its name: ``rx_bytes``, ``tx_bytes``, ``rx_packets``, ``tx_packets``.

    Once a second also ``rx_errors``, ``rx_dropped``, ``tx_dropped``, and on Linux ``carrier_changes`` (how
    often the link went away or came back).
    """

    name = "interface"
    period_s = 0.1

    def __init__(self) -> None:
        self._slow_ns: int | None = None

    def observe(self, at_ns: int) -> Sequence[Reading]:
        """Readings of every interface, loopback too."""
        slowly = self._slow_ns is None or at_ns - self._slow_ns >= _SLOWLY_NS
        metrics = _OFTEN + _SELDOM if slowly else _OFTEN
        # nowrap is psutil's own bookkeeping over all devices; 64-bit counters do not wrap in a run.
        readings = [
            Reading(at_ns, "interface", name, metric, float(getattr(counters, field)))
            for name, counters in psutil.net_io_counters(pernic=True, nowrap=False).items()
            for metric, field in metrics
        ]
        if slowly:
            self._slow_ns = at_ns
            readings += (
                Reading(at_ns, "interface", name, "carrier_changes", float(count))
                for name, count in links.carrier_changes()
            )
        return readings
