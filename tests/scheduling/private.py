"""Cron and systemd of our own: in private mount, process and control-group namespaces, nothing of the host's.

What is started in there ends with it. Needs root.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import pytest

from tests.cli.command import ROOT

_UNIFIED = (Path("/sys/fs/cgroup/unified"), Path("/sys/fs/cgroup"))

_EMPTY_PLACES = """\
mount -t tmpfs none /run
mount -t tmpfs none /var/spool/cron
install -d -m 1730 -g crontab /var/spool/cron/crontabs
mount -t tmpfs none /etc/cron.d
touch /run/empty
mount --bind /run/empty /etc/crontab
"""
_SYSTEMD_PLACES = """\
umount -R /sys/fs/cgroup
mount -t cgroup2 none /sys/fs/cgroup
mkdir -p /run/systemd/system /run/user
mount -t tmpfs none /etc/systemd/system
"""
_AS_IF_BOOTED = """\
XDG_RUNTIME_DIR=/run/user /lib/systemd/systemd --user --log-target=console 2>/run/manager.log &
until test -e /run/user/systemd/private; do sleep 0.1; done
"""


def require(*programs: str) -> None:
    """Skip where something is missing; in CI that is a failure."""
    missing = [
        name for name in programs if shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin") is None
    ]
    if missing:
        pytest.skip(f"not installed here: {', '.join(missing)}")


def require_root() -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root: it mounts over /etc/cron.d and /var/spool/cron")


def with_cron(script: str, folder: Path, timeout: float = 60) -> str:
    """What a script of bash put out, with crontabs of its own; it starts ``cron -f`` itself."""
    require_root()
    require("cron", "crontab", "unshare")
    return _in_namespaces((), _EMPTY_PLACES + script, folder, timeout)


def with_systemd(script: str, folder: Path, timeout: float = 60) -> str:
    """The same, with a manager of the user that runs (and crontabs, without cron)."""
    require_root()
    require("systemctl", "systemd-analyze", "crontab", "unshare")
    if not Path("/lib/systemd/systemd").exists():
        pytest.skip("systemd is not installed here")
    group = _own_group()
    try:
        join = f"echo $$ >{group}/cgroup.procs\n"
        places = _EMPTY_PLACES + _SYSTEMD_PLACES + _AS_IF_BOOTED
        return _in_namespaces(("--cgroup",), places + script, folder, timeout, join)
    finally:
        for path in sorted(group.rglob("*/"), reverse=True):
            with contextlib.suppress(OSError):
                path.rmdir()
        group.rmdir()


def _own_group() -> Path:
    root = next((each for each in _UNIFIED if (each / "cgroup.procs").exists()), None)
    if root is None:
        pytest.skip("no second version of control groups here")
    group = root / f"pathtrace-test-{uuid4().hex[:8]}"
    group.mkdir()
    return group


def _in_namespaces(more: tuple[str, ...], script: str, folder: Path, timeout: float, before: str = "") -> str:
    unshare = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", *more]
    inner = folder / "inner.sh"
    inner.write_text(f"set -eu\n{script}")
    words = ["bash", "-euc", f"{before}exec {' '.join(unshare)} bash {inner}"]
    environ = {
        "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin",
        "HOME": str(folder),
        "LOGNAME": "root",
        "USER": "root",
        "COLUMNS": "80",
        "PATHTRACE_STORE": str(folder / "runs"),
        "PYTHON": sys.executable,
        "PYTHONPATH": str(ROOT),
    }
    done = subprocess.run(words, capture_output=True, text=True, env=environ, cwd=folder, timeout=timeout)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout
