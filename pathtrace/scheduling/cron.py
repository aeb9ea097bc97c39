"""Crontabs: the caller's, through the ``crontab`` command, and the host's, as a file below /etc/cron.d.

Only our own block of lines is ever changed (``cron_blocks``). Whether cron runs is seen from its processes.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from pathtrace.errors import UsageError
from pathtrace.model.schedule import Job
from pathtrace.scheduling import programs, writing
from pathtrace.scheduling.cron_blocks import Block, blocks
from pathtrace.scheduling.metadata import written
from pathtrace.scheduling.quoting import cron_command
from pathtrace.scheduling.times import Times

FOLDER = Path("/etc/cron.d")
OWN_FILE = "pathtrace"
"""Without a dot, since Debian's cron passes such files by."""
QUIET = "--quiet"
_DAEMONS = frozenset({"cron", "crond", "fcron", "dcron", "cronie", "bcron-sched"})
_NONE_YET = ("no crontab for", "No such file or directory")


class Table(Protocol):
    """A crontab that can be read and replaced."""

    @property
    def where(self) -> str:
        """For people, and the path where it is a file."""

    @property
    def user_field(self) -> str | None:
        """Whom its lines name before the command; None where they name nobody."""

    def read(self) -> bytes:
        """As it is; empty if there is none. UsageError if it may not be read."""

    def write(self, data: bytes) -> None:
        """Replace it. UsageError if cron does not take it, StoreError if it cannot be written."""


class UserTable:
    """The caller's own."""

    where = "crontab of the user"
    user_field = None

    def read(self) -> bytes:
        ended = programs.run(["crontab", "-l"])
        if ended.code == 0:
            return ended.out
        if any(words in ended.err for words in _NONE_YET):
            return b""
        raise UsageError(f"cannot read the crontab: {ended.reason}")

    def write(self, data: bytes) -> None:
        """A last line without an end gets one where lines of ours are gone: ``crontab`` takes no other."""
        if data and not data.endswith(b"\n"):
            data += b"\n"
        ended = programs.run(["crontab", "-"], data) if data else programs.run(["crontab", "-r"])
        if ended.code != 0:
            raise UsageError(f"crontab does not take the lines: {ended.reason}")
        now = self.read()
        if not now.endswith(data) or (not data and now):  # some crons put a heading of theirs on top
            raise UsageError(
                "the crontab was changed by another at the same time", hint="look at it, try again"
            )


class FileTable:
    """A file of ours below /etc/cron.d; goes when nothing is left in it."""

    user_field = "root"

    def __init__(self, path: Path = FOLDER / OWN_FILE) -> None:
        self._path = path

    @property
    def where(self) -> str:
        return str(self._path)

    def read(self) -> bytes:
        return writing.read(self._path) or b""

    def write(self, data: bytes) -> None:
        if data:
            writing.write(self._path, data)
        else:
            writing.take_away(self._path)


def is_installed() -> bool:
    return shutil.which("crontab") is not None


def is_running() -> bool | None:
    """Whether a cron daemon is among the processes; None where these cannot be seen."""
    try:
        names = [entry.read_text(encoding="utf-8", errors="replace").strip() for entry in _names()]
    except OSError:
        return None
    return any(name in _DAEMONS for name in names) if names else None


def _names() -> Iterator[Path]:
    return (Path("/proc", name, "comm") for name in os.listdir("/proc") if name.isdigit())


def block(job: Job, times: Times, user_field: str | None) -> Block:
    """What is put into a crontab. UsageError if cron could not hold it."""
    whose = f"{user_field} " if user_field else ""
    return Block(job.name, written(job, times), f"{times.cron} {whose}{cron_command(job, _words(job))}")


def _words(job: Job) -> tuple[str, ...]:
    """Quiet, since cron mails whatever is said: of a scan that goes well that is nothing.

    With variables from a file: our own start reads them, since sh would run what it holds.
    """
    words = job.words if QUIET in job.options else (*job.words, QUIET)
    if job.env_file is None:
        return words
    start = (job.python, "-P", "-m", "pathtrace", "schedule", "start", "--env-file", job.env_file, "--")
    return start + words[5:]


def found(owner: Table) -> tuple[Block, ...]:
    """Our blocks in it."""
    return blocks(owner.read())


def fields_of(line: str) -> str:
    """The times of one of our lines: five fields, or a word such as ``@daily``."""
    words = line.split(None, 5)
    return words[0] if words and words[0].startswith("@") else " ".join(words[:5])
