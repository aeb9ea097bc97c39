"""The lab itself: what it plants is really there, and it cleans up after itself, also when killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import lab_leftovers
import lab_model_server
import pytest
from lab_server_process import Server
from lab_slow_disk import SlowDisk

pytestmark = [pytest.mark.truth]

_HERE = Path(__file__).parent
_OWNER = """
import sys, time
sys.path.insert(0, {here!r})
from lab_slow_disk import slow_disk
with slow_disk(bytes_per_s=60e6) as disk:
    (disk.folder / "x").write_bytes(b"x" * 100_000)
    print(disk.folder, flush=True)
    time.sleep(60)
"""


def _device_sectors(device: str) -> int:
    return int(Path(f"/sys/block/{device}/stat").read_text().split()[2])


@pytest.mark.needs_root
def test_a_slow_disk_passes_the_rate_it_was_set_to(slow_disk: Callable[..., SlowDisk], room: Path) -> None:
    (room / "a").write_bytes(os.urandom(60_000_000))
    disk = slow_disk(bytes_per_s=60e6, content=room)
    before, start = _device_sectors(disk.device), time.monotonic()
    subprocess.run(["cat", str(disk.folder / "a")], stdout=subprocess.DEVNULL, check=True)
    seconds, read = time.monotonic() - start, (_device_sectors(disk.device) - before) * 512
    assert read == pytest.approx(60_000_000, rel=0.01)
    assert read / seconds == pytest.approx(60e6, rel=0.06)


@pytest.mark.needs_root
def test_a_slow_disk_takes_its_time_to_flush(slow_disk: Callable[..., SlowDisk]) -> None:
    disk = slow_disk(bytes_per_s=200e6, fsync_s=0.02)
    with (disk.folder / "a").open("wb") as file:
        start = time.monotonic()
        for _ in range(5):
            file.write(b"x" * 4096)
            file.flush()
            os.fsync(file.fileno())
    assert time.monotonic() - start >= 5 * 0.02


@pytest.mark.needs_root
def test_what_a_killed_lab_left_behind_is_removed(slow_disk: Callable[..., SlowDisk]) -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", _OWNER.format(here=str(_HERE))], stdout=subprocess.PIPE, text=True
    )
    assert owner.stdout is not None
    folder = owner.stdout.readline().strip()
    owner.send_signal(signal.SIGKILL)
    owner.wait()
    owner.stdout.close()
    assert os.path.ismount(folder)
    assert [name for name in lab_leftovers.remove_leftovers() if name.startswith(f"{owner.pid}-")]
    assert not os.path.exists(folder)
    loops = subprocess.run(["losetup", "--list"], capture_output=True, text=True, check=True).stdout
    assert f"/{owner.pid}-" not in loops
    processes = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert f"/{owner.pid}-" not in processes


def test_the_model_server_counts_what_it_read_as_the_kernel_does(
    model_server: Callable[..., Server], room: Path
) -> None:
    import urllib.request

    weights = room / "weights"
    weights.write_bytes(os.urandom(5_000_000))
    server = model_server(weights_path=str(weights), weights="reread", tokens=2)
    counters = Path(f"/proc/{server.pid}/io")
    before = int(counters.read_text().split()[1])
    for _ in range(3):
        request = urllib.request.Request(server.url + "/v1/chat/completions", data=b"{}", method="POST")
        with urllib.request.urlopen(request, timeout=10) as answer:
            assert b"word1" in answer.read()
    assert lab_model_server.truth(server.url) == {"requests": 3, "weights_bytes": 15_000_000}
    assert int(counters.read_text().split()[1]) - before == pytest.approx(15_000_000, rel=0.01)
