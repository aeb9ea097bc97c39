"""Says what failed at an SMB server, why, and what to do about it. Never with a secret in it."""

from __future__ import annotations

from pathtrace.errors import OperationError, PlaceError
from pathtrace.places.file_list import shown
from pathtrace.places.remote import Target
from pathtrace.places.smb_session import Fault

INSTALL = "install Samba's client library (Debian: apt install libsmbclient) or: pip install smbprotocol"

_WHERE = {
    "unknown_host": "the host {host} is not known",
    "refused": "{server} refused the connection",
    "unreachable": "{server} cannot be reached",
    "timed_out": "{server} did not answer in time",
    "logon": "{server} did not let {user} log on",
    "no_share": "{server} has no share {share}",
    "denied": "{user} may not open {place}",
    "not_found": "there is no {place}",
    "not_a_file": "{place} is not a file",
    "lost": "the connection to {server} was lost",
    "no_library": "there is no library for smb://",
}
_HINTS = {
    "unknown_host": "check the name, or write the address in its place",
    "refused": "check that the SMB server runs and listens on this port",
    "unreachable": "check the network and the address",
    "timed_out": "check the address and the firewalls in between",
    "logon": "check user and password: in the URL, PATHTRACE_SMB_USER and PATHTRACE_SMB_PASSWORD, a keyring, "
    "or ~/.smbcredentials",
    "no_share": "the first part of the path is the share: smb://host/share/folder",
    "denied": "check the rights of this user on the server",
    "not_found": "check the path; its first part is the share: smb://host/share/folder",
    "lost": "see that the server keeps running and look into its log",
    "no_library": INSTALL,
}
_FILE = {
    "denied": "no permission",
    "not_found": "no such file or folder",
    "not_a_file": "not a file",
    "in_use": "in use by another client",
    "no_space": "no space left on the server",
}


def place_error(fault: Fault, target: Target, user: str | None) -> PlaceError:
    """The place cannot be used at all."""
    share = target.path.strip("/").partition("/")[0]
    words = {
        "host": shown(target.host),
        "server": _server(target),
        "share": shown(share),
        "user": "a guest" if user is None else shown(user),
        "place": shown(f"smb://{_bracketed(target.host)}/{target.path}"),
    }
    message = _WHERE.get(fault.kind, "{place} cannot be used").format(**words)
    if fault.detail and fault.kind in ("logon", "lost", "other", "no_space", "in_use"):
        message = f"{message} ({fault.detail})"
    return PlaceError(message, hint=_HINTS.get(fault.kind))


def operation_error(fault: Fault, target: Target, name: str, user: str | None) -> OperationError:
    """One operation failed: because of its file, or because of the server."""
    why = _FILE.get(fault.kind)
    named = shown(name or target.path.rstrip("/").rpartition("/")[2])  # "": the target itself
    if why is None and fault.kind != "other":
        return OperationError(f"{named}: {place_error(fault, target, user).message}")
    return OperationError(f"{named}: {why or fault.detail or 'failed'}")


def _server(target: Target) -> str:
    return f"{shown(_bracketed(target.host))}:{target.port}" if target.port else shown(target.host)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
