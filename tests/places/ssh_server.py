"""A real sshd of the test's own: on loopback, a free port, keys and files in the test's folder.

Works as root and, for that user's own files, as an ordinary user.
"""

from __future__ import annotations

import contextlib
import getpass
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import asyncssh
import psutil
import pytest

_SEPARATION = Path("/run/sshd")
"""sshd's empty folder, which it insists on as root."""
_PATIENCE_S = 10.0


def sshd() -> str:
    """The server's full path, as it wants to be called; skips where there is none."""
    found = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
    if found is None:
        pytest.skip("no sshd is installed (openssh-server)")
    return found


@dataclass
class SshServer:
    """A running sshd. ``home`` is the client's: with its key, and with the server's among the known."""

    folder: Path
    home: Path
    port: int
    process: subprocess.Popen[bytes]

    @property
    def user(self) -> str:
        return getpass.getuser()

    def url(self, path: Path | str) -> str:
        return f"sftp://{self.user}@127.0.0.1:{self.port}{path}"

    @property
    def address(self) -> str:
        return f"{self.user}@127.0.0.1:{self.port}"

    def cut(self) -> None:
        """End the connections that there are, at once; new ones are let in."""
        for child in psutil.Process(self.process.pid).children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                child.kill()

    def go_away(self) -> None:
        """End the connections, and let no new ones in."""
        children = psutil.Process(self.process.pid).children(recursive=True)
        self.process.kill()
        self.process.wait()
        for child in children:
            with contextlib.suppress(psutil.NoSuchProcess):
                child.kill()


@contextlib.contextmanager
def ssh_server(folder: Path, settings: str = "") -> Iterator[SshServer]:
    """An sshd that lets in whoever runs the test, with the key in its ``home``."""
    program = sshd()
    home = _home(folder)
    port = _free_port()
    config = _config(folder, port, settings)
    with _separation(), (folder / "sshd.log").open("wb") as log:
        process = subprocess.Popen([program, "-D", "-e", "-f", str(config)], stderr=log)
        server = SshServer(folder, home, port, process)
        try:
            _wait_for(server)
            yield server
        finally:
            if process.poll() is None:
                server.go_away()


def _home(folder: Path) -> Path:
    home = folder / "home"
    (home / ".ssh").mkdir(parents=True, mode=0o700)
    key = asyncssh.generate_private_key("ssh-ed25519")
    key.write_public_key(folder / "authorized_keys")
    write_key(key, home / ".ssh" / "id_ed25519")
    write_key(asyncssh.generate_private_key("ssh-ed25519"), folder / "host_key")
    return home


def write_key(key: asyncssh.SSHKey, path: Path) -> None:
    """As ssh and sshd want it: for nobody else to read."""
    key.write_private_key(path)
    path.chmod(0o600)


def _config(folder: Path, port: int, settings: str) -> Path:
    public = asyncssh.read_private_key(folder / "host_key").export_public_key().decode()
    (folder / "home" / ".ssh" / "known_hosts").write_text(f"[127.0.0.1]:{port} {public}")
    config = folder / "sshd_config"
    config.write_text(
        f"{settings}\n"
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder / 'host_key'}\nPidFile none\n"
        f"AuthorizedKeysFile {folder / 'authorized_keys'}\nStrictModes no\nUsePAM no\n"
        "PermitRootLogin yes\nPasswordAuthentication yes\nKbdInteractiveAuthentication no\n"
        "Subsystem sftp internal-sftp\nMaxStartups 100\nLogLevel VERBOSE\n"
    )
    return config


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


@contextlib.contextmanager
def _separation() -> Iterator[None]:
    """The folder that sshd wants as root; taken away again if it was not there."""
    if os.geteuid() or _SEPARATION.exists():
        yield
        return
    _SEPARATION.mkdir(mode=0o755)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            _SEPARATION.rmdir()


def _wait_for(server: SshServer) -> None:
    until = time.monotonic() + _PATIENCE_S
    while time.monotonic() < until and server.process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", server.port), 1):
            return
        time.sleep(0.02)
    log = (server.folder / "sshd.log").read_text()
    pytest.fail(f"sshd did not start: {log}")


@contextlib.contextmanager
def at_home(home: Path) -> Iterator[None]:
    """With ``home`` for the user's own folder, and without an agent."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        patch.delenv("SSH_AUTH_SOCK", raising=False)
        yield
