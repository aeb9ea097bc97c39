"""A link from memory to memory, one direction, against pathtrace's responder on the other host.

What TCP carries as payload is measured: no disk, no protocol of a file server, no cipher. Tries one stream
and several, since a long way or a slow core may hold one stream back that the link itself would not; and
single pieces, large and small, since files that are read one by one are such.
"""

from __future__ import annotations

import asyncio
import statistics
import threading
from collections.abc import Callable, Sequence

from pathtrace.errors import OperationError
from pathtrace.model.run import Ceiling
from pathtrace.model.tcp_info import TcpInfo
from pathtrace.model.work import Clock
from pathtrace.probes.echo_client import SMALL, EchoClient
from pathtrace.probes.link_pieces import pieces_text
from pathtrace.probes.responder_client import ResponderClient, Transfer, Way
from pathtrace.units import format_count, format_duration, format_link, seconds

STREAMS = (1, 4)
_NO_DATA = "larger packets may vanish on the way: compare the MTU of both ends and of the way"
_IDLE_TRIES = 10
_PAUSE_S = 0.05
_PATIENCE_S = 0.5
_PIECES_S = 1.0


class LinkProbe:
    """Measures ``way`` for about ``length_s`` with each number of streams; the ceiling is the better.

    ``client`` is shared by the probes of one run, and closed by whoever made it. A figure of the receiver's
    clock; ``warmup_s`` before it are left out. LinkError: the responder refused, is busy, went away.
    """

    def __init__(
        self,
        resource: str,
        direction: str,
        way: Way,
        client: ResponderClient,
        clock: Clock,
        *,
        length_s: float = 2.0,
        warmup_s: float = 0.3,
        streams: Sequence[int] = STREAMS,
    ) -> None:
        self._resource = resource
        self._direction = direction
        self._way = way
        self._client = client
        self._clock = clock
        self._length_s = length_s
        self._warmup_s = warmup_s
        self._streams = streams

    async def measure(self) -> Ceiling | None:
        """The link's ceiling in that direction. LinkError."""
        try:
            return await asyncio.to_thread(self._measure)
        except asyncio.CancelledError:
            self._client.abort()  # the thread ends with its next look
            raise

    def _measure(self) -> Ceiling:
        start = self._clock()
        idle_s = self._idle_rtt_s()
        results: list[_Result] = []
        for streams in self._streams:
            results.append(self._transfer(streams))
            if results[-1].transfer.bytes_per_s == 0:
                raise OperationError(
                    f"{self._direction}: connections are made, but no data arrives", hint=_NO_DATA
                )
        alone = pieces_text(self._client.pieces(self._way, _PIECES_S))
        best = max(results, key=lambda result: result.transfer.bytes_per_s)
        return Ceiling(
            resource=self._resource,
            bytes_per_s=best.transfer.bytes_per_s,
            operations_per_s=None,
            latency_s=idle_s if idle_s is not None else _least_rtt_s(results),
            source="measured",
            evidence="; ".join(filter(None, (self._evidence(results, idle_s), alone))),
            took_s=seconds(self._clock() - start),
            direction=self._direction,
        )

    def _transfer(self, streams: int) -> _Result:
        with _Loaded(self._client.echo()) as loaded:
            transfer = self._client.transfer(self._way, streams, self._length_s, self._warmup_s)
        return _Result(streams, transfer, loaded.median_s)

    def _idle_rtt_s(self) -> float | None:
        """Of a small packet while nothing else is under way."""
        echo = self._client.echo()
        return _median(_round_trips(echo, lambda count: count >= _IDLE_TRIES)) if echo else None

    def _evidence(self, results: Sequence[_Result], idle_s: float | None) -> str:
        control = self._client.congestion_control() if self._way is Way.TO_HERE else None
        by = f" ({control})" if control else ""
        length = format_duration(self._length_s)
        parts = [f"from memory to memory by the responder, {length} each{by}"]
        parts += [result.text() for result in results]
        loaded_s = max(
            (result.loaded_rtt_s for result in results if result.loaded_rtt_s is not None), default=None
        )
        if idle_s is not None:
            under = f", {format_duration(loaded_s)} under load" if loaded_s is not None else ""
            parts.append(f"a small packet there and back takes {format_duration(idle_s)} idle{under}")
        return "; ".join(parts)


class _Result:
    """One transfer, and how long a small packet took meanwhile."""

    def __init__(self, streams: int, transfer: Transfer, loaded_rtt_s: float | None) -> None:
        self.streams = streams
        self.transfer = transfer
        self.loaded_rtt_s = loaded_rtt_s

    def text(self) -> str:
        """``4 streams 941 Mbit/s, 12 segments sent again``."""
        rate = format_link(self.transfer.bytes_per_s)
        return ", ".join((f"{format_count(self.streams, 'stream')} {rate}", *self._senders()))

    def _senders(self) -> list[str]:
        infos = self.infos
        again = [info.retransmits for info in infos if info.retransmits is not None]
        said = [f"{format_count(sum(again), 'segment')} sent again"] if sum(again) else []
        busy_s = sum(info.busy_s or 0.0 for info in infos)
        for name, limited in (
            ("the receiver's window", [info.rwnd_limited_s for info in infos]),
            ("the sender's buffer", [info.sndbuf_limited_s for info in infos]),
        ):
            share = sum(part or 0.0 for part in limited) / busy_s if busy_s else 0.0
            if share >= 0.1:
                said.append(f"held by {name} {share:.0%} of the time")
        return said

    @property
    def infos(self) -> list[TcpInfo]:
        """Of the sender's sockets."""
        return [report.tcp for report in self.transfer.sent if report.tcp is not None]


class _Loaded:
    """Sends small packets there and back while something else goes on."""

    def __init__(self, echo: EchoClient | None) -> None:
        self._echo = echo
        self._times: list[float] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="link-latency", daemon=True)

    @property
    def median_s(self) -> float | None:
        return _median(self._times)

    def __enter__(self) -> _Loaded:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        if self._echo is not None:
            self._times = _round_trips(self._echo, lambda _: self._over.wait(_PAUSE_S))


def _round_trips(echo: EchoClient, enough: Callable[[int], bool]) -> list[float]:
    """Times of small packets, asked for one after the other; closes ``echo``. Stops at the first lost few."""
    times: list[float] = []
    tries = 0
    try:
        while not enough(tries) and tries - len(times) < 3:
            tries += 1
            outcome = echo.exchange(SMALL, SMALL, _PATIENCE_S)
            if outcome.rtt_s is not None:
                times.append(outcome.rtt_s)
    finally:
        echo.close()
    return times


def _median(times: Sequence[float]) -> float | None:
    return statistics.median(times) if times else None


def _least_rtt_s(results: Sequence[_Result]) -> float | None:
    least = [info.min_rtt_s for result in results for info in result.infos if info.min_rtt_s is not None]
    return min(least, default=None)
