"""The disk under a place, on its own host, over a shell and with nothing installed there: `dd`.

Reads the very files past that host's cache (direct I/O), so that neither link nor protocol is in the figure.
Where its `dd` or file system cannot, there is no figure, and the evidence says so. Knows no ssh.
"""

from __future__ import annotations

import re
import shlex
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle

from pathtrace.errors import OperationError
from pathtrace.model.run import Ceiling
from pathtrace.model.work import Clock
from pathtrace.ports import Shell
from pathtrace.units import (
    GIB,
    MIB,
    format_bytes,
    format_count,
    format_count_rate,
    format_rate,
    seconds,
)

DEPTHS = (1, 4)
"""Reads in flight; the faster counts."""
CHUNK_MIB = 16
LIMIT_BYTES = GIB
LIMIT_S = 2
_TIMEOUT_S = 40.0
"""Beyond the time that reading may take: a chunk of a very slow disk, the shell itself."""
_LONGEST_COMMAND = 100_000
"""Bytes: a kernel takes 128 KiB as one argument."""
_MOST_SMALL_FILES = 400
_IN_MEMORY = frozenset({"tmpfs", "ramfs"})
_CACHED_ANYWAY = frozenset({"zfs"})
"""File systems that take direct reads and may still serve them from memory."""

_SUMMARY = re.compile(r"^(\d+) bytes\b.*copied, ([0-9.]+(?:e-?\d+)?) s", re.MULTILINE)

_READ = "dd if=%s of=/dev/null bs=1M iflag=direct"
_ENGLISH = "LC_ALL=C; export LC_ALL; "


@dataclass(frozen=True, slots=True)
class _Chunk:
    path: str
    skip_mib: int
    count_mib: int

    def command(self) -> str:
        return f"{_READ % _word(self.path)} skip={self.skip_mib} count={self.count_mib} 2>&1"


class FarDiskProbe:
    """Large files: bytes per second of the host's own disk. ``files`` are paths there, and sizes.

    Reads at most 1 GiB for about ``limit_s``. OperationError: the host cannot be asked.
    """

    def __init__(
        self,
        resource: str,
        shell: Shell,
        files: Sequence[tuple[str, int]],
        clock: Clock,
        *,
        limit_s: int = LIMIT_S,
        limit_bytes: int = LIMIT_BYTES,
    ) -> None:
        self._resource = resource
        self._shell = shell
        self._chunks = _chunks(files, limit_bytes)
        self._clock = clock
        self._limit_s = limit_s

    async def measure(self) -> Ceiling | None:
        """Rate of sequential reads; None without files that are large enough, or if they lie in memory."""
        if not self._chunks:
            return None
        start = self._clock()
        ground = await _ground(self._shell, self._chunks[0].path)
        if ground.in_memory:
            return None
        if ground.trouble is not None:
            return _unknown(self._resource, ground.trouble, seconds(self._clock() - start))
        rates = {depth: await self._rates(depth) for depth in DEPTHS}
        texts = [_rate_text(depth, found) for depth, found in rates.items() if found]
        if not texts:
            return _unknown(self._resource, "none of its files could be read", seconds(self._clock() - start))
        best = max(statistics.median(found) for found in rates.values() if found)
        return Ceiling(
            self._resource,
            bytes_per_s=best,
            operations_per_s=None,
            latency_s=None,
            source="measured",
            evidence=f"direct reads by dd on its own host: {'; '.join(texts)}{ground.doubt}",
            took_s=seconds(self._clock() - start),
        )

    async def _rates(self, depth: int) -> list[float]:
        """Bytes per second of each chunk, as dd there timed it, times the reads in flight."""
        chunks = self._chunks[:: len(DEPTHS)] if depth == DEPTHS[0] else self._chunks[1 :: len(DEPTHS)]
        if len(chunks) < depth:
            return []
        lanes = [chunks[lane::depth] for lane in range(depth)]
        loops = [f"( {'; '.join(map(self._step, lane))} ) &" for lane in lanes]
        script = f"end=$(( $(date +%s) + {self._limit_s} )); {' '.join(loops)} wait"
        said = await self._shell.run(_ENGLISH + script, self._limit_s + _TIMEOUT_S)
        return [depth * moved / taken for moved, taken in _summaries(said) if moved and taken]

    @staticmethod
    def _step(chunk: _Chunk) -> str:
        return f"[ $(date +%s) -gt $end ] || {chunk.command()}"


