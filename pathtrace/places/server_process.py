"""Finds the local process that listens behind a URL. Knows sockets of this host and nothing of servers."""

from __future__ import annotations

import ipaddress
import socket
from urllib.parse import urlsplit

import psutil

_DEFAULT_PORTS = {"http": 80, "https": 443}


def server_pid(url: str) -> int | None:
    """The process that listens at ``url`` on this host; None where it is elsewhere or cannot be seen."""
    parts = urlsplit(url)
    port = parts.port or _DEFAULT_PORTS.get(parts.scheme)
    addresses = _local_addresses(parts.hostname or "")
    if port is None or not addresses:
        return None
    try:
        connections = psutil.net_connections(kind="tcp")
    except (psutil.Error, OSError):
        return None  # macOS shows other users' sockets to root only
    found = [
        connection.pid
        for connection in connections
        if connection.status == psutil.CONN_LISTEN
        and connection.laddr
        and connection.laddr.port == port
        and _reaches(connection.laddr.ip, addresses)
    ]
    # A server's workers share its socket; the first process is the one that opened it.
    pids = sorted(pid for pid in found if pid is not None)
    return pids[0] if pids else None


def _local_addresses(host: str) -> set[str]:
    """The addresses of ``host`` if they are this host's own, else nothing."""
    try:
        named = {str(entry[4][0]) for entry in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)}
    except (OSError, UnicodeError):
        return set()
    own = {address.address for every in psutil.net_if_addrs().values() for address in every}
    return {address for address in named if ipaddress.ip_address(address).is_loopback or address in own}


def _reaches(listening: str, addresses: set[str]) -> bool:
    return listening in addresses or ipaddress.ip_address(listening).is_unspecified
