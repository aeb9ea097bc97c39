from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from pathtrace.errors import OperationError
from pathtrace.model.sample import Reading
from pathtrace.observers import environment
from pathtrace.observers.far import FarWatch, far_facts, far_mount, share_folder
from pathtrace.places.mounts import mount_of
from tests.unit.observers.local_shell import LocalShell

pytestmark = pytest.mark.skipif(not Path("/proc/stat").exists(), reason="the far host is this one, a Linux")


async def watched(shell: LocalShell, enough: int) -> tuple[list[Reading], FarWatch]:
    watch = FarWatch("nas", shell, time.perf_counter_ns)
    task = asyncio.create_task(watch.run())
    readings: list[Reading] = []
    while len({r.at_ns for r in readings}) < enough and not task.done():
        readings += watch.observe(0)
        await asyncio.sleep(0.02)
    task.cancel()
    await asyncio.wait([task])
    return readings, watch


def test_counters_come_with_this_hosts_time_until_the_watch_is_cancelled() -> None:
    shell = LocalShell()
    before = time.perf_counter_ns()
    readings, watch = asyncio.run(watched(shell, 2))

    subjects = {(r.observer, r.subject) for r in readings}
    assert {("far_cpu", "nas/all"), ("far_cpu", "nas/core0"), ("far_memory", "nas")} <= subjects
    assert all(before < r.at_ns < time.perf_counter_ns() for r in readings)
    busy = [r.value for r in readings if r[1:4] == ("far_cpu", "nas/all", "busy_s")]
    assert busy == sorted(busy)
    assert watch.trouble is None
    assert len(shell.ended) == 1


def test_a_shell_that_ends_leaves_no_readings_and_a_reason() -> None:
    readings, watch = asyncio.run(watched(LocalShell("exit 7; "), 1))
    assert (readings, watch.trouble) == ([], "its counters ended")


def test_a_shell_that_fails_says_why() -> None:
    class Broken(LocalShell):
        async def lines(self, command: str):  # type: ignore[no-untyped-def]
            raise OperationError("the connection was cut off")
            yield ""

    _, watch = asyncio.run(watched(Broken(), 1))
    assert watch.trouble == "the connection was cut off"


def test_a_host_without_proc_is_said_to_be_no_linux() -> None:
    class Mac(LocalShell):
        async def lines(self, command: str):  # type: ignore[no-untyped-def]
            yield "no /proc"

    _, watch = asyncio.run(watched(Mac(), 1))
    assert watch.trouble == "it has no /proc: only Linux hosts can be watched"


def test_silence_is_a_trouble(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pathtrace.observers.far._SILENCE_S", 0.01)
    _, watch = asyncio.run(watched(LocalShell("exec sleep 30; "), 1))
    assert watch.trouble == "nothing came from it for 0 s"


def test_another_host_is_described_as_this_one_is() -> None:
    (here,) = environment.describe("nas").hosts
    there = asyncio.run(far_facts(LocalShell(), "nas"))

    known = ("name", "cpu", "cores", "memory_bytes", "kernel")
    assert [getattr(there, field) for field in known] == [getattr(here, field) for field in known]
    assert [mount.path for mount in there.mounts] == [mount.path for mount in here.mounts]
    for mine, theirs in zip(here.interfaces, there.interfaces, strict=True):
        assert (theirs.name, theirs.mtu_bytes, theirs.up) == (mine.name, mine.mtu_bytes, mine.up)
        assert set(theirs.addresses) == set(mine.addresses)


def test_a_host_that_tells_nothing_is_described_by_what_is_known() -> None:
    there = asyncio.run(far_facts(LocalShell("PATH=/nowhere; echo() { :; }; true; exit 0; "), "nas"))
    assert (there.name, there.cpu, there.cores, there.kernel) == ("nas", None, 1, "unknown")
    assert (there.mounts, there.interfaces, there.memory_available_bytes) == ((), (), None)


@pytest.mark.parametrize("name", ["plain", "with 'quotes' and $(touch x) `y`", "-n"])
def test_a_folder_there_lies_on_the_disk_that_it_lies_on(name: str, tmp_path: Path) -> None:
    folder = tmp_path / name
    folder.mkdir()
    here = mount_of(folder)
    assert asyncio.run(far_mount(LocalShell(f"cd {tmp_path} && "), str(folder))) == here
    assert asyncio.run(far_mount(LocalShell(f"cd {tmp_path} && "), str(folder / "not" / "yet"))) == here
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_relative_folder_is_one_of_the_login(tmp_path: Path) -> None:
    found = asyncio.run(far_mount(LocalShell(f"cd {tmp_path} && "), "."))
    assert found == mount_of(tmp_path)


def shares(tmp_path: Path, text: str, testparm: str) -> LocalShell:
    """A host with this smb.conf, whose ``testparm`` does that."""
    (tmp_path / "smb.conf").write_text(text)
    for name, does in (("testparm", testparm), ("cat", f"exec /bin/cat {tmp_path}/smb.conf")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{does}\n")
        (tmp_path / name).chmod(0o755)
    return LocalShell(f"PATH={tmp_path}:$PATH; ")


CONFIGURATION = """[global]
path = /wrong
[Media Files]
  Path = "/srv/media files"
[homes]
  path = /home/%U
[each]
  directory = /srv/%S
"""


@pytest.mark.parametrize(
    ("share", "folder"),
    [
        ("media files", "/srv/media files"),
        ("homes", None),
        ("each", "/srv/each"),
        ("absent", None),
        ("$(touch here)", None),
    ],
)
def test_a_share_is_found_in_the_servers_configuration(
    share: str, folder: str | None, tmp_path: Path
) -> None:
    shell = shares(tmp_path, CONFIGURATION, "exit 1")
    assert asyncio.run(share_folder(shell, share)) == folder


def test_samba_itself_is_asked_first(tmp_path: Path) -> None:
    asked = '[ "$2" = "--section-name=media" ] && [ "$3" = "--parameter-name=path" ] && echo /from/samba'
    assert asyncio.run(share_folder(shares(tmp_path, CONFIGURATION, asked), "media")) == "/from/samba"
