"""The lab's servers do what they say: right bytes, wrong passwords refused, limits kept, nothing left."""

from __future__ import annotations

import contextlib
import hashlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import lab_leftovers
import pytest
from lab import disks, network, postgres, quotas, ssh, traffic
from lab.disks import cached_pages, drop_caches, fast_disk, held_disk
from lab.documents import large_files, small_files, system_documents
from lab.hosts import Host
from lab.nas import Held, Nas, nas, why_not
from lab.network import Network
from lab.responder import iperf3_server, responder
from lab.samba import Demand, Share, smbd
from lab.ssh import sshd, sshfs_mount

pytestmark = [pytest.mark.truth, pytest.mark.needs_root]

_HERE = Path(__file__).parent
_OWNER = """
import sys, time
sys.path[:0] = [{here!r}, {root!r}]
from lab.hosts import Host
from lab.nas import Held, nas
from lab.quotas import cpu_quota
from lab.ssh import sshfs_mount
from lab.traffic import traffic
near, far = Host("nas", {nas!r}, {nas_address!r}), Host("workstation", {far!r}, {far_address!r})
content = lambda folder: (folder / "a").write_bytes(b"a" * 100_000)
with nas(near, content, held=Held(bytes_per_s=60e6)) as box, cpu_quota(box.samba.pid, cores=0.5):
    with sshfs_mount(far, box.ssh, box.folder) as mount, traffic(near, far, rate="10M"):
        print(mount, flush=True)
        time.sleep(60)
"""


@pytest.fixture
def net() -> Iterator[Network]:
    if reason := network.why_not() or why_not() or ssh.why_no_mount() or traffic.why_not():
        pytest.skip(reason)
    with network.network(link="10gbit") as made:
        yield made
        assert _running_on(made) == []


def _get(net: Network, box: Nas, file: str) -> float:
    """Seconds for the workstation to fetch a file with smbclient and forget it."""
    start = time.monotonic()
    net.workstation.run(*box.samba.smbclient("documents", f'get "{file}" /dev/null'))
    return time.monotonic() - start


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def test_samba_hands_out_the_right_bytes_and_refuses_a_wrong_password(
    net: Network, draw: random.Random, room: Path
) -> None:
    size, seed = draw.randrange(5_000_000, 9_000_000), draw.randrange(2**32)
    with nas(net.nas, lambda folder: large_files(folder, sizes=[size], seed=seed)) as box:
        net.workstation.run(*box.samba.smbclient("documents", f"get large0.bin {room}/got"))
        assert _digest(room / "got") == _digest(box.folder / "large0.bin")
        (room / "wrong").write_text(f"username = {box.samba.user}\npassword = x{box.samba.password}\n")
        argv = box.samba.smbclient("documents", "ls")
        argv[argv.index(str(box.samba.credentials))] = str(room / "wrong")
        with pytest.raises(RuntimeError, match=r"workstation"):
            net.workstation.run(*argv)
        refused = subprocess.run(net.workstation.command(argv), capture_output=True, text=True, check=False)
        assert (refused.returncode, "LOGON_FAILURE" in refused.stdout + refused.stderr) == (1, True)


def test_a_read_only_share_is_not_written(net: Network, room: Path) -> None:
    shares = {}
    for name, access in (("read", "read"), ("write", "write")):
        (room / name).mkdir()
        shares[name] = Share(room / name, access)  # type: ignore[arg-type]
    (room / "new").write_text("new")
    with smbd(net.nas, shares) as samba:
        for share in shares:
            argv = samba.smbclient(share, f"put {room}/new new")
            subprocess.run(net.workstation.command(argv), capture_output=True, check=False)
    assert [(room / name / "new").exists() for name in ("read", "write")] == [False, True]


