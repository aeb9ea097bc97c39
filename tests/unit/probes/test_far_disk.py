from __future__ import annotations

import asyncio
import os
import re
import sys
import time
from pathlib import Path

import pytest

from pathtrace.errors import OperationError
from pathtrace.model.run import Ceiling
from pathtrace.probes.far_disk import Dropped, FarDiskProbe, FarFilesProbe, drop_server_cache
from pathtrace.units import MIB
from tests.unit.probes.local_shell import LocalShell

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="GNU dd and /proc")

ODD = 'it\'s a "file" $(touch pwned) `x`\n; -name'


def large(folder: Path, name: str = "large", mib: int = 8) -> tuple[str, int]:
    path = folder / name
    path.write_bytes(os.urandom(mib * MIB))
    with path.open("rb") as file:
        os.fsync(file.fileno())
    return str(path), mib * MIB


def small(folder: Path, count: int) -> list[tuple[str, int]]:
    paths = [folder / f"{number}.txt" for number in range(count)]
    for path in paths:
        path.write_bytes(os.urandom(3000))
    os.sync()
    return [(str(path), 3000) for path in paths]


def dd(folder: Path, script: str) -> Path:
    """A dd of another kind, or a slower one."""
    tools = folder / "tools"
    tools.mkdir()
    (tools / "dd").write_text(f"#!/bin/sh\n{script}\n")
    (tools / "dd").chmod(0o755)
    return tools


def on_disk(folder: Path) -> None:
    """Direct reads need a real file system."""
    if asyncio.run(LocalShell().run(f"stat -f -c %T '{folder}'", 5)).strip() in ("tmpfs", "ramfs"):
        pytest.skip("the temporary folder lies in memory")


def measured(probe: FarDiskProbe | FarFilesProbe) -> Ceiling | None:
    return asyncio.run(probe.measure())


def test_large_files_are_read_past_the_cache_whatever_they_are_called(tmp_path: Path) -> None:
    on_disk(tmp_path)
    files = [large(tmp_path, ODD, 96), large(tmp_path, "plain", 32)]
    shell = LocalShell()
    found = measured(FarDiskProbe("disk:archive", shell, files, time.perf_counter_ns, limit_s=5))
    assert found is not None
    assert (found.resource, found.source, found.operations_per_s) == ("disk:archive", "measured", None)
    assert (found.bytes_per_s or 0) > 1e6
    form = r"direct reads by dd on its own host: depth 1: \S+ MB/s \(.+ 4 chunks\); depth 4: .+ 4 chunks\)"
    assert re.fullmatch(form, found.evidence)
    assert not (tmp_path / "pwned").exists()


def test_a_figure_is_what_dd_on_the_other_host_timed(tmp_path: Path) -> None:
    said = 'echo "16777216 bytes (17 MB, 16 MiB) copied, 0.16 s, 105 MB/s" >&2'
    tools = dd(tmp_path, f'case "$*" in *"iflag=direct count=1") exit 0;; esac; {said}')
    path = large(tmp_path, "f", 1)[0]
    found = measured(FarDiskProbe("disk:a", LocalShell(tools), [(path, 128 * MIB)], lambda: 0))
    if found is not None:  # None: the folder lies in memory
        rate = 16 * MIB / 0.16
        assert found.bytes_per_s == pytest.approx(4 * rate)  # four at a time took no longer each
        assert found.evidence == (
            "direct reads by dd on its own host: depth 1: 105 MB/s (105 MB/s to 105 MB/s over 4 chunks); "
            "depth 4: 419 MB/s (419 MB/s to 419 MB/s over 4 chunks)"
        )


def test_small_files_are_counted_without_the_time_that_starting_dd_takes(tmp_path: Path) -> None:
    on_disk(tmp_path)
    tools = dd(tmp_path, 'case "$*" in *if=/dev/null*) ;; *) sleep 0.05;; esac; exec /bin/dd "$@"')
    found = measured(FarFilesProbe("disk:a", LocalShell(tools), small(tmp_path, 24), time.perf_counter_ns))
    assert found is not None
    assert found.bytes_per_s is None
    assert 20 < (found.operations_per_s or 0) < 4 / 0.05
    assert found.evidence.startswith("24 small files read by dd on its own host, past its cache: depth 1: ")