class FarFilesProbe:
    """Small files: how many whole ones the host's own disk gives per second.

    OperationError: the host cannot be asked.
    """

    def __init__(self, resource: str, shell: Shell, files: Sequence[tuple[str, int]], clock: Clock) -> None:
        self._resource = resource
        self._shell = shell
        self._paths = _fitting([path for path, size in files if size > 0])
        self._clock = clock

    async def measure(self) -> Ceiling | None:
        """Files per second; None without files or if they lie in memory."""
        if not self._paths:
            return None
        start = self._clock()
        ground = await _ground(self._shell, self._paths[0])
        if ground.in_memory:
            return None
        if ground.trouble is not None:
            return _unknown(self._resource, ground.trouble, seconds(self._clock() - start))
        halves = {depth: self._paths[index :: len(DEPTHS)] for index, depth in enumerate(DEPTHS)}
        rates = {depth: await self._files_per_s(paths, depth) for depth, paths in halves.items()}
        told = {depth: rate for depth, rate in rates.items() if rate is not None}
        took_s = seconds(self._clock() - start)
        if not told:
            return _unknown(self._resource, "its files are read as quickly as dd is started there", took_s)
        texts = [f"depth {depth}: {format_count_rate(rate)}" for depth, rate in told.items()]
        return Ceiling(
            self._resource,
            bytes_per_s=None,
            operations_per_s=max(told.values()),
            latency_s=None,
            source="measured",
            evidence=f"{format_count(len(self._paths), 'small file')} read by dd on its own host, past its "
            f"cache: {', '.join(texts)}{ground.doubt}",
            took_s=took_s,
        )

    async def _files_per_s(self, paths: Sequence[str], depth: int) -> float | None:
        """What is left of the time once that of starting dd is taken off; None if that is most of it."""
        if len(paths) < depth:
            return None
        reading = await self._timed(paths, depth, _READ % '"$f"')
        starting = await self._timed(paths, depth, "dd if=/dev/null of=/dev/null bs=1M")
        if reading is None or starting is None:
            return None
        read_s = reading[1] / max(1, reading[0])
        start_s = starting[1] / max(1, starting[0])
        # With one read at a time the start of dd adds up; with several it hides behind the others' reads.
        own_s = read_s - start_s if depth == 1 else read_s
        return 1 / own_s if reading[0] and read_s > 2 * start_s else None

    async def _timed(self, paths: Sequence[str], depth: int, work: str) -> tuple[int, float] | None:
        """How many ``work`` was done for, in what time by that host's clock; None if it tells none."""
        step = f'[ $(date +%s) -gt "$end" ] || {{ {work} 2>/dev/null && echo read; }}'
        lanes = [" ".join(map(_word, paths[lane::depth])) for lane in range(depth)]
        loops = " ".join(f"( for f in {lane}; do {step}; done ) &" for lane in lanes)
        clock = "read {0} rest < /proc/uptime"
        script = f"end=$(( $(date +%s) + {LIMIT_S} )); {clock.format('a')}; {loops} wait; {clock.format('b')}"
        said = await self._shell.run(f"{_ENGLISH}{script}; echo time $a $b", LIMIT_S + _TIMEOUT_S)
        match = re.search(r"^time ([\d.]+) ([\d.]+)$", said, re.MULTILINE)
        return (said.count("read\n"), float(match[2]) - float(match[1])) if match else None


@dataclass(frozen=True, slots=True)
class Dropped:
    """What was done to a host's page cache. ``left_bytes``: of the files, still in memory; None: not told."""

    text: str
    left_bytes: int | None


