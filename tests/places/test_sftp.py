"""Files and commands over SSH against a real OpenSSH server: what is read, what is refused, what is said."""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import asyncssh
import pytest

from pathtrace.errors import OperationError, PlaceError
from pathtrace.model.scenario import Access, Action, Place, Start
from pathtrace.model.work import Done, Item, LayerState
from pathtrace.places.files import Files
from pathtrace.places.remote_files import RemoteFiles
from pathtrace.places.ssh_connection import open_shell
from tests.places.contract import draw_all
from tests.places.files_described import described
from tests.places.ssh_server import SshServer, at_home, ssh_server, write_key
from tests.places.test_sftp_contract import remote

pytestmark = pytest.mark.server

SECRET = "p4ss/w%rd@x"
QUOTED = "p4ss%2Fw%25rd%40x"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshServer]:
    with ssh_server(tmp_path_factory.mktemp("sshd")) as running, at_home(running.home):
        yield running


@pytest.fixture
def mortal(tmp_path: Path) -> Iterator[SshServer]:
    """A server that the test may cut, end, or change the keys of."""
    folder = tmp_path / "sshd"
    folder.mkdir()
    with ssh_server(folder) as running, at_home(running.home):
        yield running


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    root.mkdir()
    return root


Between = Callable[[int], None]


async def read(place: RemoteFiles, scratch: Path, between: Between = lambda number: None) -> list[Done]:
    """All of the place's work, one operation after the other; ``between`` is told how many are done."""
    await place.open(scratch)
    try:
        await place.begin(Start.AS_IS, frozenset({Action.READ}))
        items = await place.supply(Action.READ)
        dones: list[Done] = []
        while len(dones) < len(items):
            between(len(dones))
            dones += await place.draw(items[len(dones) :])
        return dones
    finally:
        await place.close()


def run(place: Place, url: str, scratch: Path, between: Between = lambda number: None) -> list[Done]:
    folder = scratch / "run" / "archive"
    folder.mkdir(parents=True, exist_ok=True)
    return asyncio.run(read(remote(place, url), folder, between))


def refused(url: str, place: Place | None = None) -> PlaceError:
    with pytest.raises(PlaceError) as caught:
        asyncio.run(remote(place or described(), url).check())
    return caught.value


def handed(dones: Sequence[Done]) -> dict[str, bytes]:
    return {item.name: bytes(item.data or b"") for done in dones for item in done.items}


def test_documents_are_handed_on_whole_whatever_they_are_called(
    server: SshServer, tree: Path, tmp_path: Path
) -> None:
    contents = {
        b"plain.txt": b"1",
        b"a b/with space.txt": b"2",
        "größe/日本.txt".encode(): b"3",
        b"odd \xff\xfe byte.bin": b"4",
        b"tricky?#%41.txt": b"5",
        b"empty.txt": b"",
        b"longer.bin": os.urandom(700_000),
    }
    for name, content in contents.items():
        path = Path(os.fsdecode(os.fsencode(tree) + b"/" + name))
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    dones = run(described(), server.url(tree), tmp_path)
    assert [done.fault for done in dones] == [None] * len(contents)
    found = {name.decode("utf-8", "backslashreplace"): content for name, content in contents.items()}
    assert handed(dones) == found
    assert all(item.path is None for done in dones for item in done.items)


def test_only_what_include_and_exclude_leave_is_read(server: SshServer, tree: Path, tmp_path: Path) -> None:
    for name in ("a.txt", "b.pdf", "deep/c.txt", "old/d.txt", ".pathtrace-left/e.txt"):
        (tree / name).parent.mkdir(exist_ok=True)
        (tree / name).write_text(name)
    place = described(include=("**/*.txt",), exclude=("old",))
    assert set(handed(run(place, server.url(tree), tmp_path))) == {"a.txt", "deep/c.txt"}


