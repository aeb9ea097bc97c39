"""Samba on 127.0.0.1 for the tests of ``smb://``: a server of its own with users, passwords and shares.

Its configuration, passwords, state and log lie in a folder of the test; the machine's own Samba is neither
read nor changed. Needs root (smbd does). The lab has a like one for its hosts.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

USER = "reader"
_UNIX_USER = "nobody"
_GLOBAL = """[global]
server role = standalone server
workgroup = PATHTRACE
interfaces = 127.0.0.1/8
bind interfaces only = yes
smb ports = {port}
disable netbios = yes
username map = {folder}/users
passdb backend = tdbsam:{folder}/passdb.tdb
private dir = {folder}/private
state directory = {folder}/state
cache directory = {folder}/state
lock directory = {folder}/state
pid directory = {folder}/state
binddns dir = {folder}/state
ncalrpc dir = {folder}/state/rpc
winbindd socket directory = {folder}/state/winbindd
logging = file
log file = {folder}/log
load printers = no
printing = bsd
printcap name = /dev/null
disable spoolss = yes
rpc start on demand helpers = no
usershare max shares = 0
guest account = {guest}
{options}
"""


@dataclass
class SmbServer:
    """A server that can be stopped, frozen and started again on the same port."""

    folder: Path
    port: int
    password: str
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start smbd and wait until it listens."""
        argv = [_program("smbd"), "--foreground", "--no-process-group", "--configfile"]
        with (self.folder / "output").open("ab") as output:
            self.process = subprocess.Popen(
                [*argv, str(self.folder / "smb.conf")],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        deadline = time.monotonic() + 15
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return
            assert self.process.poll() is None, (self.folder / "output").read_text(errors="replace")
            assert time.monotonic() < deadline, "smbd does not listen"
            time.sleep(0.02)

    def send(self, number: signal.Signals) -> None:
        """A signal to smbd and the processes that serve its clients."""
        assert self.process is not None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)

    def stop(self) -> None:
        """End it at once, with every connection."""
        if self.process is not None:
            self.send(signal.SIGKILL)
            self.process.wait(10)
            self.process = None


def need_samba() -> None:
    """Skip where no smbd can be had."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        pytest.skip("smbd needs root")
    missing = [each for each in ("smbd", "pdbedit") if _found(each) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)} (package samba)")


@contextlib.contextmanager
def smb_server(shares: Mapping[str, str], options: str = "") -> Iterator[SmbServer]:
    """Serve ``shares`` (name -> lines of its section) with ``options`` for all, until the block is left."""
    with (
        tempfile.TemporaryDirectory(prefix="pathtrace-smbd-", ignore_cleanup_errors=True) as folder,
        _serving(Path(folder), shares, options) as server,
    ):
        yield server


@contextlib.contextmanager
def _serving(folder: Path, shares: Mapping[str, str], options: str) -> Iterator[SmbServer]:
    # As the client's user each smbd looks here whether the others still live. Where it may not look, it
    # takes them for dead, forgets what they have open, and now and then drops a connection for it.
    folder.chmod(0o755)
    (folder / "state").mkdir(mode=0o755)
    (folder / "private").mkdir(mode=0o700)
    server = SmbServer(folder, _free_port(), secrets.token_urlsafe(12))
    sections = "".join(f"\n[{name}]\n{lines}\n" for name, lines in shares.items())
    written = _GLOBAL.format(port=server.port, folder=folder, guest=_UNIX_USER, options=options) + sections
    (folder / "smb.conf").write_text(written)
    (folder / "users").write_text(f"{_UNIX_USER} = {USER}\n")
    subprocess.run(
        [_program("pdbedit"), f"--configfile={folder / 'smb.conf'}", "-a", "-t", "-u", _UNIX_USER],
        input=f"{server.password}\n{server.password}\n".encode(),
        capture_output=True,
        check=True,
    )
    try:
        server.start()
        yield server
    finally:
        server.stop()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _found(program: str) -> str | None:
    return shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


def _program(name: str) -> str:
    found = _found(name)
    assert found is not None, f"{name} is not installed"
    return found
