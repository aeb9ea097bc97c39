"""What another host does and is, asked over a shell there; nothing is installed on it.

A shell is handed in: how it is reached is not known here. Everything that goes into a command is quoted.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections import deque
from collections.abc import AsyncIterator, Sequence
from shlex import quote

from pathtrace.errors import OperationError
from pathtrace.model.mount_table import MountLine, below_of, covering, parse_mountinfo, placed
from pathtrace.model.run import HostFacts, Mount
from pathtrace.model.sample import Reading
from pathtrace.model.work import Clock
from pathtrace.observers import far_description
from pathtrace.observers.far_counters import COMMAND, NOT_LINUX, FarCounters
from pathtrace.ports import Shell

_SILENCE_S = 10.0
_ASK_S = 10.0
_MOST_WAITING = 100_000
"""Readings that nobody fetched: the oldest are dropped."""


class FarWatch:
    """The counters of one other host: ``run()`` receives them, ``observe()`` hands on what came.

    Observers "far_cpu" (``HOST/all``, ``HOST/core0``: ``busy_s``, ``iowait_s``, ``softirq_s``, which is part
    of busy), "far_disk" (``HOST/sda``: ``read_bytes``, ``write_bytes``, ``read_count``, ``write_count``,
    ``busy_s``), "far_interface" (``HOST/eth0``: ``rx_bytes``, ``tx_bytes``), "far_memory" (``HOST``:
    ``available_bytes``, ``cached_bytes``, gauges) and, once a second, "far_process" (``HOST/comm[pid]``:
    ``cpu_s``) of those that work. Their times are ``clock`` at the receipt, so ``clock`` must count from the
    run's origin.
    """

    name = "far"
    period_s = 0.5

    def __init__(self, host: str, shell: Shell, clock: Clock) -> None:
        self._shell = shell
        self._clock = clock
        self._counters = FarCounters(host)
        self._waiting: deque[Reading] = deque(maxlen=_MOST_WAITING)
        self.trouble: str | None = None
        """Why no readings come any more; None while they do."""

    def observe(self, at_ns: int) -> Sequence[Reading]:
        """What was received since the last call, with the times of receipt."""
        readings = tuple(self._waiting)
        self._waiting.clear()
        return readings

    async def run(self) -> None:
        """Receive until cancelled, or until ``trouble``."""
        lines = self._shell.lines(COMMAND)
        try:
            await self._receive(lines)
        except OperationError as error:
            self.trouble = error.message
        except TimeoutError:
            self.trouble = f"nothing came from it for {_SILENCE_S:.0f} s"
        finally:
            close = getattr(lines, "aclose", None)
            if close is not None:
                await close()

    async def _receive(self, lines: AsyncIterator[str]) -> None:
        while True:
            async with asyncio.timeout(_SILENCE_S):
                line = await anext(lines, None)
            if line is None:
                self.trouble = "its counters ended"
                return
            line = line.rstrip("\n")
            if line == NOT_LINUX:
                self.trouble = "it has no /proc: only Linux hosts can be watched"
                return
            self._waiting.extend(self._counters.feed(line, self._clock()))


async def far_facts(shell: Shell, name: str) -> HostFacts:
    """Processor, cores, memory, kernel, mounts and interfaces. OperationError: it does not answer.

    What it does not tell is None; a host without a count of cores has 1, of memory 0.
    """
    return far_description.parse(name, await shell.run(far_description.COMMAND, _ASK_S))


_WHERE = (
    'p=$1; while [ ! -e "$p" ] && [ "$p" != / ] && [ "$p" != . ]; do p=$(dirname -- "$p"); done; '
    'readlink -f -- "$p" || echo "$p"; cat /proc/self/mountinfo'
)
_DISK = (
    'case $1 in 0:*) n=$(readlink -f -- "$2");; *) n=$(readlink "/sys/dev/block/$1");; esac; '
    'n=${n##*/}; if [ -e "/sys/class/block/$n" ]; then echo "$n"; fi'
)


async def far_mount(shell: Shell, path: str) -> Mount | None:
    """What a path there, or its nearest existing parent, lies on; None where it has no mount table.

    ``disk`` is the block device's own name in that kernel's counters (``sda1``, ``dm-0``, ``loop3``).
    OperationError: it does not answer.
    """
    answer = await shell.run(_script(_WHERE, path), _ASK_S)
    resolved, _, table = answer.partition("\n")
    lines = parse_mountinfo(os.fsencode(table))
    line = covering(lines, resolved)
    if line is None:
        return None
    below, _ = below_of(lines, line)
    return placed(lines, line, await _disk(shell, below))


async def _disk(shell: Shell, line: MountLine) -> str | None:
    if line.number.startswith("0:") and not line.device.startswith("/dev/"):
        return None
    answer = await shell.run(_script(_DISK, line.number, line.device), _ASK_S)
    return answer.strip() or None


_SHARE = (
    "PATH=$PATH:/sbin:/usr/sbin:/usr/local/bin:/usr/local/sbin; "
    'testparm -s --section-name="$1" --parameter-name=path 2>/dev/null </dev/null; echo; '
    "cat /etc/samba/smb.conf /usr/local/etc/smb4.conf 2>/dev/null; true"
)


async def share_folder(shell: Shell, share: str) -> str | None:
    """The folder that Samba there serves as ``share``; None if it is not told, or differs by user.

    OperationError: the host does not answer.
    """
    answer = await shell.run(_script(_SHARE, share), _ASK_S)
    told, _, configuration = answer.partition("\n")
    folder = told.strip() or _configured(configuration, share)
    if folder is None:
        return None
    folder = folder.strip().strip('"').replace("%S", share)
    return folder if folder.startswith("/") and "%" not in folder else None


def _configured(text: str, share: str) -> str | None:
    """``path`` (or ``directory``) in the section of a smb.conf; names are without case and inner blanks."""
    section = folder = None
    for line in text.splitlines():
        if header := re.fullmatch(r"\s*\[([^\]]+)\]\s*", line):
            section = header[1].strip().lower()
        key, equals, value = line.partition("=")
        if equals and section == share.lower() and key.strip().lower() in ("path", "directory"):
            folder = value.strip()
    return folder


def _script(text: str, *values: str) -> str:
    """A portable shell script with its arguments, whatever the login shell is."""
    return " ".join(("exec sh -c", quote(text), "sh", *map(quote, values)))