def test_links_to_folders_and_special_files_are_passed_over_and_said(server: SshServer, tree: Path) -> None:
    (tree / "real.txt").write_text("x")
    (tree / "file.lnk").symlink_to(tree / "real.txt")
    (tree / "folder.lnk").symlink_to(tree)
    (tree / "broken.lnk").symlink_to(tree / "nowhere")
    os.mkfifo(tree / "pipe")
    facts = asyncio.run(remote(described(), server.url(tree)).check())
    assert facts.files == 2
    assert facts.warnings == (
        "passed over: 1 broken links, such as broken.lnk",
        "passed over: 1 links to folders, such as folder.lnk",
        "passed over: 1 special files (pipes, sockets, devices), such as pipe",
    )
    assert facts.summary == "2 files, 2 B, one operation a file, over SFTP"


@pytest.mark.parametrize("depth", [1, 3])
def test_a_long_document_in_a_tree_is_handed_on_whole(
    server: SshServer, tree: Path, tmp_path: Path, depth: int
) -> None:
    content = os.urandom(1 << 20) * 65
    (tree / "film.mkv").write_bytes(content)
    (done,) = run(described(depth=depth), server.url(tree), tmp_path)
    assert done.fault is None
    assert done.bytes == len(content)
    assert bytes(done.items[0].data or b"") == content
    assert list((tmp_path / "run" / "archive").iterdir()) == []


def test_blocks_of_weights_are_handed_on_as_they_are(server: SshServer, tmp_path: Path) -> None:
    content = os.urandom(2_500_001)
    path = tmp_path / "model.gguf"
    path.write_bytes(content)
    dones = run(described(), server.url(path), tmp_path)
    blocks = [(item.offset, bytes(item.data or b"")) for done in dones for item in done.items]
    assert blocks == [(at, content[at : at + (1 << 20)]) for at in range(0, len(content), 1 << 20)]
    assert dones[0].setup_ns == max(done.setup_ns for done in dones) > 1000  # the first one opened the file


def test_the_fingerprint_is_that_of_the_same_files_at_a_path(
    server: SshServer, tree: Path, tmp_path: Path
) -> None:
    for number in range(30):
        (tree / f"{number}.bin").write_bytes(os.urandom(number * 100_000))

    async def both() -> tuple[str | None, str | None]:
        far, near = remote(described(), server.url(tree)), Files(described(tree), time.perf_counter_ns, 1)
        for place, name in ((far, "far"), (near, "near")):
            (tmp_path / "run" / name).mkdir(parents=True)
            await place.open(tmp_path / "run" / name)
        prints = await far.fingerprint(), await near.fingerprint()
        await far.close()
        await near.close()
        return prints

    far, near = asyncio.run(both())
    assert far == near
    assert far is not None


def test_the_place_says_where_it_is_connected_and_with_what(
    server: SshServer, tree: Path, tmp_path: Path
) -> None:
    (tree / "a.txt").write_text("a")

    async def life() -> tuple[RemoteFiles, tuple[LayerState, ...]]:
        place = remote(described(), server.url(tree))
        await place.open(tmp_path)
        states = await place.begin(Start.COLD, frozenset({Action.READ}))
        await place.close()
        return place, states

    place, states = asyncio.run(life())
    assert place.endpoint is not None
    assert (place.endpoint.host, place.endpoint.address, place.endpoint.port) == (
        "nas",
        "127.0.0.1",
        server.port,
    )
    assert place.identity is not None
    protocol, cipher, software, library = place.identity.split(", ")
    assert protocol == "SFTP 3"
    assert "@" in cipher or "-" in cipher
    assert software.startswith("OpenSSH_")
    assert library == f"asyncssh {asyncssh.__version__}"
    assert [(state.layer, state.state) for state in states] == [
        ("client_cache", "cold"),
        ("server_cache", "unknown"),
    ]


