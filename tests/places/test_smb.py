"""``smb://`` against a real Samba, through both libraries: data, times, errors, and what is recorded."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from pathtrace.errors import OperationError, PlaceError
from pathtrace.model.network import Endpoint
from pathtrace.places.remote import Fetched, RemoteFile, Target
from pathtrace.places.smb import SmbClient, make_client
from pathtrace.places.smb_libsmbclient import load
from tests.places.smb_server import USER, SmbServer, need_samba, smb_server

pytestmark = [pytest.mark.server, pytest.mark.needs_root]

Result = TypeVar("Result")
ODD_NAMES = (
    "with space.txt",
    "percent%41 #hash.txt",
    "ümläut 文件 🎉.md",
    "plus+amp&semi;.txt",
    "quote'brackets[1](2){3}.txt",
    ".hidden",
)
BLOCK = 1 << 20


@pytest.fixture(scope="module")
def tree() -> Iterator[Path]:
    """Not below pytest's own folder, which nobody else may enter: the server reads as the user nobody."""
    with tempfile.TemporaryDirectory(prefix="pathtrace-smb-") as folder:
        Path(folder).chmod(0o755)
        plant(Path(folder))
        yield Path(folder)


def plant(root: Path) -> None:
    draw = random.Random(20)
    (root / "docs" / "deep" / "deeper").mkdir(parents=True)
    (root / "empty folder").mkdir()
    for index, name in enumerate(ODD_NAMES):
        (root / "docs" / name).write_bytes(draw.randbytes(1000 + index))
    (root / "docs" / "deep" / "deeper" / "leaf").write_bytes(b"leaf")
    (root / "nothing").write_bytes(b"")
    (root / "large").write_bytes(draw.randbytes(5 * BLOCK + 12345))
    (root / "secret").write_bytes(b"secret")
    (root / "secret").chmod(0o600)
    (root / "locked").mkdir(mode=0o700)
    (root / "scratch").mkdir()
    (root / "scratch").chmod(0o777)


@pytest.fixture(scope="module")
def server(tree: Path) -> Iterator[SmbServer]:
    need_samba()
    shares = {
        "data": f"path = {tree}\nread only = no",
        "closed": f"path = {tree}\nvalid users = root",
        "open": f"path = {tree}\nguest ok = yes",
    }
    with smb_server(shares, "map to guest = Bad User") as running:
        yield running


@pytest.fixture(params=["libsmbclient", "smbprotocol"])
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    name = str(request.param)
    if name == "libsmbclient":
        try:
            load()
        except OSError as error:
            pytest.skip(str(error))
    else:
        pytest.importorskip("smbprotocol")
    monkeypatch.setenv("PATHTRACE_SMB", name)
    monkeypatch.setenv("HOME", "/nonexistent")
    return name


def target(server: SmbServer, path: str, **changes: object) -> Target:
    fields: dict[str, object] = {
        "scheme": "smb",
        "host": "127.0.0.1",
        "port": server.port,
        "user": USER,
        "password": server.password,
        "path": path,
    }
    return Target(**{**fields, **changes})  # type: ignore[arg-type]


def using(
    at: Target, work: Callable[[SmbClient], Awaitable[Result]], parallel: int = 1, limit_s: float = 60
) -> Result:
    async def life() -> Result:
        client = make_client(at, time.perf_counter_ns)
        await client.open(parallel)
        try:
            return await work(client)
        finally:
            await client.close()
            assert client.pids == ()

    return asyncio.run(asyncio.wait_for(life(), limit_s))


async def listed(client: SmbClient) -> list[RemoteFile]:
    return [file async for file in client.listing()]


def assert_honest(fetched: Fetched, began: int, ended: int) -> None:
    assert began <= fetched.start_ns
    assert fetched.start_ns + fetched.elapsed_ns <= ended
    assert 0 <= fetched.stat_ns <= fetched.setup_ns <= fetched.elapsed_ns
    assert fetched.setup_ns + fetched.finish_ns <= fetched.elapsed_ns
    assert fetched.cpu_ns > 0
    if fetched.data:
        assert fetched.setup_ns <= fetched.first_byte_ns <= fetched.elapsed_ns
    else:
        assert fetched.first_byte_ns == -1


