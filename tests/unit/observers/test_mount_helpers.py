from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pathtrace.model.run import Mount
from pathtrace.observers.mount_helpers import HelperObserver
from pathtrace.places.mounts import mount_of
from tests.unit.observers.loopback import listening, port

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")


def process(
    proc: Path, pid: int, words: tuple[str, ...], born: int = 0, fuse: bool = False, children: str = ""
) -> None:
    """One process as /proc shows it. Its number is one that this host has no process of."""
    folder = proc / str(pid)
    (folder / "task" / str(pid)).mkdir(parents=True)
    (folder / "fd").mkdir()
    (folder / "comm").write_text(Path(words[0]).name + "\n")
    (folder / "cmdline").write_bytes(b"\0".join(word.encode() for word in words) + b"\0")
    (folder / "stat").write_text(f"{pid} ({words[0]}) S {' '.join(['0'] * 18)} {born} 0 0\n")
    (folder / "task" / str(pid) / "children").write_text(children)
    (folder / "task" / str(pid) / "schedstat").write_text("5000000000 1000000000 7\n")
    if fuse:
        (folder / "fd" / "3").symlink_to("/dev/fuse")


def found(observer: HelperObserver, mount: Mount) -> list[int]:
    return [*observer._helpers[mount]]


A = Mount("/mnt/a", "me@nas:/a", "fuse.sshfs", None, True, "nas", "/a")
B = Mount("/mnt/b", "me@nas:/b", "fuse.sshfs", None, True, "nas", "/b")
SSH = ("ssh", "-x", "-a", "-2", "-s", "--", "me@nas", "sftp")


@linux
def test_each_sshfs_has_the_ssh_that_was_born_next_to_it(tmp_path: Path) -> None:
    process(tmp_path, 901, ("sshfs", "me@nas:/a", "/mnt/a"), 500, fuse=True)
    process(tmp_path, 902, SSH, 501)
    process(tmp_path, 903, ("sshfs", "me@nas:/b", "b"), 900, fuse=True)
    process(tmp_path, 904, SSH, 899)
    process(tmp_path, 905, ("ssh", "me@nas", "uptime"), 500)
    process(tmp_path, 906, ("vi", "me@nas:/a"), 500)
    observer = HelperObserver({"archive": A, "photos": B}, str(tmp_path))

    assert (found(observer, A), found(observer, B)) == ([901, 902], [903, 904])


@linux
def test_of_two_mounts_of_one_remote_each_has_its_own_process_and_its_children(tmp_path: Path) -> None:
    one = Mount("/mnt/one", "drive:x", "fuse.rclone", None, True, None, "x")
    process(tmp_path, 901, ("rclone", "mount", "drive:x", "/mnt/one"), fuse=True, children="903")
    process(tmp_path, 902, ("rclone", "mount", "drive:x", "/mnt/two"), fuse=True)
    process(tmp_path, 903, ("ffmpeg",))
    observer = HelperObserver({"archive": one}, str(tmp_path))
    assert found(observer, one) == [901, 903]
    assert sorted(observer.pids) == [901, 903]


@linux
def test_an_ssh_that_was_started_anew_is_found(tmp_path: Path) -> None:
    process(tmp_path, 901, ("sshfs", "me@nas:/a", "/mnt/a"), 500, fuse=True)
    process(tmp_path, 902, SSH, 501)
    observer = HelperObserver({"archive": A}, str(tmp_path))
    shutil.rmtree(tmp_path / "902")
    observer.observe(0)
    assert found(observer, A) == [901]
    process(tmp_path, 907, SSH, 9000)
    observer.observe(5_000_000_000)
    assert found(observer, A) == [901, 907]


def test_a_mount_of_the_kernels_own_has_no_helper() -> None:
    share = Mount("/mnt/nas", "//nas/share", "cifs", None, True)
    assert HelperObserver({"archive": share}).observe(0) == []


_SERVER = """Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host
AuthorizedKeysFile {folder}/user.pub
PidFile none
UsePAM no
StrictModes no
Subsystem sftp internal-sftp
"""


@contextmanager
def mounted(folder: Path) -> Iterator[Path]:
    """``folder``/data over a real sshfs, ssh and sshd of this host's loopback."""
    for name in ("host", "user"):
        command = ("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name))
        subprocess.run(command, check=True)
    with listening() as free:
        number = port(free)
    (folder / "configuration").write_text(_SERVER.format(port=number, folder=folder))
    (mount := folder / "mount").mkdir()
    Path("/run/sshd").mkdir(exist_ok=True)
    with subprocess.Popen(
        ("/usr/sbin/sshd", "-D", "-f", str(folder / "configuration")), stderr=subprocess.DEVNULL
    ) as server:
        try:
            options = f"IdentityFile={folder}/user,StrictHostKeyChecking=no,UserKnownHostsFile=/dev/null"
            command = (
                *("sshfs", "-p", str(number), "-o", options, f"root@127.0.0.1:{folder}/data"),
                str(mount),
            )
            deadline = time.monotonic() + 5
            while subprocess.run(command, capture_output=True, check=False).returncode:
                assert time.monotonic() < deadline, "sshfs did not mount"
            yield mount
        finally:
            subprocess.run(("fusermount3", "-u", str(mount)), capture_output=True, check=False)
            server.terminate()


def lacking() -> str | None:
    tools = ("sshfs", "ssh-keygen", "/usr/sbin/sshd", "fusermount3")
    missing = [tool for tool in tools if shutil.which(tool) is None]
    if missing or not Path("/dev/fuse").exists():
        return f"needs FUSE, {', '.join(missing)}"
    return None if os.geteuid() == 0 else "needs root"


@pytest.mark.needs_root
def test_a_read_over_sshfs_costs_cpu_in_sshfs_and_in_its_ssh(tmp_path: Path) -> None:
    if reason := lacking():
        pytest.skip(reason)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "file").write_bytes(bytes(20_000_000))
    with mounted(tmp_path) as folder:
        mount = mount_of(folder)
        assert mount is not None
        assert (mount.server, mount.there) == ("127.0.0.1", f"{tmp_path}/data")
        observer = HelperObserver({"archive": mount})
        before = {(r.subject.partition("[")[0], r.metric): r.value for r in observer.observe(0)}
        (folder / "file").read_bytes()
        after = {(r.subject.partition("[")[0], r.metric): r.value for r in observer.observe(1)}

    assert [*after] == [
        (f"archive/{name}", metric)
        for name in ("sshfs", "ssh")
        for metric in ("cpu_s", "run_delay_s", "thread_cpu_s")
    ]
    for name in ("archive/sshfs", "archive/ssh"):
        grown = after[name, "cpu_s"] - before[name, "cpu_s"]
        assert 0 < after[name, "thread_cpu_s"] - before[name, "thread_cpu_s"] <= grown + 0.001
        assert after[name, "run_delay_s"] >= before[name, "run_delay_s"]