def test_a_file_that_vanishes_costs_only_itself(server: SshServer, tree: Path, tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tree / name).write_text(name)

    def vanish(done: int) -> None:
        if done == 1:
            (tree / "b").unlink()

    dones = run(described(), server.url(tree), tmp_path, vanish)
    assert [done.fault for done in dones] == [None, f"{tree}/b: no such file or folder", None]


def test_a_file_that_got_shorter_is_a_failed_operation(server: SshServer, tree: Path, tmp_path: Path) -> None:
    (tree / "a").write_text("a" * 5000)

    def shorten(done: int) -> None:
        (tree / "a").write_text("a" * 100)

    (done,) = run(described(), server.url(tree), tmp_path, shorten)
    assert done.fault == "a: got shorter while the run read it; it ends after 100 bytes"
    assert done.bytes == 100


def test_there_is_nothing_at_a_path_that_does_not_exist(server: SshServer, tree: Path) -> None:
    error = refused(server.url(tree / "gone"))
    assert str(error) == f"archive: there is nothing at {tree}/gone on 127.0.0.1"


def test_an_empty_folder_is_refused(server: SshServer, tree: Path) -> None:
    error = refused(server.url(tree))
    assert str(error) == f"archive: no files in sftp://127.0.0.1:{server.port}{tree}"


@pytest.mark.parametrize("access", [Access.MMAP, Access.DIRECT])
def test_ways_of_reading_that_only_a_file_system_has_are_refused(
    server: SshServer, tree: Path, access: Access
) -> None:
    (tree / "a").write_text("a")
    error = refused(server.url(tree), described(access=access))
    assert error.message == (
        f"`access: {access.value}` is for files at a path: a URL's are always read by requests"
    )


def test_a_wrong_password_is_said_and_not_shown(server: SshServer, tree: Path) -> None:
    error = refused(f"sftp://{server.user}:{QUOTED}@127.0.0.1:{server.port}{tree}")
    assert str(error) == f"archive: 127.0.0.1 does not accept this password for user {server.user}"
    assert SECRET not in repr(vars(error))
    assert QUOTED not in repr(vars(error))


def test_a_wrong_key_is_said_with_what_to_do(mortal: SshServer, tree: Path) -> None:
    write_key(asyncssh.generate_private_key("ssh-ed25519"), mortal.home / ".ssh" / "id_ed25519")
    error = refused(mortal.url(tree))
    assert str(error).startswith(
        f"archive: 127.0.0.1 does not let user {mortal.user} in: no key of the agent"
    )
    assert error.hint is not None
    assert f"keyring set pathtrace {mortal.user}@127.0.0.1" in error.hint


def test_an_unknown_host_key_is_refused(mortal: SshServer, tree: Path) -> None:
    (mortal.home / ".ssh" / "known_hosts").unlink()
    error = refused(mortal.url(tree))
    assert str(error).startswith("archive: the host key of 127.0.0.1 is not known here (SHA256:")
    assert error.hint is not None
    assert f"ssh -p {mortal.port} {mortal.user}@127.0.0.1" in error.hint


def test_an_unknown_host_key_is_refused_even_if_the_settings_would_trust_anybody(
    mortal: SshServer, tree: Path
) -> None:
    (mortal.home / ".ssh" / "known_hosts").unlink()
    (mortal.home / ".ssh" / "config").write_text("Host *\n  UserKnownHostsFile none\n")
    assert "is not known here" in str(refused(mortal.url(tree)))


def test_a_changed_host_key_is_refused(mortal: SshServer, tree: Path) -> None:
    another = asyncssh.generate_private_key("ssh-ed25519").export_public_key().decode()
    (mortal.home / ".ssh" / "known_hosts").write_text(f"[127.0.0.1]:{mortal.port} {another}")
    error = refused(mortal.url(tree))
    assert str(error).startswith(
        "archive: the host key of 127.0.0.1 is another one than is known here (SHA256:"
    )


def test_an_unknown_host_name_is_said(server: SshServer) -> None:
    error = refused("sftp://nas.invalid/x")
    assert str(error) == "archive: no host is known by the name nas.invalid"