async def drop_server_cache(shell: Shell, folder: str) -> Dropped:
    """Take the files below ``folder`` (or one file) out of that host's page cache.

    Only where the user allows it. Writes what is unwritten first, since such pages stay. OperationError.
    """
    each = (
        'for f do if dd if="$f" of=/dev/null iflag=nocache count=0 2>/dev/null; '
        "then echo dropped; else echo kept; fi; done"
    )
    where = _word(folder)
    script = (
        "dd if=/dev/null of=/dev/null iflag=nocache count=0 2>/dev/null || { echo cannot; exit 0; }; "
        f"sync -f {where} 2>/dev/null || sync; "
        f"find -H {where} -type f -print0 | xargs -0 -r -n 100 -P 4 sh -c {shlex.quote(each)} sh; "
        "if command -v fincore >/dev/null; then "
        f"find -H {where} -type f -print0 | xargs -0 -r fincore -b -n -r -o RES 2>/dev/null; echo shown; fi"
    )
    said = (await shell.run(_ENGLISH + script, 300.0)).split()
    if "cannot" in said:
        raise OperationError("its dd cannot empty the cache of a file (no iflag=nocache)")
    dropped, kept = said.count("dropped"), said.count("kept")
    if not dropped:
        raise OperationError(f"no file below {folder} could be taken out of its cache")
    but = f", {format_count(kept, 'file')} could not be" if kept else ""
    left = sum(int(word) for word in said if word.isdigit()) if "shown" in said else None
    proof = f"; {format_bytes(left)} of them left in memory" if left is not None else ""
    text = f"{format_count(dropped, 'file')} taken out of its page cache by dd iflag=nocache{but}{proof}"
    return Dropped(text, left)


@dataclass(frozen=True, slots=True)
class _Ground:
    """What the files lie on, and whether they can be read past the cache."""

    in_memory: bool
    trouble: str | None
    doubt: str


async def _ground(shell: Shell, path: str) -> _Ground:
    """Look at one file."""
    script = (
        f"echo type $(stat -f -c %T {_word(path)} 2>/dev/null); "
        f"[ -r {_word(path)} ] && echo readable; {_READ % _word(path)} count=1 2>/dev/null && echo direct"
    )
    words = (await shell.run(f"{_ENGLISH}{script}; true", _TIMEOUT_S)).split()
    kind = words[1] if len(words) > 1 and words[0] == "type" else ""
    doubt = f"; {kind} may have served them from memory all the same" if kind in _CACHED_ANYWAY else ""
    trouble = None
    if "readable" not in words:
        trouble = "its files cannot be read there by the user that ssh logs in as"
    elif "direct" not in words:
        trouble = "its dd or its file system cannot read past the cache (no iflag=direct)"
    return _Ground(kind in _IN_MEMORY, trouble, doubt)


def _unknown(resource: str, trouble: str, took_s: float) -> Ceiling:
    """Asked for and not found: the evidence says why, and no figure stands for it."""
    evidence = f"what the disk does alone is not known: {trouble}"
    return Ceiling(resource, None, None, None, "measured", evidence, took_s)


def _chunks(files: Sequence[tuple[str, int]], limit_bytes: int) -> list[_Chunk]:
    """Of the largest files, by turns, so that several disks of an array are met; whole MiB only."""
    largest = sorted((item for item in files if item[1] >= MIB), key=lambda item: -item[1])[:8]
    waiting = [
        [_Chunk(path, at, min(CHUNK_MIB, size // MIB - at)) for at in range(0, size // MIB, CHUNK_MIB)]
        for path, size in largest
    ]
    found: list[_Chunk] = []
    left = min(limit_bytes, sum(size for _, size in largest)) // MIB
    length = 0
    for chunks in cycle(waiting) if waiting else ():
        if not any(waiting) or left <= 0 or length > _LONGEST_COMMAND:
            break
        if chunks:
            found.append(chunks.pop(0))
            left -= found[-1].count_mib
            length += len(found[-1].command().encode(errors="surrogateescape")) + 32
    return found


def _fitting(paths: Sequence[str]) -> list[str]:
    """As many as a command has room for, spread over all."""
    step = max(1, len(paths) // _MOST_SMALL_FILES)
    room, found = _LONGEST_COMMAND, []
    for path in paths[::step][:_MOST_SMALL_FILES]:
        room -= len(_word(path).encode(errors="surrogateescape")) + 1
        if room < 0:
            break
        found.append(path)
    return found


def _summaries(said: str) -> list[tuple[int, float]]:
    """Bytes and seconds of each dd."""
    return [(int(match[1]), float(match[2])) for match in _SUMMARY.finditer(said)]


def _rate_text(depth: int, rates: Sequence[float]) -> str:
    spread = f"{format_rate(min(rates))} to {format_rate(max(rates))}"
    return f"depth {depth}: {format_rate(statistics.median(rates))} ({spread} over {len(rates)} chunks)"


def _word(path: str) -> str:
    """A path as one word of a shell, that no program takes for an option."""
    return shlex.quote(path if path.startswith("/") else f"./{path}")
