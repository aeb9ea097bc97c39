"""The disks of the lab's servers: held to a rate or a number of operations, or as fast as memory.

``with held_disk(content, bytes_per_s=60e6) as disk:`` gives a mounted folder that was filled before the
limit counted. ``disk.cool()`` makes the server forget what it has read, and says what it could not.
By hand: ``python -m tests.truth.lab.disks FOLDER`` empties the page cache of the files below FOLDER.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import lab_slow_disk
from lab_leftovers import claimed
from lab_slow_disk import slow_disk

from .documents import Content

_CACHESTAT = 451  # the same number on every architecture; Linux 6.5
_UNLIMITED = float("inf")


@dataclass(frozen=True)
class Disk:
    folder: Path
    device: str | None = None
    """Its kernel name, as in ``/sys/block``; None if it is memory."""

    def operations(self) -> int:
        """Read requests that the device has served since it was made. LookupError if it is memory."""
        if self.device is None:
            raise LookupError("a disk in memory counts no operations")
        return int(Path(f"/sys/block/{self.device}/stat").read_text().split()[0])

    def cool(self) -> str:
        """Forget what was read from the disk. Returns what is still warm: ``nothing``; ``inodes``, if
        somebody has the disk in use (a client that is connected does), so that it cannot be
        unmounted for a moment; ``everything``, if it is memory.
        """
        if self.device is None:
            return "everything"
        drop_caches(self.folder)
        device = f"/dev/{self.device}"
        if subprocess.run(["umount", str(self.folder)], capture_output=True, check=False).returncode == 0:
            _run("mount", "-o", "noatime", device, str(self.folder))
            return "nothing"
        # Any remount lets go of the names that the kernel remembers; flushing, of the folders' blocks.
        _run("mount", "-o", "remount,noatime", str(self.folder))
        _run("blockdev", "--flushbufs", device)
        return "inodes"


def why_not() -> str | None:
    """Why no held disk can be had here, or None."""
    return lab_slow_disk.why_not()


@contextlib.contextmanager
def held_disk(
    content: Content | None = None,
    *,
    bytes_per_s: float = _UNLIMITED,
    iops: float = _UNLIMITED,
    fsync_s: float = 0.0,
    room: int = 1 << 28,
) -> Iterator[Disk]:
    """A disk that passes ``bytes_per_s`` in at most ``iops`` reads and writes a second, cold, with
    ``content`` on it and ``room`` more bytes free."""
    with contextlib.ExitStack() as staged:
        # Made in memory: faster, and no writing back of it disturbs what is measured afterwards.
        source = staged.enter_context(fast_disk(content)).folder
        size = sum(file.stat().st_size + 8192 for file in source.rglob("*")) * 11 // 10 + room
        with slow_disk(
            bytes_per_s=bytes_per_s,
            iops=iops,
            fsync_s=fsync_s,
            size=size + (64 << 20),
            content=source,
        ) as disk:
            staged.close()  # a copy is on the disk now
            yield Disk(disk.folder, disk.device)


@contextlib.contextmanager
def fast_disk(content: Content | None = None) -> Iterator[Disk]:
    """A folder in memory, for plants whose limit must not be a disk. It is always warm."""
    with claimed("fast-disk") as claim:
        folder = claim.folder / "disk"
        folder.mkdir()
        claim.will_mount(folder)
        _run("mount", "-t", "tmpfs", "pathtrace-lab", str(folder))
        if content is not None:
            content(folder)
        yield Disk(folder)


def drop_caches(folder: Path) -> None:
    """Empty the page cache of every file below ``folder``, and see that it is empty.

    What the kernel knows of names and inodes stays warm. RuntimeError if a page stays, as one does
    that somebody has mapped, or that lies in memory only.
    """
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            _drop(path)


def cached_pages(path: Path) -> tuple[int, int]:
    """Pages of a file that are in the page cache, and how many of them are not on the disk yet."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return _cachestat(descriptor)
    finally:
        os.close(descriptor)


def _drop(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOATIME)
    try:
        if _cachestat(descriptor)[1]:
            os.fsync(descriptor)
        for _ in range(50):
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            cached, _dirty = _cachestat(descriptor)
            if cached == 0:
                return
            time.sleep(0.01)  # pages that are still being written or read stay until they are not
    finally:
        os.close(descriptor)
    raise RuntimeError(f"{cached} pages of {path} stay in the page cache")


def _cachestat(descriptor: int) -> tuple[int, int]:
    libc = ctypes.CDLL(None, use_errno=True)
    everything = (ctypes.c_uint64 * 2)(0, 0)
    counts = (ctypes.c_uint64 * 5)()  # cached, dirty, being written, evicted, recently evicted
    if libc.syscall(_CACHESTAT, descriptor, ctypes.byref(everything), ctypes.byref(counts), 0):
        raise OSError(ctypes.get_errno(), "cachestat")
    return counts[0], counts[1] + counts[2]


def _run(*arguments: str) -> None:
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(arguments)}: {done.stderr.strip()}")


if __name__ == "__main__":
    drop_caches(Path(sys.argv[1]))