def test_a_refused_connection_is_said(server: SshServer) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    error = refused(f"sftp://127.0.0.1:{port}/x")
    assert str(error) == f"archive: 127.0.0.1 port {port} refuses connections"


def test_a_server_that_says_nothing_ends_by_the_time_limit(server: SshServer) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        place = described()
        object.__setattr__(place, "timeout_s", 0.3)
        error = refused(f"sftp://127.0.0.1:{port}/x", place)
    assert str(error) == "archive: no answer within 0.3 s"


def test_an_alias_of_the_ssh_settings_is_followed(mortal: SshServer, tree: Path, tmp_path: Path) -> None:
    key = mortal.home / ".ssh" / "id_ed25519"
    key.rename(mortal.home / ".ssh" / "other_key")
    (mortal.home / ".ssh" / "known_hosts").rename(mortal.home / ".ssh" / "other_hosts")
    (mortal.home / ".ssh" / "config").write_text(
        f"Host storage\n  HostName 127.0.0.1\n  Port {mortal.port}\n  User {mortal.user}\n"
        f"  IdentityFile {mortal.home}/.ssh/other_key\n  HostKeyAlias [127.0.0.1]:{mortal.port}\n"
        f"  UserKnownHostsFile {mortal.home}/.ssh/other_hosts\n"
    )
    (tree / "a.txt").write_text("hello")
    assert handed(run(described(), f"sftp://storage{tree}", tmp_path)) == {"a.txt": b"hello"}


def test_a_connection_that_is_cut_costs_the_operation_and_is_made_anew(
    mortal: SshServer, tree: Path, tmp_path: Path
) -> None:
    for name in "abcd":
        (tree / name).write_text(name)

    def cut(done: int) -> None:
        if done == 1:
            mortal.cut()

    dones = run(described(workers=1), mortal.url(tree), tmp_path, cut)
    assert [done.fault for done in dones] in (
        [None, f"{tree}/b: the connection to 127.0.0.1 was lost", None, None],
        [None, None, None, None],  # it was seen to be gone before the operation began
    )


