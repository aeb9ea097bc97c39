"""Whose a run's leftovers are: each run holds a note beside the scratch folders as long as it lives.

A note that nobody holds any more is of a run that died. On file systems that this host does not have to
itself a lock proves nothing; there only notes of this host whose process is gone are taken for that.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

from pathtrace.app.file_locks import NO_LOCKS, is_still, try_lock
from pathtrace.errors import StoreError
from pathtrace.places.mounts import mount_of
from pathtrace.places.owners import is_gone, ourselves

OWNER = "owner"
_FOLDER = ".scratch"

_SAYS_WITHIN_S = 60.0
"""From making its note to saying in it who it is."""
_PRIVATE = 0o600


class Claim:
    """A run's hold on what it makes in a store. Use once: ``take`` a name, ``release`` at the end."""

    def __init__(self, store: Path) -> None:
        self.root = store / _FOLDER
        self._note: Path | None = None
        self._descriptor = -1

    def take(self, name: str) -> None:
        """Say that ``name`` is ours from now on. StoreError if the store does not take that."""
        note = self.root / f"{name}.{OWNER}"
        try:
            while not self._taken(note):
                pass
        except OSError as error:
            raise StoreError(
                f"cannot make a scratch folder: {(error.strerror or str(error)).lower()}",
                where=str(self.root),
                hint="use --store DIR",
            ) from error

    def release(self) -> None:
        """It is nobody's: all that was ours is gone, or is meant to stay."""
        if self._descriptor >= 0:  # closed first, since Windows removes no open file
            os.close(self._descriptor)
            self._descriptor = -1
        if self._note is not None:
            note, self._note = self._note, None
            with contextlib.suppress(OSError):
                note.unlink(missing_ok=True)
                self.root.rmdir()

    def _taken(self, note: Path) -> bool:
        self.root.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            descriptor = os.open(note, os.O_RDWR | os.O_CREAT | os.O_EXCL, _PRIVATE)
        except FileNotFoundError:  # another run has just removed the folder, which was empty
            return False
        try:
            locked = _lock_if_there_are_any(descriptor)
            os.write(descriptor, ourselves().encode())
        except BaseException:
            os.close(descriptor)
            note.unlink(missing_ok=True)
            raise
        if locked and is_still(note, descriptor):
            self._note, self._descriptor = note, descriptor
            return True
        os.close(descriptor)  # somebody looks, or looked, whether it is a dead one's: he was quicker
        note.unlink(missing_ok=True)
        return False


def _lock_if_there_are_any(descriptor: int) -> bool:
    """False only if somebody else has it."""
    try:
        return try_lock(descriptor)
    except OSError:
        return True


def abandoned(root: Path) -> Iterator[Path]:
    """Notes whose runs are dead. Each is held while it is handed out, so that nobody else takes it too;
    then it goes, unless its scratch folder is still there."""
    for note in sorted(root.glob(f"*.{OWNER}")):
        try:
            descriptor = os.open(note, os.O_RDWR)
        except OSError:  # its run has just ended, or it is another user's
            continue
        dead = False
        try:
            dead = _is_dead(note, descriptor)
            if dead:
                yield note
        finally:
            os.close(descriptor)
        if dead and not note.with_suffix("").exists():
            with contextlib.suppress(OSError):
                note.unlink(missing_ok=True)


def living(store: Path) -> frozenset[str]:
    """Names that are claimed, of runs that go on as far as is known."""
    return frozenset(note.stem for note in (store / _FOLDER).glob(f"*.{OWNER}"))


def _is_dead(note: Path, descriptor: int) -> bool:
    try:
        locks = True
        if not try_lock(descriptor):
            return False
    except OSError as error:
        if error.errno not in NO_LOCKS:
            return False
        locks = False
    said = os.read(descriptor, 1000).decode("ascii", "replace").strip()
    if not said:  # it died before it could say who it is, and before it made anything; or begins just now
        return time.time() - os.fstat(descriptor).st_mtime > _SAYS_WITHIN_S
    mount = mount_of(note)
    ours = locks and mount is not None and not mount.network
    return (ours and said.startswith("{")) or _is_gone(said)


def _is_gone(said: str) -> bool:
    return not psutil.pid_exists(int(said)) if said.isdigit() else is_gone(said)  # earlier versions: a number