def test_a_tree_is_listed_with_every_name_and_size_and_without_following_what_is_closed(
    server: SmbServer, tree: Path, library: str
) -> None:
    async def work(client: SmbClient) -> tuple[list[RemoteFile], tuple[str, ...]]:
        return await listed(client), client.passed_over

    files, passed = using(target(server, "data"), work)
    expected = [
        RemoteFile(path.relative_to(tree).as_posix(), path.stat().st_size)
        for path in tree.rglob("*")
        if path.is_file()
    ]
    assert sorted(files) == sorted(expected)
    assert passed == ("passed over: 1 folders could not be read, such as locked",)


def test_a_folder_and_a_file_of_the_share_can_be_the_target(
    server: SmbServer, tree: Path, library: str
) -> None:
    deep = using(target(server, "data/docs/deep/"), listed)
    alone = using(target(server, "data/large"), listed)
    empty = using(target(server, "data/empty folder"), listed)
    assert (deep, alone, empty) == (
        [RemoteFile("deeper/leaf", 4)],
        [RemoteFile("", (tree / "large").stat().st_size)],
        [],
    )


def test_a_target_that_is_a_file_is_read_by_its_empty_name(
    server: SmbServer, tree: Path, library: str
) -> None:
    async def work(client: SmbClient) -> bytes:
        return bytes((await client.fetch("", (tree / "large").stat().st_size, BLOCK)).data)

    assert using(target(server, "data/large"), work) == (tree / "large").read_bytes()


def test_whole_files_come_as_they_are_within_honest_times(
    server: SmbServer, tree: Path, library: str
) -> None:
    names = [*(f"docs/{name}" for name in ODD_NAMES), "nothing", "large", "docs/deep/deeper/leaf"]

    async def work(client: SmbClient) -> dict[str, bytes]:
        got = {}
        for name in names:
            began = time.perf_counter_ns()
            fetched = await client.fetch(name, (tree / name).stat().st_size, BLOCK)
            assert_honest(fetched, began, time.perf_counter_ns())
            got[name] = bytes(fetched.data)
        return got

    assert using(target(server, "data"), work) == {name: (tree / name).read_bytes() for name in names}


def test_a_file_that_grew_or_shrank_since_it_was_listed_comes_as_it_is_now(
    server: SmbServer, tree: Path, library: str
) -> None:
    whole = (tree / "large").read_bytes()

    async def work(client: SmbClient) -> tuple[bytes, bytes, bytes]:
        less = await client.fetch("large", 100, BLOCK)
        some = await client.fetch("large", BLOCK, BLOCK)
        more = await client.fetch("large", len(whole) + 10 * BLOCK, BLOCK)
        return bytes(less.data), bytes(some.data), bytes(more.data)

    assert using(target(server, "data"), work) == (whole, whole, whole)


def test_blocks_of_a_file_come_from_any_offset_also_four_at_a_time(
    server: SmbServer, tree: Path, library: str
) -> None:
    whole = (tree / "large").read_bytes()
    places = [(0, BLOCK), (3 * BLOCK + 7, 99), (len(whole) - 10, BLOCK), (len(whole), 10), (BLOCK, 2 * BLOCK)]

    async def work(client: SmbClient) -> tuple[list[bytes], bytes]:
        handle = await client.handle("large")
        began = time.perf_counter_ns()
        single = [await handle.read(*place) for place in places]
        offsets = range(0, len(whole), 100_000)
        lanes = await asyncio.gather(*(handle.read(offset, 100_000) for offset in offsets))
        for fetched in [*single, *lanes]:
            assert_honest(fetched, began, time.perf_counter_ns())
        await handle.close()
        return [bytes(fetched.data) for fetched in single], b"".join(fetched.data for fetched in lanes)

    single, together = using(target(server, "data"), work, parallel=4)
    assert single == [whole[offset : offset + length] for offset, length in places]
    assert together == whole


def test_what_was_handed_out_stays_as_it_was_while_more_is_read(
    server: SmbServer, tree: Path, library: str
) -> None:
    whole = (tree / "large").read_bytes()

    async def work(client: SmbClient) -> bytes:
        handle = await client.handle("large")
        kept = [(await handle.read(offset, BLOCK)).data for offset in range(0, len(whole), BLOCK)]
        await handle.close()
        return b"".join(kept)

    assert using(target(server, "data"), work) == whole


