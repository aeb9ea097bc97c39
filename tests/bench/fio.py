"""fio with the pattern of a files place: bytes per second as fio itself counts them."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest


def fio_rate(path: Path, *, block_bytes: int, depth: int, direct: bool) -> float:
    """One pass from front to end. With depth 1 by pread calls, with more by libaio."""
    if shutil.which("fio") is None:
        pytest.skip("fio is not installed (Debian: fio)")
    done = subprocess.run(
        [
            "fio",
            "--name=bench",
            f"--filename={path}",
            "--rw=read",
            "--readonly",
            f"--bs={block_bytes}",
            f"--size={path.stat().st_size}",
            f"--direct={int(direct)}",
            "--invalidate=0",
            "--ioengine=psync" if depth == 1 else "--ioengine=libaio",
            f"--iodepth={depth}",
            "--output-format=json",
        ],
        capture_output=True,
        check=True,
        timeout=300,
    )
    (job,) = json.loads(done.stdout)["jobs"]
    assert job["read"]["io_bytes"] == path.stat().st_size
    return float(job["read"]["io_bytes"] / (job["read"]["runtime"] / 1e3))
