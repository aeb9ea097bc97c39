"""Locks that the kernel keeps on open files: gone with the process that holds them, however it ends."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

NO_LOCKS = frozenset({errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL})
"""What a file system without locks says."""


def is_still(path: Path, descriptor: int) -> bool:
    """True if the open file is the one that has this name now."""
    try:
        return os.path.samestat(os.stat(path, follow_symlinks=False), os.fstat(descriptor))
    except FileNotFoundError:
        return False


if sys.platform == "win32":
    import msvcrt

    _FAR = 1 << 30
    """Beyond what is read: such a lock keeps others from reading, too."""

    def try_lock(descriptor: int) -> bool:
        """True if it is ours. OSError where there are no locks."""
        os.lseek(descriptor, _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        finally:
            os.lseek(descriptor, 0, os.SEEK_SET)
        return True

else:
    import fcntl

    def try_lock(descriptor: int) -> bool:
        """True if it is ours. OSError where there are no locks."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