def test_five_thousand_small_files_are_listed_and_read_by_eight(
    server: SmbServer, tree: Path, library: str
) -> None:
    folder = tree / "many"
    folder.mkdir(exist_ok=True)
    for index in range(5000):
        (folder / f"{index:05}").write_bytes(b"%05d" % index)

    async def work(client: SmbClient) -> dict[str, bytes]:
        files = iter(await listed(client))
        got: dict[str, bytes] = {}

        async def lane() -> None:
            for file in files:
                got[file.name] = bytes((await client.fetch(file.name, file.size, BLOCK)).data)

        await asyncio.gather(*(lane() for _ in range(8)))
        return got

    try:
        assert using(target(server, "data/many"), work, parallel=8) == {
            f"{index:05}": b"%05d" % index for index in range(5000)
        }
    finally:
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()


def test_scratch_is_written_and_removed_with_all_that_is_in_it(
    server: SmbServer, tree: Path, library: str
) -> None:
    large = random.Random(3).randbytes(3 * BLOCK + 1)

    async def work(client: SmbClient) -> dict[str, bytes]:
        await client.make_folder("mine")
        await client.make_folder("mine/below it")
        began = time.perf_counter_ns()
        stored = [
            await client.store("mine/small", b"small"),
            await client.store("mine/nothing", b""),
            await client.store("mine/below it/large", memoryview(large)),
        ]
        for fetched in stored:
            assert fetched.data == b""
            assert_honest(fetched, began, time.perf_counter_ns())
        written = {path.name: path.read_bytes() for path in (tree / "scratch").rglob("*") if path.is_file()}
        await client.remove_folder("mine")
        await client.remove_folder("mine")
        return written

    written = using(target(server, "data/scratch"), work)
    assert written == {"small": b"small", "nothing": b"", "large": large}
    assert list((tree / "scratch").iterdir()) == []


def test_what_fails_at_one_file_is_said_of_it_and_costs_nothing_else(
    server: SmbServer, tree: Path, library: str
) -> None:
    async def work(client: SmbClient) -> list[str]:
        said = []
        for attempt in (
            client.fetch("absent", 10, BLOCK),
            client.fetch("secret", 6, BLOCK),
            client.fetch("docs", 6, BLOCK),
            client.handle("absent\nname"),
            client.store("docs/new", b"x"),
            client.make_folder("docs/deep"),
        ):
            with pytest.raises(OperationError) as caught:
                await attempt
            said.append(caught.value.message)
        assert bytes((await client.fetch("docs/deep/deeper/leaf", 4, BLOCK)).data) == b"leaf"
        return said

    said = using(target(server, "data"), work)
    assert said[:5] == [
        "absent: no such file or folder",
        "secret: no permission",
        "docs: not a file",
        "absent\\nname: no such file or folder",
        "docs/new: no permission",
    ]
    assert said[5].startswith("docs/deep: ")


WRONG = "Wrong-Pässword"


@pytest.mark.parametrize(
    ("path", "changes", "message"),
    [
        ("data", {"password": WRONG}, "127.0.0.1:{port} did not let reader log on"),
        ("absent/folder", {}, "127.0.0.1:{port} has no share absent"),
        ("closed", {}, "reader may not open smb://127.0.0.1/closed"),
        ("data/no/such", {}, "there is no smb://127.0.0.1/data/no/such"),
        ("data/locked/x", {}, "reader may not open smb://127.0.0.1/data/locked/x"),
        ("data", {"port": 1}, "127.0.0.1:1 refused the connection"),
        ("data", {"host": "::1", "port": 1}, "[::1]:1 refused the connection"),
        ("data", {"host": "nas.invalid", "port": None}, "the host nas.invalid is not known"),
    ],
)
def test_what_cannot_be_opened_says_why_and_never_the_password(
    server: SmbServer, library: str, path: str, changes: dict[str, object], message: str
) -> None:
    with pytest.raises(PlaceError) as caught:
        using(target(server, path, **changes), listed)
    said = caught.value
    assert said.message.startswith(message.format(port=server.port))
    assert said.hint
    for secret in (WRONG, server.password):
        assert secret not in f"{said} {said.hint} {said.__cause__} {said.__context__!r}"


