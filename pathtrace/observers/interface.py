"""Network interfaces: bytes received and sent. Which link an interface belongs to is not known here."""

from __future__ import annotations

from collections.abc import Sequence

import psutil

from pathtrace.model.sample import Reading


class InterfaceObserver:
    """Observer "interface", subject its name: ``rx_bytes``, ``tx_bytes``."""

    period_s = 0.1

    def observe(self, at_ns: int) -> Sequence[Reading]:
        """Two readings per interface, loopback too."""
        readings: list[Reading] = []
        # nowrap is psutil's own bookkeeping over all devices; 64-bit counters do not wrap in a run.
        for name, counters in psutil.net_io_counters(pernic=True, nowrap=False).items():
            readings.append(Reading(at_ns, "interface", name, "rx_bytes", float(counters.bytes_recv)))
            readings.append(Reading(at_ns, "interface", name, "tx_bytes", float(counters.bytes_sent)))
        return readings