def test_files_that_are_read_as_quickly_as_dd_starts_give_no_figure(tmp_path: Path) -> None:
    tools = dd(tmp_path, "sleep 0.02")
    found = measured(FarFilesProbe("disk:a", LocalShell(tools), small(tmp_path, 16), lambda: 0))
    if found is not None:  # None: the folder lies in memory
        assert found == Ceiling(
            "disk:a",
            None,
            None,
            None,
            "measured",
            "what the disk does alone is not known: its files are read as quickly as dd is started there",
            0.0,
        )


def test_a_dd_without_direct_reads_gives_no_figure_and_says_so(tmp_path: Path) -> None:
    on_disk(tmp_path)
    tools = dd(tmp_path, 'case "$*" in *iflag*) exit 1;; esac; exec /bin/dd "$@"')
    found = measured(FarDiskProbe("disk:a", LocalShell(tools), [large(tmp_path)], lambda: 0))
    why = "its dd or its file system cannot read past the cache (no iflag=direct)"
    assert found == Ceiling(
        "disk:a", None, None, None, "measured", f"what the disk does alone is not known: {why}", 0.0
    )


def test_files_that_are_not_there_for_that_user_say_so() -> None:
    found = measured(FarFilesProbe("disk:a", LocalShell(), [("/nowhere/at all", 5)], lambda: 0))
    assert found is not None
    assert found.evidence.endswith("its files cannot be read there by the user that ssh logs in as")


def test_files_in_memory_have_no_disk() -> None:
    folder = Path("/dev/shm")
    if not os.access(folder, os.W_OK):
        pytest.skip("no /dev/shm")
    path = folder / f"pathtrace-far-disk-{os.getpid()}"
    path.write_bytes(bytes(2 * MIB))
    try:
        assert measured(FarDiskProbe("disk:a", LocalShell(), [(str(path), 2 * MIB)], lambda: 0)) is None
    finally:
        path.unlink()


def test_nothing_is_asked_where_there_is_nothing_to_read() -> None:
    shell = LocalShell()
    assert measured(FarDiskProbe("disk:a", shell, [("/x", 100)], lambda: 0)) is None
    assert measured(FarFilesProbe("disk:a", shell, [("/x", 0)], lambda: 0)) is None
    assert shell.commands == []


def test_commands_stay_short_enough_for_any_kernel() -> None:
    class Deaf(LocalShell):
        async def run(self, command: str, timeout_s: float) -> str:
            self.commands.append(command)
            return "type ext2/ext3\nreadable\ndirect\ntime 1.0 2.0\n"

    shell = Deaf()
    many = [(f"/{'x' * 200}/{number}", 5 * MIB) for number in range(100_000)]
    measured(FarDiskProbe("disk:a", shell, many, lambda: 0, limit_bytes=1 << 50))
    measured(FarFilesProbe("disk:a", shell, [(path, 10) for path, _ in many], lambda: 0))
    assert max(map(len, shell.commands)) < 131_072


def test_a_far_cache_is_emptied_file_by_file_and_proved(tmp_path: Path) -> None:
    on_disk(tmp_path)
    folder = tmp_path / "it's here"
    folder.mkdir()
    (folder / ODD.replace("/", "_")).write_bytes(bytes(5))
    path = folder / "large"
    path.write_bytes(os.urandom(MIB))
    assert len(path.read_bytes()) == MIB
    said = asyncio.run(drop_server_cache(LocalShell(), str(folder)))
    assert said == Dropped(
        "2 files taken out of its page cache by dd iflag=nocache; 0 B of them left in memory", 0
    )


def test_a_dd_that_cannot_empty_a_cache_is_told(tmp_path: Path) -> None:
    tools = dd(tmp_path, "exit 1")
    with pytest.raises(OperationError, match=r"its dd cannot empty the cache of a file \(no iflag=nocache\)"):
        asyncio.run(drop_server_cache(LocalShell(tools), str(tmp_path)))


def test_a_folder_without_files_is_told(tmp_path: Path) -> None:
    with pytest.raises(OperationError, match=r"no file below .* could be taken out of its cache"):
        asyncio.run(drop_server_cache(LocalShell(), str(tmp_path)))
