"""OpenSSH on a host of the lab, and sshfs mounts from another host.

``with sshd(host) as ssh:`` serves ssh and sftp with keys of its own, which are drawn; the machine's
sshd, its configuration, keys and PAM are not used. ``ssh.configuration`` is a file for ``ssh -F``,
``sftp -F``, ``sshfs -F`` and asyncssh's ``config``, under which the server is called by its host's name.
``with sshfs_mount(workstation, ssh, folder) as mount:`` gives a folder that every process sees and
whose traffic goes through the workstation's network.

The one thing that outlives it is the empty folder /run/sshd, which sshd demands and whose place is
compiled into it; the system's own service makes it at each start.
By hand: ``python -m tests.truth.lab up`` starts one and prints how it is reached.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lab_leftovers import claimed, stop_tree

from .hosts import Host
from .serving import served

USER = "root"
_PRIVILEGE_SEPARATION = Path("/run/sshd")

_SERVER = """Port {port}
ListenAddress {address}
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/identity.pub
PidFile none
UsePAM no
StrictModes no
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
UseDNS no
PrintMotd no
PrintLastLog no
MaxStartups 100
Ciphers +3des-cbc
Subsystem sftp internal-sftp
"""
_CLIENT = """Host {name} {address}
  HostName {address}
  Port {port}
  User {user}
  IdentityFile {folder}/identity
  IdentitiesOnly yes
  UserKnownHostsFile {folder}/known_hosts
  GlobalKnownHostsFile /dev/null
  StrictHostKeyChecking yes
  BatchMode yes
"""


@dataclass(frozen=True)
class Ssh:
    """A server that is running, and what a client needs to get in."""

    host: Host
    port: int
    user: str
    pid: int
    identity: Path
    known_hosts: Path
    configuration: Path
    log: Path

    @property
    def name(self) -> str:
        """How ``configuration`` calls the server."""
        return self.host.name

    def command(self, *remote: str) -> list[str]:
        """``ssh`` to the server to run ``remote``; to be run on another host."""
        return ["ssh", "-F", str(self.configuration), self.name, *remote]

    def url(self, path: Path) -> str:
        """``sftp://`` with user, address and port."""
        return f"sftp://{self.user}@{self.host.address}:{self.port}{path}"


def why_not() -> str | None:
    """Why no server can be had here, or None."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return "sshd on a host of the lab needs root"
    missing = [each for each in ("sshd", "ssh", "ssh-keygen") if _found(each) is None]
    if missing:
        return f"not installed: {', '.join(missing)} (packages openssh-server and openssh-client)"
    if _locked():
        return "root's account is locked, so that sshd lets nobody in without PAM"
    return None


def why_no_mount() -> str | None:
    """Why no sshfs mount can be had here, or None."""
    if reason := why_not():
        return reason
    if _found("sshfs") is None:
        return "sshfs is not installed"
    return None if Path("/dev/fuse").exists() else "sshfs needs FUSE"


@contextlib.contextmanager
def sshd(host: Host, *, port: int = 22) -> Iterator[Ssh]:
    """Serve ssh and sftp on the host's address, to whoever holds ``identity``."""
    with claimed("sshd") as claim:
        folder = claim.folder
        _PRIVILEGE_SEPARATION.mkdir(mode=0o755, exist_ok=True)
        names = {"name": host.name, "address": host.address, "port": port, "user": USER, "folder": folder}
        (folder / "sshd_config").write_text(_SERVER.format(**names))
        (folder / "ssh_config").write_text(_CLIENT.format(**names))
        _draw_key(folder / "host_key")
        _draw_key(folder / "identity")
        (folder / "known_hosts").write_text(_known(host, port, folder / "host_key.pub"))
        argv = [_path("sshd"), "-D", "-e", "-f", str(folder / "sshd_config")]
        with served(host, claim, argv, port=port) as process:
            yield Ssh(
                *(host, port, USER, process.pid),
                *(folder / "identity", folder / "known_hosts", folder / "ssh_config", folder / "log"),
            )


@contextlib.contextmanager
def sshfs_mount(
    workstation: Host, server: Ssh, remote: Path, *, cipher: str | None = None, options: str = ""
) -> Iterator[Path]:
    """The server's folder ``remote``, mounted; ``cipher`` as ssh names it, ``options`` for ``-o``."""
    with claimed("sshfs") as claim:
        folder = claim.folder / "mount"
        folder.mkdir()
        stated = [each for each in (f"Ciphers={cipher}" if cipher else "", options) if each]
        argv = [
            *(_path("sshfs"), "-f", "-F", str(server.configuration), f"{server.name}:{remote}", str(folder)),
            *(part for each in stated for part in ("-o", each)),
        ]
        log = claim.folder / "log"
        # Noted first, so undone last: once its process is gone, no unmounting can hang on the network.
        claim.will_mount(folder)
        with log.open("wb") as output:
            process = workstation.start(argv, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        claim.started_tree(process.pid)
        try:
            _wait_for_the_mount(folder, process, log)
            yield folder
        finally:
            stop_tree(process.pid)
            process.wait(10)


def _wait_for_the_mount(folder: Path, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 10
    while not os.path.ismount(folder):
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"sshfs (exit {process.poll()}): {log.read_text(errors='replace').strip()}")
        time.sleep(0.02)


def _draw_key(path: Path) -> None:
    argv = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "pathtrace-lab", "-f", str(path)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"ssh-keygen: {done.stderr.strip()}")


def _known(host: Host, port: int, key: Path) -> str:
    written = [each if port == 22 else f"[{each}]:{port}" for each in (host.name, host.address)]
    kind, public = key.read_text().split()[:2]
    return f"{','.join(written)} {kind} {public}\n"


def _locked() -> bool:
    """Whether root's password starts with the mark that locks an account."""
    for line in Path("/etc/shadow").read_text().splitlines():
        name, password = line.split(":")[:2]
        if name == USER:
            return password.startswith("!")
    return False


def _found(program: str) -> str | None:
    return shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


def _path(program: str) -> str:
    found = _found(program)
    if found is None:
        raise RuntimeError(f"{program} is not installed")
    return found
