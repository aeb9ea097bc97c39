"""One file whose reads and writes pass at a set rate and whose fsync takes a set time (FUSE).

Runs as a process of its own: ``python lab_slow_file.py BACKING MOUNT BYTES_PER_S FSYNC_S [IOPS]``
serves ``MOUNT/disk`` until it is unmounted; ``inf`` is no limit. A token clock hands out time, so that
requests in parallel share one rate as they would on one disk. A request takes the longer of what its
bytes and what its being an operation take. Knows nothing of the device that is laid over the file.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
import threading
import time
from typing import Any

import mfusepy


class TokenClock:
    """Hands each request its turn: one after the other, each as long as its bytes take, but at least
    as long as one operation takes."""

    def __init__(self, bytes_per_s: float, iops: float = float("inf")) -> None:
        self._bytes_per_s = bytes_per_s
        self._operation_s = 1 / iops
        self._free_at = 0.0
        self._overslept_s = 0.0
        self._lock = threading.Lock()

    def pass_through(self, size: int, extra_s: float = 0.0) -> None:
        takes_s = max(size / self._bytes_per_s, self._operation_s if size else 0.0) + extra_s
        with self._lock:
            # The last answer came late by this much through no fault of who asked: it is made good.
            now = time.monotonic() - self._overslept_s
            self._overslept_s = 0.0
            self._free_at = ready = max(now, self._free_at) + takes_s
        time.sleep(max(0.0, ready - time.monotonic()))
        with self._lock:
            self._overslept_s = max(0.0, time.monotonic() - ready)


class SlowFile(mfusepy.Operations):
    """``/disk`` and nothing else."""

    use_ns = True

    def __init__(self, backing: str, bytes_per_s: float, fsync_s: float, iops: float) -> None:
        self._fd = os.open(backing, os.O_RDWR)
        self._size = os.fstat(self._fd).st_size
        self._clock = TokenClock(bytes_per_s, iops)
        self._fsync_s = fsync_s

    @mfusepy.overrides(mfusepy.Operations)
    def init_with_config(self, conn_info: Any, config_3: Any) -> None:
        conn_info.max_background = 64
        conn_info.max_write = 1 << 20

    @mfusepy.overrides(mfusepy.Operations)
    def getattr(self, path: str, fh: int | None = None) -> dict[str, Any]:
        if path == "/":
            return {"st_mode": stat.S_IFDIR | 0o755, "st_nlink": 2}
        if path == "/disk":
            return {"st_mode": stat.S_IFREG | 0o600, "st_nlink": 1, "st_size": self._size}
        raise mfusepy.FuseOSError(errno.ENOENT)

    @mfusepy.overrides(mfusepy.Operations)
    def readdir(self, path: str, fh: int) -> list[str]:
        return [".", "..", "disk"]

    @mfusepy.overrides(mfusepy.Operations)
    def open(self, path: str, flags: int) -> int:
        return 0

    @mfusepy.overrides(mfusepy.Operations)
    def read(self, path: str, size: int, offset: int, fh: int) -> bytes:
        data = os.pread(self._fd, size, offset)
        self._clock.pass_through(len(data))
        return data

    @mfusepy.overrides(mfusepy.Operations)
    def write(self, path: str, data: bytes, offset: int, fh: int) -> int:
        self._clock.pass_through(len(data))
        return os.pwrite(self._fd, data, offset)

    @mfusepy.overrides(mfusepy.Operations)
    def fsync(self, path: str, datasync: int, fh: int) -> int:
        self._clock.pass_through(0, self._fsync_s)
        return 0

    @mfusepy.overrides(mfusepy.Operations)
    def flush(self, path: str, fh: int) -> int:
        return 0


def main() -> None:
    backing, mount, bytes_per_s, fsync_s, *rest = sys.argv[1:]
    iops = float(rest[0]) if rest else float("inf")
    os.nice(-20)  # a disk does not wait for a core of the machine that it is in
    mfusepy.FUSE(
        SlowFile(backing, float(bytes_per_s), float(fsync_s), iops),
        mount,
        foreground=True,
        nothreads=False,
        max_threads=32,
        fsname="pathtrace-lab",
    )


if __name__ == "__main__":
    main()
