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

    def will_make_namespace(self, name: str) -> None:
        """A network namespace, which ends together with every process in it."""
        self._note("namespace", name)

    def started(self, pid: int) -> None:
        self._note("process", f"{pid} {started_at(pid)}")

    def started_tree(self, pid: int) -> None:
        """A process that has children of its own, which end with it."""
        self._note("tree", f"{pid} {started_at(pid)}")

    def will_limit(self, group: Path) -> None:
        """A control group: what is still in it goes back to where it came from."""
        self._note("group", str(group))

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


def stop_tree(pid: int, *, grace_s: float = 5.0) -> None:
    """End a process of ours and all that came from it, also what has left its session."""
    members = {each: started_at(each) for each in family(pid)}
    for sig in (signal.SIGTERM, signal.SIGKILL):
        for each in _still(members):
            with contextlib.suppress(ProcessLookupError):
                os.kill(each, sig)
        deadline = time.monotonic() + grace_s
        while _still(members):
            if time.monotonic() > deadline:
                break
            time.sleep(0.02)


def family(pid: int) -> list[int]:
    """A process and all below it."""
    try:
        threads = list(Path(f"/proc/{pid}/task").iterdir())
        children = [child for each in threads for child in (each / "children").read_text().split()]
    except OSError:
        return [pid]
    return [pid, *(each for child in children for each in family(int(child)))]


def _still(members: dict[int, str | None]) -> list[int]:
    return [pid for pid, start in members.items() if start is not None and started_at(pid) == start]


def _owner_lives(folder: Path) -> bool:
    pid, start = folder.name.split("-")[:2]
    return pid.isdigit() and started_at(int(pid)) == start


def _unmount(path: str) -> None:
    for arguments in (["umount", path], ["umount", "--lazy", path]):
        # The kernel's list, not the path itself: a mount whose server is gone would hang who asks it.
        if not _mounted(path):
            return
        subprocess.run(arguments, capture_output=True, check=False)


def _mounted(path: str) -> bool:
    written = path.replace("\\", "\\134").replace(" ", "\\040")
    return any(line.split()[4] == written for line in Path("/proc/self/mountinfo").read_text().splitlines())


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


def _end_tree(subject: str) -> None:
    pid, start = subject.split()
    if started_at(int(pid)) == start:
        stop_tree(int(pid))


def _ungroup(path: str) -> None:
    """Processes go back to the group above, then the group goes."""
    group = Path(path)
    deadline = time.monotonic() + 5
    while group.exists():
        for pid in (group / "cgroup.procs").read_text().split():
            with contextlib.suppress(OSError):
                (group.parent / "cgroup.procs").write_text(pid)
        try:
            group.rmdir()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def _delete_namespace(name: str) -> None:
    if not Path("/run/netns", name).exists():
        return
    inside = subprocess.run(["ip", "netns", "pids", name], capture_output=True, text=True, check=False)
    for pid in inside.stdout.split():
        if int(pid) != os.getpid():
            stop(int(pid), grace_s=1.0)
    subprocess.run(["ip", "netns", "delete", name], capture_output=True, check=False)


_UNDO = {
    "mount": _unmount,
    "loop": _detach,
    "process": _end,
    "tree": _end_tree,
    "group": _ungroup,
    "namespace": _delete_namespace,
}


if __name__ == "__main__":
    print("\n".join(remove_leftovers()) or "no leftovers")