def test_blocks_go_on_after_the_connection_was_cut(mortal: SshServer, tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(os.urandom(4 << 20))

    def cut(done: int) -> None:
        if done == 1:
            mortal.cut()

    dones = run(described(), mortal.url(path), tmp_path, cut)
    assert [done.fault for done in dones] == [
        None,
        f"{path}: the connection to 127.0.0.1 was lost",
        None,
        None,
    ]


def test_a_server_that_went_away_fails_each_operation_and_is_closed_in_peace(
    mortal: SshServer, tree: Path, tmp_path: Path
) -> None:
    for name in "abcd":
        (tree / name).write_text(name)

    def end(done: int) -> None:
        if done == 1:
            mortal.go_away()

    dones = run(described(), mortal.url(tree), tmp_path, end)
    assert dones[0].fault is None
    lost = {
        "the connection to 127.0.0.1 was lost",
        f"127.0.0.1 port {mortal.port} refuses connections",
    }
    assert {str(done.fault).partition(": ")[2] for done in dones[1:]} <= lost
    assert str(dones[3].fault) == f"{tree}/d: 127.0.0.1 port {mortal.port} refuses connections"


@pytest.mark.parametrize("settings", ["", "MaxSessions 1"])
def test_an_operation_that_hangs_is_cut_off_and_costs_only_itself(
    tree: Path, tmp_path: Path, settings: str
) -> None:
    for name in "abc":
        (tree / name).write_text(name)

    async def life(url: str) -> list[str | None]:
        place = remote(described(workers=1), url)
        await place.open(tmp_path)
        items = await place.supply(Action.READ)
        (tree / "b").unlink()
        os.mkfifo(tree / "b")  # opening it waits for somebody who writes
        faults: list[str | None] = []
        for item in items:
            try:
                async with asyncio.timeout(5 if item.name != "b" else 0.3):
                    (done,) = await place.draw([item])
                    faults.append(done.fault)
            except TimeoutError:
                faults.append("cut off")
        await place.close()
        os.close(os.open(tree / "b", os.O_WRONLY | os.O_NONBLOCK))  # lets the server's process end
        return faults

    (tmp_path / "sshd").mkdir()
    with ssh_server(tmp_path / "sshd", settings) as server, at_home(server.home):
        assert asyncio.run(life(server.url(tree))) == [None, "cut off", None]


@pytest.mark.parametrize("settings", ["", "MaxSessions 1"])
def test_many_workers_read_at_once_however_many_sessions_the_server_allows(
    tree: Path, tmp_path: Path, settings: str
) -> None:
    contents = {f"{number}.bin": os.urandom(50_000 + number) for number in range(60)}
    for name, content in contents.items():
        (tree / name).write_bytes(content)

    async def life(url: str) -> dict[str, bytes]:
        place = remote(described(workers=12), url)
        await place.open(tmp_path)
        waiting = iter(await place.supply(Action.READ))
        dones: list[Done] = []

        async def worker() -> None:
            for item in waiting:
                dones.extend(await place.draw([item]))

        await asyncio.gather(*(worker() for _ in range(place.concurrency(Action.READ))))
        await place.close()
        return handed(dones)

    (tmp_path / "sshd").mkdir()
    with ssh_server(tmp_path / "sshd", settings) as server, at_home(server.home):
        assert asyncio.run(life(server.url(tree))) == contents


def test_a_server_without_sftp_is_refused(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "sshd").mkdir()
    with ssh_server(tmp_path / "sshd", "MaxSessions 0") as server, at_home(server.home):
        error = refused(server.url(tree))
    assert str(error).startswith("archive: 127.0.0.1 lets us in, but offers no files over SFTP: ")


def test_what_is_written_lies_in_a_folder_of_our_own_until_the_end(
    server: SshServer, tree: Path, tmp_path: Path
) -> None:
    (tree / "mine.txt").write_text("the user's")
    scratch = tmp_path / "run-7" / "out"
    scratch.mkdir(parents=True)

    async def life() -> tuple[list[str], list[bytes]]:
        place = remote(described(data="output"), server.url(tree))
        await place.open(scratch)
        await place.begin(Start.AS_IS, frozenset({Action.WRITE}))
        await place.perform(Action.WRITE, [Item("x", 3, data=b"abc")])
        await place.begin(Start.AS_IS, frozenset({Action.WRITE}))
        big = os.urandom(1_000_000)
        await place.perform(Action.WRITE, [Item("x", 3, data=memoryview(big))])
        (folder,) = [path for path in tree.iterdir() if path.is_dir()]
        seen = [folder.name], [path.read_bytes() for path in folder.iterdir()]
        await place.close()
        assert seen[1] == [big]
        return seen

    names, _ = asyncio.run(life())
    assert names[0].startswith(".pathtrace-run-7-")
    assert [path.name for path in tree.iterdir()] == ["mine.txt"]


def test_a_shell_runs_commands_and_says_how_they_failed(server: SshServer) -> None:
    async def life() -> tuple[str, list[str]]:
        shell = await open_shell(server.address)
        try:
            with pytest.raises(OperationError, match=r"ended with status 3: too bad"):
                await shell.run("echo too bad >&2; exit 3", 5)
            with pytest.raises(OperationError, match=r"took more than 0.2 s"):
                await shell.run("sleep 20", 0.2)
            output = await shell.run("printf 'one\\ntwo'", 5)
            return output, [line async for line in shell.lines("printf 'a\\nb\\n'")]
        finally:
            await shell.close()

    assert asyncio.run(life()) == ("one\ntwo", ["a", "b"])


def test_a_command_whose_lines_nobody_wants_any_more_is_ended(server: SshServer, tmp_path: Path) -> None:
    async def life() -> list[str]:
        shell = await open_shell(server.address)
        lines = shell.lines("echo $$; while true; do echo x; sleep 0.05; done")
        pid = await anext(lines)
        assert await anext(lines) == "x"
        await lines.aclose()
        until = time.monotonic() + 5
        while Path(f"/proc/{pid}").exists() and time.monotonic() < until:
            await asyncio.sleep(0.02)
        left = await shell.run(f"ls -d /proc/{pid} 2>/dev/null || true", 5)
        await shell.close()
        return left.split()

    assert asyncio.run(life()) == []


def test_commands_after_the_server_went_away_fail_in_words(mortal: SshServer) -> None:
    async def life() -> str:
        shell = await open_shell(mortal.address)
        mortal.go_away()
        with pytest.raises(OperationError) as caught:
            await shell.run("true", 5)
        await shell.close()
        return str(caught.value)

    assert asyncio.run(life()).startswith("127.0.0.1: `true` could not be run: ")


def test_no_shell_where_nobody_listens(server: SshServer) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(PlaceError, match="refuses connections"):
        asyncio.run(open_shell(f"{server.user}@127.0.0.1:{port}"))


class PasswordServer(asyncssh.SSHServer):
    """Lets one user in, by one password: what an sshd run by an ordinary user cannot do."""

    def password_auth_supported(self) -> bool:
        return True

    def validate_password(self, username: str, password: str) -> bool:
        return (username, password) == ("anna", SECRET)


class Guarded(asyncssh.SFTPServer):
    """Lists everything, and opens nothing that is called private (root may read everything otherwise)."""

    def open(self, path: bytes, pflags: int, attrs: asyncssh.SFTPAttrs) -> object:
        if path.endswith(b"private"):
            raise asyncssh.SFTPPermissionDenied("no")
        return super().open(path, pflags, attrs)


async def with_password(home: Path, root: Path, userinfo: str, scratch: Path) -> list[Done]:
    key = asyncssh.generate_private_key("ssh-ed25519")
    server = await asyncssh.create_server(
        PasswordServer, "127.0.0.1", 0, server_host_keys=[key], sftp_factory=Guarded
    )
    port = server.sockets[0].getsockname()[1]
    (home / ".ssh" / "known_hosts").write_text(f"[127.0.0.1]:{port} {key.export_public_key().decode()}")
    place = remote(described(), f"sftp://{userinfo}@127.0.0.1:{port}{root}")
    try:
        await place.open(scratch)
        return await draw_all(place, await place.supply(Action.READ))
    finally:
        await place.close()
        server.close()


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "home"
    (folder / ".ssh").mkdir(parents=True)
    with at_home(folder):
        yield folder


def test_the_password_of_the_url_is_used(home: Path, tree: Path, tmp_path: Path) -> None:
    (tree / "a").write_text("a")
    found = asyncio.run(with_password(home, tree, f"anna:{QUOTED}", tmp_path))
    assert handed(found) == {"a": b"a"}


def test_an_unreadable_file_is_a_failed_operation(home: Path, tree: Path, tmp_path: Path) -> None:
    for name in ("a", "b.private", "c"):
        (tree / name).write_text("x")
    dones = asyncio.run(with_password(home, tree, f"anna:{QUOTED}", tmp_path))
    assert [done.fault for done in dones] == [None, f"{tree}/b.private: no permission", None]


def test_a_password_in_the_keyring_is_found(
    home: Path, tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import keyring

    asked: list[tuple[str, str]] = []

    def kept(service: str, user: str) -> str:
        asked.append((service, user))
        return SECRET

    monkeypatch.setattr(keyring, "get_password", kept)
    (tree / "a").write_text("a")
    assert handed(asyncio.run(with_password(home, tree, "anna", tmp_path))) == {"a": b"a"}
    assert asked[0] == ("pathtrace", "anna@127.0.0.1")
