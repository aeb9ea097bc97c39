"""Samba on a host of the lab: smbd and nothing else, with a user, a drawn password and shares.

``with smbd(host, {"documents": Share(folder)}) as samba:`` serves until the block is left. Its
configuration, passwords, state, locks and log lie in a folder of its own; the machine's Samba, its
users and ``/etc`` are neither read nor changed. The share's user is mapped to root, who is a user of
every machine, so that no Unix user need be made.
By hand: ``python -m tests.truth.lab up`` starts one and prints how it is reached.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from lab_leftovers import claimed

from .hosts import Host
from .serving import served

USER = "lab"
_UNIX_USER = "root"

Demand = Literal["mandatory", "off"]
_SIGNING = {"mandatory": "mandatory", "off": "disabled"}
_ENCRYPTION = {"mandatory": "required", "off": "off"}

_GLOBAL = """[global]
server role = standalone server
interfaces = {address}
bind interfaces only = yes
smb ports = {port}
disable netbios = yes
server multi channel support = no
server signing = {signing}
server smb encrypt = {encryption}
map to guest = never
username map = {folder}/users
passdb backend = tdbsam:{folder}/passdb.tdb
private dir = {folder}/state
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
host msdfs = no
unix extensions = no
"""
_SHARE = """
[{name}]
path = {folder}
valid users = {unix_user}
read only = {read_only}
"""


@dataclass(frozen=True)
class Share:
    folder: Path
    access: Literal["read", "write"] = "read"


@dataclass(frozen=True)
class Samba:
    """A server that is running. ``credentials`` is a file for smbclient's ``-A``."""

    host: Host
    port: int
    user: str
    password: str
    shares: Mapping[str, Share]
    pid: int
    credentials: Path
    configuration: Path
    log: Path

    def url(self, share: str, path: str = "") -> str:
        """``smb://`` with user and address, and without the password."""
        port = "" if self.port == 445 else f":{self.port}"
        return f"smb://{self.user}@{self.host.address}{port}/{share}/{path}"

    def smbclient(self, share: str, commands: str) -> list[str]:
        """Samba's own client, asked to do ``commands``; to be run on another host."""
        return [
            *("smbclient", f"//{self.host.address}/{share}", "--port", str(self.port)),
            *("--configfile", os.devnull, "--authentication-file", str(self.credentials)),
            *("--command", commands),
        ]


def why_not() -> str | None:
    """Why no server can be had here, or None."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return "Samba on a host of the lab needs root"
    missing = [each for each in ("smbd", "smbpasswd", "smbclient") if _found(each) is None]
    return f"not installed: {', '.join(missing)} (packages samba and smbclient)" if missing else None


@contextlib.contextmanager
def smbd(
    host: Host,
    shares: Mapping[str, Share],
    *,
    port: int = 445,
    signing: Demand = "off",
    encryption: Demand = "off",
) -> Iterator[Samba]:
    """Serve ``shares`` (name -> folder) on the host's address.

    Encryption that is ``off`` is refused to a client that asks for it. Signing cannot be refused since
    SMB 2: ``off`` does not demand it, and a client that demands it gets it.
    """
    password = secrets.token_urlsafe(12)
    with claimed("samba") as claim:
        configuration = claim.folder / "smb.conf"
        (claim.folder / "state").mkdir(mode=0o700)
        (claim.folder / "users").write_text(f"{_UNIX_USER} = {USER}\n")
        configuration.write_text(
            _GLOBAL.format(
                address=host.address,
                port=port,
                folder=claim.folder,
                signing=_SIGNING[signing],
                encryption=_ENCRYPTION[encryption],
            )
            + "".join(_section(name, share) for name, share in shares.items())
        )
        _set_password(configuration, password)
        credentials = claim.folder / "credentials"
        credentials.touch(mode=0o600)
        credentials.write_text(f"username = {USER}\npassword = {password}\n")
        argv = [_path("smbd"), "--foreground", "--no-process-group", f"--configfile={configuration}"]
        with served(host, claim, argv, port=port) as process:
            yield Samba(
                *(host, port, USER, password, dict(shares), process.pid),
                *(credentials, configuration, claim.folder / "log"),
            )


def _section(name: str, share: Share) -> str:
    read_only = {"read": "yes", "write": "no"}[share.access]
    return _SHARE.format(name=name, folder=share.folder, unix_user=_UNIX_USER, read_only=read_only)


def _set_password(configuration: Path, password: str) -> None:
    done = subprocess.run(
        [_path("smbpasswd"), "-c", str(configuration), "-s", "-a", _UNIX_USER],
        input=f"{password}\n{password}\n",
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"smbpasswd: {done.stderr.strip()}")


def _found(program: str) -> str | None:
    return shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


def _path(program: str) -> str:
    found = _found(program)
    if found is None:
        raise RuntimeError(f"{program} is not installed")
    return found
