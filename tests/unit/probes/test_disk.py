from __future__ import annotations

import asyncio
import ctypes
import dataclasses
import mmap
import os
import time
from pathlib import Path

import pytest

from pathtrace.model.run import Ceiling
from pathtrace.probes import direct_read
from pathtrace.probes.disk import DiskProbe, Pattern

MIB = 1 << 20
ELSEWHERE = Path("/dev/shm")


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    path = tmp_path / "weights"
    with path.open("wb") as file:
        file.write(os.urandom(MIB) * 40 + b"tail")
        file.flush()
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    if direct_read.choose_way(str(path)) is None:
        pytest.skip("temporary files lie in memory here")
    return path


def measure(files: list[Path], pattern: Pattern = "sequential", **limits: float) -> Ceiling | None:
    sizes = [(str(path), path.stat().st_size if path.exists() else 1) for path in files]
    probe = DiskProbe("disk:archive", sizes, 65536, pattern, time.perf_counter_ns, **limits)  # type: ignore[arg-type]
    return asyncio.run(probe.measure())


def cached_pages(path: Path) -> int:
    """Pages of the file that are in the page cache (mincore of a mapping of it)."""
    size = path.stat().st_size
    pages = -(-size // mmap.PAGESIZE)
    seen = (ctypes.c_ubyte * pages)()
    with path.open("r+b") as file, mmap.mmap(file.fileno(), size) as mapped:
        start = ctypes.c_char.from_buffer(mapped)
        libc = ctypes.CDLL(None, use_errno=True)
        assert libc.mincore(ctypes.c_void_p(ctypes.addressof(start)), ctypes.c_size_t(size), seen) == 0
        del start
    return sum(flag & 1 for flag in seen)


def test_a_file_is_read_past_the_cache_and_not_left_in_it(weights: Path) -> None:
    ceiling = measure([weights])

    assert ceiling is not None
    assert (ceiling.resource, ceiling.source) == ("disk:archive", "measured")
    assert ceiling.evidence.startswith("direct reads, blocks of 1 MiB, 40 MiB; depth 1: ")
    assert "; depth 4: " in ceiling.evidence
    assert ceiling.bytes_per_s is not None
    assert ceiling.bytes_per_s > MIB
    assert cached_pages(weights) == 0


def test_where_direct_reads_are_refused_the_cache_is_emptied_before_and_after(
    weights: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights.read_bytes()
    assert cached_pages(weights) > 0
    monkeypatch.setattr(direct_read, "DIRECT", dataclasses.replace(direct_read.DIRECT, flags=0))

    ceiling = measure([weights])

    assert ceiling is not None
    assert ceiling.evidence.startswith("reads through the emptied page cache (direct I/O refused), ")
    assert cached_pages(weights) == 0


def test_small_files_are_counted_by_the_file(weights: Path) -> None:
    documents = [weights.with_name(f"{n}.txt") for n in range(150)]
    for document in documents:
        document.write_bytes(bytes(5000))

    ceiling = measure([*documents, weights.with_name("gone.txt")], "files")

    assert ceiling is not None
    assert "direct reads, whole files, 732 KiB" in ceiling.evidence
    assert ceiling.operations_per_s is not None
    assert ceiling.bytes_per_s == pytest.approx(5000 * ceiling.operations_per_s, rel=0.05)


def test_no_more_is_read_than_allowed(weights: Path) -> None:
    ceiling = measure([weights], limit_bytes=MIB)

    assert ceiling is not None
    assert ", 16 MiB; depth 1: " in ceiling.evidence


@pytest.mark.parametrize("limit_s", [1e-4, 0.0])
def test_a_slow_disk_is_read_once_at_least_and_then_left(limit_s: float, weights: Path) -> None:
    ceiling = measure([weights], limit_s=limit_s)

    assert ceiling is not None
    assert "(one slice: " in ceiling.evidence
    assert "depth 4" not in ceiling.evidence


def test_without_files_there_is_no_ceiling(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()

    assert [measure([]), measure([tmp_path / "gone"]), measure([tmp_path / "empty"])] == [None] * 3


@pytest.mark.skipif(not ELSEWHERE.is_dir(), reason="no file system in memory here")
def test_memory_is_no_disk() -> None:
    path = ELSEWHERE / f"pathtrace-test-{os.getpid()}"
    path.write_bytes(bytes(10_000))
    try:
        assert measure([path]) is None
    finally:
        path.unlink()


def test_a_file_that_became_a_pipe_holds_nothing_up(weights: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    measured = measure([weights, pipe])
    assert measured is not None
    assert measured.bytes_per_s is not None
