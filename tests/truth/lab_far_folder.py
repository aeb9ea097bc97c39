"""A folder that passes everything on to another, but takes a set time to sync (FUSE).

Runs as a process of its own: ``python lab_far_folder.py BACKING MOUNT SYNC_S`` until it is unmounted.
The mount table calls it ``fuse.sshfs``, so that it looks like a folder of another machine.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any

import mfusepy


class FarFolder(mfusepy.Operations):
    use_ns = True

    def __init__(self, backing: str, sync_s: float) -> None:
        self._backing = backing
        self._sync_s = sync_s

    def _there(self, path: str) -> str:
        return self._backing + path

    @mfusepy.overrides(mfusepy.Operations)
    def getattr(self, path: str, fh: int | None = None) -> dict[str, Any]:
        found = os.lstat(self._there(path))
        kept = ("st_mode", "st_nlink", "st_size", "st_blocks", "st_uid", "st_gid")
        times = {f"st_{kind}time": getattr(found, f"st_{kind}time_ns") for kind in "amc"}
        return {**{key: getattr(found, key) for key in kept}, **times}

    @mfusepy.overrides(mfusepy.Operations)
    def readdir(self, path: str, fh: int) -> list[str]:
        return [".", "..", *os.listdir(self._there(path))]

    @mfusepy.overrides(mfusepy.Operations)
    def mkdir(self, path: str, mode: int) -> int:
        os.mkdir(self._there(path), mode)
        return 0

    @mfusepy.overrides(mfusepy.Operations)
    def rmdir(self, path: str) -> int:
        os.rmdir(self._there(path))
        return 0

    @mfusepy.overrides(mfusepy.Operations)
    def create(self, path: str, mode: int, fi: Any = None) -> int:
        return os.open(self._there(path), os.O_RDWR | os.O_CREAT, mode)

    @mfusepy.overrides(mfusepy.Operations)
    def open(self, path: str, flags: int) -> int:
        return os.open(self._there(path), flags & (os.O_ACCMODE | os.O_EXCL))

    @mfusepy.overrides(mfusepy.Operations)
    def read(self, path: str, size: int, offset: int, fh: int) -> bytes:
        return os.pread(fh, size, offset)

    @mfusepy.overrides(mfusepy.Operations)
    def write(self, path: str, data: bytes, offset: int, fh: int) -> int:
        return os.pwrite(fh, data, offset)

    @mfusepy.overrides(mfusepy.Operations)
    def truncate(self, path: str, length: int, fh: int | None = None) -> int:
        os.truncate(self._there(path), length)
        return 0

    @mfusepy.overrides(mfusepy.Operations)
    def unlink(self, path: str) -> int:
        os.unlink(self._there(path))
        return 0

    @mfusepy.overrides(mfusepy.Operations)
    def rename(self, old: str, new: str) -> int:
        os.rename(self._there(old), self._there(new))
        return 0

    @mfusepy.overrides(mfusepy.Operations)
    def fsync(self, path: str, datasync: int, fh: int) -> int:
        time.sleep(self._sync_s)
        return 0

    @mfusepy.overrides(mfusepy.Operations)
    def flush(self, path: str, fh: int) -> int:
        return 0

    @mfusepy.overrides(mfusepy.Operations)
    def release(self, path: str, fh: int) -> int:
        os.close(fh)
        return 0


def main() -> None:
    backing, mount, sync_s = sys.argv[1:]
    mfusepy.FUSE(
        FarFolder(backing, float(sync_s)),
        mount,
        foreground=True,
        nothreads=False,
        fsname="nas:/volume1",
        subtype="sshfs",
    )


if __name__ == "__main__":
    main()
