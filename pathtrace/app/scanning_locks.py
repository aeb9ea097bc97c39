"""One scan at a time on a host, since two would measure each other, and one in a store.

The kernel keeps the locks, so that a scan that dies leaves none behind. The files stay; what stands in
them says who holds the lock, and counts only as long as somebody does.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import stat
import tempfile
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from pathtrace.app.file_locks import NO_LOCKS, is_still, try_lock
from pathtrace.errors import StoreError
from pathtrace.store import files

HOST_LOCK = "pathtrace-scan.lock"
STORE_LOCK = ".scan.lock"

_SHARED = Path("/run/lock")
_MOST_BYTES = 2000
_LONGEST = 60
_EVERYBODY = 0o666
"""Every user of the host must be able to see that somebody scans."""


def lock_folder(environ: Mapping[str, str]) -> Path:
    """Where this host's lock lies: the same for all of its users, whoever starts the scan."""
    named = environ.get("PATHTRACE_RUNTIME")
    if named:
        return Path(named)
    if os.name != "posix":
        return Path(tempfile.gettempdir())
    return _SHARED if _is_everybodys(_SHARED) else Path("/tmp")


def _is_everybodys(folder: Path) -> bool:
    try:
        mode = folder.stat().st_mode
    except OSError:
        return False
    return bool(mode & stat.S_ISVTX and mode & stat.S_IWOTH)


class ScanLocks:
    """Both locks or none. ``take`` as often as it takes, ``release`` at the end; a context manager does."""

    def __init__(self, store: Path, host_folder: Path, scenario: str) -> None:
        self._paths = (host_folder / HOST_LOCK, store / STORE_LOCK)
        self._scenario = scenario
        self._held: list[int] = []
        self.unlocked: str | None = None
        """Where no lock can be had, once taken: the file system has none."""

    def __enter__(self) -> ScanLocks:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def take(self) -> str | None:
        """None if both are ours now; else who scans, in words. StoreError where no file can be made."""
        if self._held:
            return None
        for path in self._paths:
            try:
                taken = self._take(path)
            except BaseException:
                self.release()
                raise
            if not taken:
                self.release()
                return holder(path)
        return None

    def release(self) -> None:
        """Let go of what is held. The files stay: removing them would let two in at once."""
        while self._held:
            descriptor = self._held.pop()
            with contextlib.suppress(OSError):
                os.ftruncate(descriptor, 0)
            os.close(descriptor)

    def _take(self, path: Path) -> bool:
        while True:
            descriptor = _opened(path)
            try:
                locked = try_lock(descriptor)
            except OSError as error:
                os.close(descriptor)
                if error.errno not in NO_LOCKS:
                    raise files.store_error(path, error) from error
                self.unlocked = str(path)
                return True
            if not locked:
                os.close(descriptor)
                return False
            if is_still(path, descriptor):
                self._held.append(descriptor)
                self._say_who(descriptor)
                return True
            os.close(descriptor)  # somebody tidied up in between: it is another file now

    def _say_who(self, descriptor: int) -> None:
        since = datetime.now().astimezone().isoformat(timespec="seconds")
        said = {
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "since": since,
            "scenario": self._scenario[:_LONGEST],
        }
        with contextlib.suppress(
            OSError
        ):  # another user's file, or a full disk: the lock is ours all the same
            os.ftruncate(descriptor, 0)
            os.lseek(descriptor, 0, os.SEEK_SET)
            os.write(descriptor, json.dumps(said).encode())


def holder(path: Path) -> str:
    """Who holds a lock, as far as that can be read: ``pid 4711 on nas, household-archive, since 02:00``."""
    try:
        with path.open("rb") as file:
            said = json.loads(file.read(_MOST_BYTES))
        pid, host, scenario = int(said["pid"]), str(said["host"]), str(said["scenario"])
        since = datetime.fromisoformat(str(said["since"])).astimezone()
    except (KeyError, OSError, OverflowError, RecursionError, TypeError, ValueError):
        return "another scan"
    words = f"the scan of {scenario} (pid {pid} on {host}, since {since:%H:%M:%S})"
    return words if words.isprintable() and len(words) <= 4 * _LONGEST else "another scan"


def _opened(path: Path) -> int:
    """The file, made where it is not there; never through a link, since the folder may be everybody's."""
    flags = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK if os.name == "posix" else 0
    try:
        path.parent.mkdir(mode=files.PRIVATE_FOLDER, parents=True, exist_ok=True)
        descriptor = _existing(path, flags)
        if descriptor is None:
            descriptor = _new(path, flags)
    except FileExistsError as error:
        raise files.store_error(path, NotADirectoryError("its folder is a file")) from error
    except OSError as error:
        raise files.store_error(path, error) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise StoreError("cannot lock: it is no file", where=str(path), hint="remove it")
    return descriptor


def _existing(path: Path, flags: int) -> int | None:
    try:
        return os.open(path, os.O_RDWR | flags)
    except FileNotFoundError:
        return None
    except PermissionError:  # another user's: it can be locked all the same
        return os.open(path, os.O_RDONLY | flags)


def _new(path: Path, flags: int) -> int:
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | flags, _EVERYBODY)
    except FileExistsError:  # another scan was faster
        return os.open(path, os.O_RDWR | flags)
    if os.name == "posix":
        os.fchmod(descriptor, _EVERYBODY)  # whatever the umask
    return descriptor