@pytest.mark.parametrize("signing", ["mandatory", "off"])
@pytest.mark.parametrize("encryption", ["mandatory", "off"])
def test_samba_signs_and_encrypts_as_it_was_told_to(
    net: Network, room: Path, signing: Demand, encryption: Demand
) -> None:
    """As the server itself lists the session; what is only ``partial`` is the logging in."""
    with smbd(net.nas, {"s": Share(room)}, signing=signing, encryption=encryption) as samba:
        argv = [*samba.smbclient("s", "")[:-2], "--option=client signing=if_required"]
        ask = f"!smbstatus -s {samba.configuration} --processes\n"
        listed = subprocess.run(
            net.workstation.command(argv), input=ask, capture_output=True, text=True, check=True
        ).stdout
        old = [*samba.smbclient("s", "ls"), "--option=client max protocol=SMB2_10"]
        plain = subprocess.run(net.workstation.command(old), capture_output=True, check=False).returncode
    (line,) = [each for each in listed.splitlines() if f"(ipv4:{net.workstation.address}" in each]
    dialect, encrypted, signed = line.rpartition(")  ")[2].split()[-3:]
    assert (dialect, encrypted != "-") == ("SMB3_11", encryption == "mandatory")
    assert not signed.startswith("partial") if signing == "mandatory" else signed.startswith("partial")
    assert plain == (1 if encryption == "mandatory" else 0)  # SMB 2.1 cannot encrypt


def test_ssh_and_sshfs_and_asyncssh_read_a_file_right(net: Network, draw: random.Random) -> None:
    size, seed = draw.randrange(3_000_000, 6_000_000), draw.randrange(2**32)
    with nas(net.nas, lambda folder: large_files(folder, sizes=[size], seed=seed)) as box:
        file = box.folder / "large0.bin"
        wanted = _digest(file)
        assert net.workstation.run(*box.ssh.command("sha256sum", str(file))).split()[0] == wanted
        with sshfs_mount(net.workstation, box.ssh, box.folder, cipher="aes256-ctr") as mount:
            before = _received(net.workstation)
            assert _digest(mount / "large0.bin") == wanted
            assert _received(net.workstation) - before > size
        got = net.workstation.run(sys.executable, "-c", _SFTP, str(box.ssh.configuration), str(file))
        assert got.strip() == wanted


_SFTP = """
import asyncio, hashlib, sys
import asyncssh
async def read():
    async with asyncssh.connect("nas", config=[sys.argv[1]]) as connection:
        async with connection.start_sftp_client() as sftp, sftp.open(sys.argv[2], "rb") as file:
            return await file.read()
print(hashlib.sha256(asyncio.run(read())).hexdigest())
"""


def _received(host: Host) -> int:
    rows = [line.replace(":", " ").split() for line in host.run("cat", "/proc/net/dev").splitlines()[2:]]
    return sum(int(row[1]) for row in rows if row[0] != "lo")


def test_a_stranger_s_key_is_refused(net: Network, room: Path) -> None:
    with sshd(net.nas) as server:
        subprocess.run(
            ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(room / "stranger")], check=True
        )
        argv = server.command("true")
        argv[1:1] = ["-i", str(room / "stranger"), "-o", f"IdentityFile={room}/stranger"]
        text = server.configuration.read_text().replace(str(server.identity), str(room / "stranger"))
        (room / "config").write_text(text)
        argv[argv.index(str(server.configuration))] = str(room / "config")
        done = subprocess.run(net.workstation.command(argv), capture_output=True, text=True, check=False)
    assert (done.returncode, "Permission denied" in done.stderr) == (255, True)


def test_a_cold_file_comes_at_the_disk_s_rate_and_a_warm_one_much_faster(
    net: Network, draw: random.Random
) -> None:
    size, rate, seed = 150_000_000, draw.uniform(30e6, 45e6), draw.randrange(2**32)
    print(f"{rate=}")
    with nas(
        net.nas,
        lambda folder: large_files(folder, sizes=[size], seed=seed),
        held=Held(bytes_per_s=rate),
    ) as box:
        cold, read = _get(net, box, "large0.bin"), box.disk.operations()
        warm = _get(net, box, "large0.bin")
        assert size / cold == pytest.approx(rate, rel=0.10)
        assert warm < cold / 4
        assert box.disk.operations() == read
        assert box.disk.cool() in ("nothing", "inodes")
        assert size / _get(net, box, "large0.bin") == pytest.approx(rate, rel=0.10)


