"""Who made something that must not be left behind: a process of a host, as text, and whether it is gone."""

from __future__ import annotations

import json
import os
import socket

import psutil

_SAME_START_S = 3600.0
"""Clocks are set meanwhile: only a process that began far from the noted time is another one."""


def ourselves() -> str:
    """This process, as a note for others."""
    own = psutil.Process()
    return json.dumps({"host": socket.gethostname(), "pid": os.getpid(), "since": own.create_time()})


def is_gone(said: str) -> bool:
    """True only where it is sure: on this host, and no such process any more."""
    try:
        noted = json.loads(said)
        host, pid, since = str(noted["host"]), int(noted["pid"]), float(noted["since"])
    except (ValueError, KeyError, TypeError):
        return False
    if host != socket.gethostname():
        return False
    try:
        return abs(psutil.Process(pid).create_time() - since) > _SAME_START_S
    except psutil.NoSuchProcess:
        return True
    except psutil.Error:
        return False
