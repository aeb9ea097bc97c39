"""A mount whose every read request takes a set time, as one over a long line does.

``with far_mount(file, delay_s=0.004) as mount:`` gives the folder in which the file lies. The page
cache, read-ahead and mapped pages behave as on a network mount. Needs root and FUSE.
By hand: ``python lab_far_mount.py FILE 0.004`` mounts one until Enter is pressed.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab_leftovers import Claim, claimed

_FILE_SERVER = Path(__file__).with_name("lab_far_file.py")
_FOLDER_SERVER = Path(__file__).with_name("lab_far_folder.py")


@dataclass(frozen=True)
class FarMount:
    folder: Path
    count: Path

    def requests(self) -> int:
        """Read requests that came from the kernel so far."""
        return int(self.count.read_text() or 0)


@contextlib.contextmanager
def far_mount(file: Path, *, delay_s: float, read_ahead_kib: int = 16) -> Iterator[FarMount]:
    """A small read-ahead, as a share without one has: a mapped page then brings few others with it,
    while a call that reads asks for as much as it wants."""
    with claimed("far-mount") as claim:
        folder = claim.folder / "far"
        folder.mkdir()
        count = claim.folder / "count"
        count.write_text("0")
        with _served(claim, [_FILE_SERVER, file, folder, delay_s, count], folder, folder / file.name):
            _bdi(folder).write_text(str(read_ahead_kib))
            yield FarMount(folder, count)


@contextlib.contextmanager
def far_folder(*, sync_s: float) -> Iterator[Path]:
    """An empty folder that looks like another machine's, and takes ``sync_s`` to sync a file."""
    with claimed("far-folder") as claim:
        folder, backing = claim.folder / "far", claim.folder / "backing"
        folder.mkdir()
        backing.mkdir()
        (backing / "here").touch()
        with _served(claim, [_FOLDER_SERVER, backing, folder, sync_s], folder, folder / "here"):
            (folder / "here").unlink()
            yield folder


@contextlib.contextmanager
def _served(claim: Claim, command: Sequence[object], folder: Path, first: Path) -> Iterator[None]:
    """The mount while it is there: from when ``first`` can be seen."""
    with (claim.folder / "log").open("wb") as log:
        server = subprocess.Popen(
            [sys.executable, *map(str, command)], stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
    claim.started(server.pid)
    claim.will_mount(folder)
    deadline = time.monotonic() + 10
    while not first.exists():
        if server.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"{folder} was not mounted (exit {server.poll()})")
        time.sleep(0.02)
    yield
    subprocess.run(["umount", str(folder)], check=False)
    server.wait(10)


def _bdi(folder: Path) -> Path:
    """Where the kernel keeps how far it reads ahead on this mount."""
    device = folder.stat().st_dev
    return Path(f"/sys/class/bdi/{os.major(device)}:{os.minor(device)}/read_ahead_kb")


if __name__ == "__main__":
    with far_mount(Path(sys.argv[1]), delay_s=float(sys.argv[2])) as mount:
        input(f"{mount.folder}; Enter ends it ")
