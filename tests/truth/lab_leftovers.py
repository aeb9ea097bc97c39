"""What the lab made on this machine, and how it is undone, also after a crash.

Every piece of the lab works in a folder of its own, named after the process that owns it. Before
something is made (a mount, a loop device, a process) the way to undo it is written into that folder's
journal. ``remove_leftovers`` undoes what dead owners left behind; what anybody else made is never
touched. By hand: ``python lab_leftovers.py`` removes leftovers and says which.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

BASE = Path(tempfile.gettempdir()) / f"pathtrace-lab-{os.getuid()}"
_numbers = itertools.count()


def started_at(pid: int) -> str | None:
    """Start time of a process in clock ticks, which tells it from a later one with the same number."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] == "Z" else fields[19]


@dataclass(frozen=True)
class Claim:
    """A folder of this process. What is noted is undone in reverse order."""

    folder: Path

    def will_mount(self, path: Path) -> None:
        self._note("mount", str(path))

    def will_loop(self, backing: Path) -> None:
        self._note("loop", str(backing))

    def started(self, pid: int) -> None:
        self._note("process", f"{pid} {started_at(pid)}")

    def undo(self) -> None:
        """Undo everything noted and remove the folder. Never fails for what is already gone."""
        journal = self.folder / "journal"
        lines = journal.read_text().splitlines() if journal.exists() else []
        for line in reversed(lines):
            kind, _, subject = line.partition(" ")
            _UNDO[kind](subject)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _note(self, kind: str, subject: str) -> None:
        with (self.folder / "journal").open("a") as journal:
            journal.write(f"{kind} {subject}\n")


@contextlib.contextmanager
def claimed(name: str) -> Iterator[Claim]:
    """A folder to work in, undone at the end however the block is left."""
    owner = os.getpid()
    folder = BASE / f"{owner}-{started_at(owner)}-{name}-{next(_numbers)}"
    folder.mkdir(parents=True)
    claim = Claim(folder)
    try:
        yield claim
    finally:
        claim.undo()


def leftovers() -> list[Path]:
    """Folders whose owner is gone."""
    if not BASE.exists():
        return []
    return [folder for folder in sorted(BASE.iterdir()) if not _owner_lives(folder)]


def remove_leftovers() -> list[str]:
    """Undo what dead owners left; returns the names of their folders."""
    gone = leftovers()
    for folder in gone:
        Claim(folder).undo()
    return [folder.name for folder in gone]


def stop(pid: int, *, grace_s: float = 5.0) -> None:
    """End a process of ours: politely, then not."""
    start = started_at(pid)
    for sig in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, sig)
        deadline = time.monotonic() + grace_s
        while time.monotonic() < deadline:
            if started_at(pid) != start or start is None:
                return
            time.sleep(0.02)


def _owner_lives(folder: Path) -> bool:
    pid, start = folder.name.split("-")[:2]
    return pid.isdigit() and started_at(int(pid)) == start


def _unmount(path: str) -> None:
    for arguments in (["umount", path], ["umount", "--lazy", path]):
        if not os.path.ismount(path) and not _mounted(path):
            return
        subprocess.run(arguments, capture_output=True, check=False)


def _mounted(path: str) -> bool:
    return any(line.split()[4] == path for line in Path("/proc/self/mountinfo").read_text().splitlines())


def _detach(backing: str) -> None:
    listed = subprocess.run(
        ["losetup", "--noheadings", "--output", "NAME,BACK-FILE", "--list"],
        capture_output=True,
        text=True,
        check=False,
    )
    for line in listed.stdout.splitlines():
        device, _, file = line.strip().partition(" ")
        if file.strip().removesuffix(" (deleted)") == backing:
            subprocess.run(["losetup", "--detach", device], capture_output=True, check=False)


def _end(subject: str) -> None:
    pid, start = subject.split()
    if started_at(int(pid)) == start:
        stop(int(pid))


_UNDO = {"mount": _unmount, "loop": _detach, "process": _end}


if __name__ == "__main__":
    print("\n".join(remove_leftovers()) or "no leftovers")
