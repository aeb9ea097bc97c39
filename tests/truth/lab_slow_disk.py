"""A disk that is as slow as the test wants: ext4 on a loop device over a rate-limited file.

Its device is busy all the time that it serves, as a real disk is, which a control group's limit would
hide. ``with slow_disk(bytes_per_s=60e6) as disk:`` gives a mounted folder; ``content`` is on it from
the start, without having passed the limit. Needs root, FUSE and loop devices.
By hand: ``python lab_slow_disk.py 60e6 0.0`` mounts one until Enter is pressed.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lab_leftovers import claimed

_SERVER = Path(__file__).with_name("lab_slow_file.py")


@dataclass(frozen=True)
class SlowDisk:
    folder: Path
    device: str
    """The loop device's kernel name, as in ``/sys/block``."""

    def operations(self) -> int:
        """Read requests that the device has served since it was made."""
        return int(Path(f"/sys/block/{self.device}/stat").read_text().split()[0])


def why_not() -> str | None:
    """Why no slow disk can be had here, or None."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return "a slow disk needs root"
    if not Path("/dev/fuse").exists() or not Path("/dev/loop-control").exists():
        return "a slow disk needs FUSE and loop devices"
    try:
        import mfusepy  # noqa: F401
    except (ImportError, OSError) as error:
        return f"a slow disk needs mfusepy and libfuse3: {error}"
    return None


@contextlib.contextmanager
def slow_disk(
    *,
    bytes_per_s: float = float("inf"),
    iops: float = float("inf"),
    fsync_s: float = 0.0,
    size: int = 1 << 30,
    content: Path | None = None,
) -> Iterator[SlowDisk]:
    """A mounted folder whose disk passes ``bytes_per_s`` in at most ``iops`` reads and writes a second,
    and takes ``fsync_s`` to flush. One that is held to nothing lies in memory, and is a device too."""
    if bytes_per_s == iops == float("inf") and not fsync_s:
        with _quick_disk(size, content) as disk:
            yield disk
        return
    with contextlib.ExitStack() as last, claimed("slow-disk") as claim:
        backing = claim.folder / "backing"
        slow, folder = claim.folder / "slow", claim.folder / "disk"
        slow.mkdir()
        folder.mkdir()
        _format(backing, size, content)
        with (claim.folder / "log").open("wb") as log:
            server = subprocess.Popen(
                [
                    *(sys.executable, str(_SERVER), str(backing), str(slow)),
                    *(str(bytes_per_s), str(fsync_s), str(iops)),
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        last.callback(server.wait, 10)
        claim.started(server.pid)
        claim.will_mount(slow)
        _wait_for(slow / "disk", server)
        claim.will_loop(slow / "disk")
        device = _attach(slow / "disk")
        claim.will_mount(folder)
        _run("mount", "-o", "noatime", device, str(folder))
        yield SlowDisk(folder, Path(device).name)


@contextlib.contextmanager
def _quick_disk(size: int, content: Path | None) -> Iterator[SlowDisk]:
    with claimed("quick-disk") as claim:
        memory, folder = claim.folder / "memory", claim.folder / "disk"
        memory.mkdir()
        folder.mkdir()
        claim.will_mount(memory)
        _run("mount", "-t", "tmpfs", "pathtrace-lab", str(memory))
        backing = memory / "disk"
        _format(backing, size, content)
        claim.will_loop(backing)
        device = _attach(backing)
        claim.will_mount(folder)
        _run("mount", "-o", "noatime", device, str(folder))
        yield SlowDisk(folder, Path(device).name)


def _format(backing: Path, size: int, content: Path | None) -> None:
    with backing.open("wb") as file:
        file.truncate(size)
    fill = ["-d", str(content)] if content else []
    options = "lazy_itable_init=0,lazy_journal_init=0,nodiscard"
    _run("mkfs.ext4", "-q", "-F", "-m", "0", "-E", options, *fill, str(backing))


def _wait_for(path: Path, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 10
    while not path.exists():
        if server.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"the slow file was not mounted (exit {server.poll()})")
        time.sleep(0.02)


def _attach(file: Path) -> str:
    # Direct: otherwise the slow file's pages would be cached below the disk, which then looks fast.
    return _run("losetup", "--find", "--show", "--direct-io=on", str(file)).strip()


def _run(*arguments: str) -> str:
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


if __name__ == "__main__":
    with slow_disk(bytes_per_s=float(sys.argv[1]), fsync_s=float(sys.argv[2])) as disk:
        input(f"{disk.folder} on {disk.device}; Enter ends it ")