def test_small_files_come_at_the_disk_s_operations(net: Network, draw: random.Random) -> None:
    files, iops, seed = 450, draw.uniform(130, 180), draw.randrange(2**32)
    print(f"{iops=}")
    with held_disk(lambda folder: small_files(folder, files=files, size=16384, seed=seed), iops=iops) as disk:
        paths = sorted(disk.folder.rglob("*.bin"))
        before, start = disk.operations(), time.monotonic()
        # Several at once, so that the disk is never without a request: one reader's own time is no limit.
        with ThreadPoolExecutor(4) as readers:
            list(readers.map(Path.read_bytes, paths))
        seconds = time.monotonic() - start
        operations = disk.operations() - before
    assert operations / seconds == pytest.approx(iops, rel=0.15)
    assert files / seconds == pytest.approx(iops, rel=0.15)


def test_a_disk_that_was_cooled_is_read_anew(net: Network, draw: random.Random) -> None:
    seed = draw.randrange(2**32)
    with held_disk(lambda folder: small_files(folder, files=100, size=16384, seed=seed)) as disk:
        paths = sorted(disk.folder.rglob("*.bin"))

        def read() -> int:
            before = disk.operations()
            for path in paths:
                path.read_bytes()
            return disk.operations() - before

        read()
        assert read() == 0
        assert disk.cool() == "nothing"
        assert read() >= 100
        with paths[0].open("rb"):  # somebody has it in use
            assert disk.cool() == "inodes"
        assert read() >= 100


def test_caches_are_dropped_to_the_last_page_and_memory_cannot_be(room: Path) -> None:
    if reason := disks.why_not():
        pytest.skip(reason)
    file = room / "file"
    file.write_bytes(os.urandom(3_000_000))
    assert cached_pages(file)[0] > 700
    drop_caches(room)
    assert cached_pages(file) == (0, 0)
    with fast_disk(lambda folder: (folder / "a").write_bytes(b"a" * 10_000)) as disk:
        assert disk.cool() == "everything"
        with pytest.raises(RuntimeError, match="stay in the page cache"):
            drop_caches(disk.folder)


def test_a_quota_holds_the_server_back(net: Network, draw: random.Random) -> None:
    if reason := quotas.why_not():
        pytest.skip(reason)
    seed = draw.randrange(2**32)
    with (
        nas(net.nas, lambda folder: large_files(folder, sizes=[400_000_000], seed=seed)) as box,
        quotas.cpu_quota(box.samba.pid, cores=0.1) as quota,
    ):
        before = _cpu_s(box.samba.pid)
        seconds = _get(net, box, "large0.bin")
        used = _cpu_s(box.samba.pid) - before
        throttled = quota.throttled_s()
    print(f"{used=:.2f} {seconds=:.2f} {throttled=:.2f}")
    assert throttled > 0.3  # it wanted more
    assert 0.02 < used <= 0.1 * seconds + 0.05  # and did not get it; a period may be begun
    assert not quota.group.exists()


def _cpu_s(pid: int) -> float:
    """CPU time of a process, of those that live below it and of those that it has seen end."""
    ticks = 0
    for each in lab_leftovers.family(pid):
        with contextlib.suppress(OSError):
            fields = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def test_background_traffic_takes_about_half_of_the_link(net: Network, draw: random.Random) -> None:
    net.set_link("1gbit")
    seed = draw.randrange(2**32)
    with nas(net.nas, lambda folder: large_files(folder, sizes=[100_000_000], seed=seed)) as box:
        alone = _get(net, box, "large0.bin")
        with traffic.traffic(net.nas, net.workstation, rate="500M"):
            beside = _get(net, box, "large0.bin")
        again = _get(net, box, "large0.bin")
    print(f"{alone=:.2f} {beside=:.2f} {again=:.2f}")
    assert alone / beside == pytest.approx(0.5, abs=0.12)
    assert again == pytest.approx(alone, rel=0.15)


def test_postgres_answers_on_its_host_s_address_only_with_the_password(net: Network) -> None:
    if reason := postgres.why_not():
        pytest.skip(reason)
    ask = "import psycopg, sys; print(psycopg.connect(sys.argv[1]).execute('SELECT 41 + 1').fetchone()[0])"
    with held_disk(fsync_s=0.01) as disk, postgres.postgres(net.db, disk.folder) as server:
        assert net.workstation.run(sys.executable, "-c", ask, server.url).strip() == "42"
        wrong = server.url.replace(postgres.URL_PASSWORD, "guess")
        with pytest.raises(RuntimeError, match="password authentication failed"):
            net.workstation.run(sys.executable, "-c", ask, wrong)
        assert server.run("SHOW data_directory") == [(str(disk.folder / "data"),)]


