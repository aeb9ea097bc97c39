"""A link from memory to memory against an iperf3 server that is already there, by the iperf3 program here.

For a host where nothing of ours runs. Reads what versions 3.1 to 3.21 write with ``-J``; the receiver's
figure counts. The first moments, in which TCP finds its speed, are in it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pathtrace.errors import OperationError
from pathtrace.model.run import Ceiling
from pathtrace.model.work import Clock
from pathtrace.probes.link_protocol import parse_address
from pathtrace.probes.responder_client import Way
from pathtrace.units import BITS_PER_BYTE, format_count, format_duration, format_link, seconds

DEFAULT_PORT = 5201
STREAMS = (1, 4)
_BUSY_TRIES = 5
_BUSY_PAUSE_S = 1.0
_GRACE_S = 10.0
_THREADED_SINCE = (3, 16)
_FULL_CORE_PERCENT = 85.0


class Iperf3BusyError(OperationError):
    """The server serves somebody else, and went on doing so."""


@dataclass(frozen=True, slots=True)
class Iperf3Result:
    """What one run of iperf3 said. Unknown parts are None."""

    bytes_per_s: float
    retransmits: int | None
    version: tuple[int, int] | None
    """Of the client, the only one that is told."""
    here_percent: float | None
    """Of one core, by iperf3 at this end."""
    there_percent: float | None


def read_result(text: str) -> Iperf3Result:
    """What ``iperf3 -J`` wrote. OperationError: it failed, with its own words; Iperf3BusyError."""
    document = _document(text)
    error = document.get("error")
    if isinstance(error, str):
        kind = Iperf3BusyError if "busy" in error else OperationError
        raise kind(f"iperf3: {error}")
    end = _mapping(document.get("end"))
    rate = _number(_mapping(end.get("sum_received")).get("bits_per_second")) or _of_streams(end)
    if not rate:
        raise OperationError("iperf3 tells no figure of the receiver")
    again, cpu = (
        _number(_mapping(end.get("sum_sent")).get("retransmits")),
        _mapping(end.get("cpu_utilization_percent")),
    )
    return Iperf3Result(
        rate / BITS_PER_BYTE,
        None if again is None else int(again),
        _version(_mapping(document.get("start")).get("version")),
        _number(cpu.get("host_total")),
        _number(cpu.get("remote_total")),
    )


def _document(text: str) -> Mapping[str, object]:
    try:
        return _mapping(json.loads(text))
    except (ValueError, RecursionError) as error:
        raise OperationError("what iperf3 wrote is no JSON") from error


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _of_streams(end: Mapping[str, object]) -> float:
    streams = end.get("streams")
    receivers = (
        [_mapping(_mapping(one).get("receiver")) for one in streams] if isinstance(streams, list) else []
    )
    return sum(_number(receiver.get("bits_per_second")) or 0.0 for receiver in receivers)


def _version(text: object) -> tuple[int, int] | None:
    match = re.search(r"\b(\d+)\.(\d+)", text) if isinstance(text, str) else None
    return (int(match[1]), int(match[2])) if match else None


class Iperf3Probe:
    """Measures ``way`` against the server at ``address`` with each number of streams; the better counts.

    OperationError: no iperf3 here, no server there; Iperf3BusyError after a few tries.
    """

    def __init__(
        self,
        resource: str,
        direction: str,
        way: Way,
        address: str,
        clock: Clock,
        *,
        length_s: int = 3,
        streams: Sequence[int] = STREAMS,
        busy_pause_s: float = _BUSY_PAUSE_S,
    ) -> None:
        self._resource = resource
        self._direction = direction
        self._way = way
        self._host, self._port = parse_address(address, DEFAULT_PORT)
        self._clock = clock
        self._length_s = length_s
        self._streams = streams
        self._busy_pause_s = busy_pause_s

    async def measure(self) -> Ceiling | None:
        """The link's ceiling in that direction. OperationError."""
        program = shutil.which("iperf3")
        if program is None:
            raise OperationError(
                "there is no iperf3 on this host", hint="install it, or use 'pathtrace respond' there"
            )
        start = self._clock()
        results = {streams: await self._patiently(program, streams) for streams in self._streams}
        best = max(results.values(), key=lambda result: result.bytes_per_s)
        return Ceiling(
            resource=self._resource,
            bytes_per_s=best.bytes_per_s,
            operations_per_s=None,
            latency_s=None,
            source="measured",
            evidence="; ".join((self._head(best), *(_text(count, each) for count, each in results.items()))),
            took_s=seconds(self._clock() - start),
            direction=self._direction,
        )

    def _head(self, result: Iperf3Result) -> str:
        version = f" {result.version[0]}.{result.version[1]}" if result.version else ""
        return f"from memory to memory by iperf3{version}, {format_duration(self._length_s)} each"

    async def _patiently(self, program: str, streams: int) -> Iperf3Result:
        for _ in range(_BUSY_TRIES - 1):
            with contextlib.suppress(Iperf3BusyError):
                return await self._run(program, streams)
            await asyncio.sleep(self._busy_pause_s)
        return await self._run(program, streams)

    async def _run(self, program: str, streams: int) -> Iperf3Result:
        arguments = [
            f"--client={self._host}",
            f"--port={self._port}",
            "-J",
            f"-t{self._length_s}",
            f"-P{streams}",
        ]
        if self._way is Way.TO_HERE:
            arguments.append("-R")
        process = await asyncio.create_subprocess_exec(
            program,
            *arguments,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            async with asyncio.timeout(self._length_s + _GRACE_S):
                out, _ = await process.communicate()
        except TimeoutError:
            raise OperationError("iperf3 did not come to an end") from None
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        return read_result(out.decode(errors="replace"))


def _text(streams: int, result: Iperf3Result) -> str:
    """``4 streams 941 Mbit/s, 12 segments sent again``."""
    parts = [f"{format_count(streams, 'stream')} {format_link(result.bytes_per_s)}"]
    if result.retransmits:
        parts.append(f"{format_count(result.retransmits, 'segment')} sent again")
    for end, percent in (("here", result.here_percent), ("there", result.there_percent)):
        if percent is not None and percent >= _FULL_CORE_PERCENT and _is_single(result):
            parts.append(
                f"iperf3 {end} used {percent:.0f} % of the one core that it can use: the link may do more"
            )
    return ", ".join(parts)


def _is_single(result: Iperf3Result) -> bool:
    """Older ones serve all streams from one thread. Of the server's version nothing is known."""
    return result.version is None or result.version < _THREADED_SINCE
