"""One file behind a set delay: every read request that comes from the kernel waits for so long (FUSE).

Runs as a process of its own: ``python lab_far_file.py BACKING MOUNT DELAY_S COUNT`` serves
``MOUNT/NAME`` until it is unmounted. Requests in flight together wait together, as on a line: it is
latency, not a rate. The file ``COUNT`` tells how many there were.
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


class FarFile(mfusepy.Operations):
    use_ns = True

    def __init__(self, backing: str, delay_s: float, count: str) -> None:
        self._fd = os.open(backing, os.O_RDONLY)
        self._name = os.path.basename(backing)
        self._size = os.fstat(self._fd).st_size
        self._delay_s = delay_s
        self._requests = 0
        self._count = os.open(count, os.O_WRONLY | os.O_CREAT)
        self._lock = threading.Lock()

    @mfusepy.overrides(mfusepy.Operations)
    def getattr(self, path: str, fh: int | None = None) -> dict[str, Any]:
        if path == "/":
            return {"st_mode": stat.S_IFDIR | 0o755, "st_nlink": 2}
        if path == f"/{self._name}":
            blocks = -(-self._size // 512)
            return {
                "st_mode": stat.S_IFREG | 0o444,
                "st_nlink": 1,
                "st_size": self._size,
                "st_blocks": blocks,
            }
        raise mfusepy.FuseOSError(errno.ENOENT)

    @mfusepy.overrides(mfusepy.Operations)
    def readdir(self, path: str, fh: int) -> list[str]:
        return [".", "..", self._name]

    @mfusepy.overrides(mfusepy.Operations)
    def open(self, path: str, flags: int) -> int:
        return 0

    @mfusepy.overrides(mfusepy.Operations)
    def read(self, path: str, size: int, offset: int, fh: int) -> bytes:
        with self._lock:
            self._requests += 1
            os.pwrite(self._count, b"%d" % self._requests, 0)
        time.sleep(self._delay_s)
        return os.pread(self._fd, size, offset)

    @mfusepy.overrides(mfusepy.Operations)
    def flush(self, path: str, fh: int) -> int:
        return 0


def main() -> None:
    backing, mount, delay_s, count = sys.argv[1:]
    mfusepy.FUSE(
        FarFile(backing, float(delay_s), count),
        mount,
        foreground=True,
        nothreads=False,
        max_threads=32,
        kernel_cache=True,
        fsname="pathtrace-lab",
    )


if __name__ == "__main__":
    main()