def test_an_iperf3_server_answers_on_its_host(net: Network) -> None:
    with iperf3_server(net.nas):
        report = net.workstation.run("iperf3", "-c", net.nas.address, "-n", "1M", "-J")
    assert '"sum_received"' in report


def test_a_responder_listens_on_its_host_only_and_shows_its_token_to_nobody(net: Network) -> None:
    with responder(net.nas) as it:
        assert f"{net.nas.address}:{it.port} " in net.nas.run("ss", "-Htln")
        assert net.workstation.run("ss", "-Htln") == ""
        assert it.token not in Path(f"/proc/{it.pid}/cmdline").read_text()


def test_a_port_that_is_taken_is_an_error(net: Network) -> None:
    with iperf3_server(net.nas), pytest.raises(RuntimeError, match="ended with"), iperf3_server(net.nas):
        pass


def test_documents_are_made_quickly_and_the_same_from_the_same_seed() -> None:
    if reason := disks.why_not():
        pytest.skip(reason)
    with fast_disk() as first, fast_disk() as second:
        start = time.monotonic()
        made = small_files(first.folder, files=5000, size=16384, seed=7)
        assert time.monotonic() - start < 2
        again = small_files(second.folder, files=5000, size=16384, seed=7)
        contents = [path.read_bytes() for path in made]
        assert contents == [path.read_bytes() for path in again]
        assert len(set(contents)) == 5000
        assert {len(each) for each in contents} == {16384}


def test_the_system_s_documents_are_copied_whole(room: Path) -> None:
    copies = system_documents(room)
    assert len(copies) > 100
    sources = [Path("/usr/share/doc") / path.relative_to(room) for path in copies[::50]]
    assert [path.read_bytes() for path in copies[::50]] == [path.read_bytes() for path in sources]


def test_a_nas_is_up_in_seconds(net: Network) -> None:
    start = time.monotonic()
    with nas(net.nas, held=Held(bytes_per_s=60e6)), postgres.postgres(net.db):
        assert time.monotonic() - start < 5


def test_what_a_killed_owner_left_is_removed(net: Network) -> None:
    code = _OWNER.format(
        here=str(_HERE),
        root=str(_HERE.parent.parent),
        nas=net.nas.namespace,
        nas_address=net.nas.address,
        far=net.workstation.namespace,
        far_address=net.workstation.address,
    )
    owner = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    mount = Path(owner.stdout.readline().strip())
    assert (mount / "a").read_bytes() == b"a" * 100_000
    owner.send_signal(signal.SIGKILL)
    owner.wait()
    owner.stdout.close()
    assert _traces(owner.pid)
    assert {"smbd", "sshd", "sshfs", "iperf3"} <= set(_running_on(net))
    lab_leftovers.remove_leftovers()
    assert _traces(owner.pid) == []
    assert _running_on(net) == []


def _traces(owner: int) -> list[str]:
    """What bears the mark of an owner's folders: processes, mounts, loop devices, groups, folders."""
    seen = [
        subprocess.run(argv, capture_output=True, text=True, check=True).stdout
        for argv in (["ps", "-eo", "pid,args"], ["losetup", "--list"], ["cat", "/proc/self/mountinfo"])
    ]
    lines = [line for text in seen for line in text.splitlines() if f"/{owner}-" in line]
    groups = Path("/sys/fs/cgroup/cpu").glob(f"pathtrace-lab-{owner}-*")
    folders = lab_leftovers.BASE.glob(f"{owner}-*")
    return [*lines, *map(str, groups), *map(str, folders)]


def _running_on(net: Network) -> list[str]:
    """Programs that live in the network of a host, however they call themselves: servers rename
    themselves, and what comes from a connection may leave the session and outlive its parent."""
    hosts = {Path(f"/run/netns/{host.namespace}").stat().st_ino for host in net.hosts.values()}
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it ended meanwhile, or is a zombie, which has no network
            if (process / "ns" / "net").stat().st_ino in hosts:
                found.append((process / "comm").read_text().strip())
    return sorted(found)