def test_a_guest_reads_what_is_open_to_guests(server: SmbServer, library: str) -> None:
    async def work(client: SmbClient) -> bytes:
        return bytes((await client.fetch("leaf", 4, BLOCK)).data)

    at = target(server, "open/docs/deep/deeper", user=None, password=None)
    assert using(at, work) == b"leaf"


def test_the_password_comes_from_the_environment_too(
    server: SmbServer, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATHTRACE_SMB_USER", f"PATHTRACE;{USER}")
    monkeypatch.setenv("PATHTRACE_SMB_PASSWORD", server.password)
    at = target(server, "data/docs/deep", user=None, password=None)
    assert using(at, listed) == [RemoteFile("deeper/leaf", 4)]


def test_no_process_shows_the_password_in_its_arguments_or_environment(
    server: SmbServer, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATHTRACE_SMB_USER", USER)
    monkeypatch.setenv("PATHTRACE_SMB_PASSWORD", server.password)

    async def work(client: SmbClient) -> bytes:
        folders = [Path("/proc") / str(pid) for pid in client.pids]
        assert folders
        return b"".join((each / name).read_bytes() for each in folders for name in ("cmdline", "environ"))

    seen = using(target(server, "data", user=None, password=None), work)
    assert server.password.encode() not in seen


@pytest.mark.parametrize(
    ("options", "protection"),
    [
        ("server signing = disabled\nserver smb encrypt = off", "not signed, not encrypted"),
        ("server signing = mandatory", "signed AES-GMAC, not encrypted"),
        ("server smb encrypt = required", "encrypted"),
        ("server max protocol = SMB3_02\nserver signing = mandatory", "signed AES-CMAC, not encrypted"),
        ("server max protocol = SMB2_10\nserver signing = mandatory", "signed HMAC-SHA256, not encrypted"),
    ],
)
def test_dialect_signing_and_encryption_are_recorded_as_negotiated(
    tree: Path, server: SmbServer, library: str, options: str, protection: str
) -> None:
    async def work(client: SmbClient) -> tuple[str | None, Endpoint | None, bytes]:
        whole = await client.fetch("large", (tree / "large").stat().st_size, BLOCK)
        return client.identity, client.endpoint, bytes(whole.data)

    with smb_server({"data": f"path = {tree}"}, options) as other:
        identity, endpoint, data = using(target(other, "data"), work)
    dialect = {"SMB3_02": "3.0.2", "SMB2_10": "2.1"}.get(options.splitlines()[0].split(" = ")[1], "3.1.1")
    assert identity is not None
    assert identity.startswith(f"SMB {dialect}")
    assert f", {protection}" in identity
    assert f", {library} " in identity
    assert endpoint == Endpoint("127.0.0.1", "127.0.0.1", other.port)
    assert data == (tree / "large").read_bytes()


def test_a_server_that_goes_away_fails_each_operation_until_it_is_back(
    tree: Path, server: SmbServer, library: str
) -> None:
    with smb_server({"data": f"path = {tree}"}) as other:

        async def work(client: SmbClient) -> tuple[list[str], bytes]:
            handle = await client.handle("large")
            await handle.read(0, 10)
            other.stop()
            said = []
            for attempt in (handle.read(10, 10), handle.read(10, 10), client.fetch("nothing", 0, BLOCK)):
                with pytest.raises(OperationError) as caught:
                    await attempt
                said.append(caught.value.message)
            other.start()
            again = await handle.read(20, 30)
            await handle.close()
            return said, bytes(again.data)

        said, data = using(target(other, "data"), work)
    assert said[0] == f"large: the connection to 127.0.0.1:{other.port} was lost" or said[0].startswith(
        f"large: the connection to 127.0.0.1:{other.port} was lost ("
    )
    assert said[1:] == [
        f"{name}: 127.0.0.1:{other.port} refused the connection" for name in ("large", "nothing")
    ]
    assert data == (tree / "large").read_bytes()[20:50]


def test_a_call_that_hangs_ends_at_once_when_cancelled_and_the_next_one_works(
    tree: Path, server: SmbServer, library: str
) -> None:
    with smb_server({"data": f"path = {tree}"}) as other:

        async def work(client: SmbClient) -> tuple[float, bytes]:
            other.send(signal.SIGSTOP)
            began = time.monotonic()
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(client.fetch("large", 10, BLOCK), 0.3)
            took = time.monotonic() - began
            other.send(signal.SIGCONT)
            return took, bytes((await client.fetch("docs/deep/deeper/leaf", 4, BLOCK)).data)

        took, data = using(target(other, "data"), work)
    assert took < 1.5
    assert data == b"leaf"


def test_closing_does_not_wait_for_a_server_that_hangs(tree: Path, server: SmbServer, library: str) -> None:
    with smb_server({"data": f"path = {tree}"}) as other:

        async def life() -> float:
            client = make_client(target(other, "data"), time.perf_counter_ns)
            await client.open(2)
            other.send(signal.SIGSTOP)
            hanging = asyncio.create_task(client.fetch("large", 10, BLOCK))
            await asyncio.sleep(0.1)
            began = time.monotonic()
            await client.close()
            took = time.monotonic() - began
            with pytest.raises(OperationError):
                await hanging
            return took

        took = asyncio.run(asyncio.wait_for(life(), 20))
        other.send(signal.SIGCONT)
    assert took < 6


def test_a_server_that_accepts_and_says_nothing_does_not_keep_opening_from_being_cancelled(
    server: SmbServer, library: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        at = target(server, "data", port=silent.getsockname()[1])
        with pytest.raises(TimeoutError):
            using(at, listed, limit_s=1)


def test_a_library_that_crashes_costs_one_operation(server: SmbServer, library: str) -> None:
    async def work(client: SmbClient) -> tuple[str, bytes]:
        os.kill(client.pids[0], signal.SIGABRT)
        with pytest.raises(OperationError) as caught:
            await client.fetch("docs/deep/deeper/leaf", 4, BLOCK)
        return caught.value.message, bytes((await client.fetch("docs/deep/deeper/leaf", 4, BLOCK)).data)

    said, data = using(target(server, "data"), work)
    assert "the process of the SMB library ended by signal SIGABRT" in said
    assert data == b"leaf"


_DIES = """
import asyncio, os, signal, sys, time
from pathtrace.places.remote import Target
from pathtrace.places.smb import make_client
async def life():
    port, frozen, password = int(sys.argv[1]), int(sys.argv[2]), sys.stdin.readline().strip()
    client = make_client(Target('smb', '127.0.0.1', port, 'reader', password, 'data'), time.perf_counter_ns)
    await client.open(2)
    print(*client.pids, flush=True)
    if frozen:
        os.killpg(frozen, signal.SIGSTOP)
        reads = [asyncio.create_task(client.fetch('large', 10, 1 << 20)) for _ in range(2)]
        await asyncio.wait(reads, timeout=0.2)
    os.kill(os.getpid(), signal.SIGKILL)
asyncio.run(life())
"""


def workers_after_death(server: SmbServer, frozen: int) -> list[int]:
    """Those that still run a while after their parent was killed; ``frozen``: a group to stop before."""
    done = subprocess.run(
        [sys.executable, "-c", _DIES, str(server.port), str(frozen)],
        input=f"{server.password}\n",
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (-signal.SIGKILL, "")
    pids = [int(pid) for pid in done.stdout.split()]
    assert len(pids) == 2
    deadline = time.monotonic() + 5
    while any(_runs(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.02)
    return [pid for pid in pids if _runs(pid)]


def test_workers_end_with_the_process_that_started_them(server: SmbServer, library: str) -> None:
    assert workers_after_death(server, 0) == []


def test_workers_end_with_it_also_while_the_server_hangs(tree: Path, server: SmbServer, library: str) -> None:
    with smb_server({"data": f"path = {tree}"}) as other:
        assert other.process is not None
        assert workers_after_death(other, other.process.pid) == []


def _runs(pid: int) -> bool:
    try:
        return " (zombie)" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
