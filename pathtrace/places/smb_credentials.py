"""Finds as whom to log on to an SMB server: the URL, the environment, a keyring, ~/.smbcredentials, a guest.

The first source that has a user wins; one that has only the password of a user who is known already adds
that. The file has the format of mount.cifs; one that others may read is not used.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pathtrace.errors import PlaceError
from pathtrace.places.remote import Target

USER = "PATHTRACE_SMB_USER"
PASSWORD = "PATHTRACE_SMB_PASSWORD"
FILE = ".smbcredentials"
_SERVICE = "pathtrace"


@dataclass(frozen=True, slots=True)
class Credentials:
    """``user`` None: as a guest. ``password`` is a secret."""

    domain: str | None = None
    user: str | None = None
    password: str | None = field(default=None, repr=False)


def find(target: Target, environment: Mapping[str, str], home: Path) -> Credentials:
    """Who logs on to ``target``. May ask a keyring. PlaceError if a file of credentials is open to others."""
    domain, user = split_domain(target.user)
    if user is not None and target.password is not None:
        return Credentials(domain, user, target.password)
    for found in _others(target, user, environment, home):
        if user is None or found.user in (None, user):
            return Credentials(found.domain or domain, found.user or user, found.password)
    return Credentials(domain, user)


def split_domain(user: str | None) -> tuple[str | None, str | None]:
    """``DOMAIN;user`` as URLs have it, or ``DOMAIN\\user`` as Windows has it."""
    for mark in (";", "\\"):
        if user and mark in user:
            domain, _, name = user.partition(mark)
            return domain or None, name or None
    return None, user or None


def read_file(path: Path) -> Credentials | None:
    """What a file as of mount.cifs says; None if there is none. PlaceError if others may read it."""
    try:
        with path.open(encoding="utf-8", errors="surrogateescape") as file:
            _refuse_if_open_to_others(os.fstat(file.fileno()), path)
            values = dict(_assignments(file))
    except OSError:
        return None
    domain, user = split_domain(values.get("username") or values.get("user"))
    if user is None:
        return None
    domain = values.get("domain") or values.get("dom") or values.get("workgroup") or domain
    return Credentials(domain, user, values.get("password") or values.get("pass"))


def _others(
    target: Target, user: str | None, environment: Mapping[str, str], home: Path
) -> Iterator[Credentials]:
    if PASSWORD in environment and (user is not None or USER in environment):
        domain, name = split_domain(environment.get(USER))
        yield Credentials(domain, name, environment[PASSWORD])
    name = user or split_domain(environment.get(USER))[1]
    kept = _in_keyring(name, target.host) if name else None
    if kept is not None:
        yield Credentials(split_domain(environment.get(USER))[0], name, kept)
    written = read_file(home / FILE)
    if written is not None:
        yield written
    if user is None and name is not None:
        yield Credentials(*split_domain(environment.get(USER)))


def _in_keyring(user: str, host: str) -> str | None:
    """A keyring is optional, and may be there without being usable."""
    try:
        import keyring
        import keyring.errors
    except ImportError:
        return None
    try:
        kept: str | None = keyring.get_password(_SERVICE, f"{user}@{host}")
    except (keyring.errors.KeyringError, OSError, RuntimeError):
        return None
    return kept


def _refuse_if_open_to_others(status: os.stat_result, path: Path) -> None:
    if os.name == "posix" and status.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise PlaceError(
            f"{path} holds a password and others may read it",
            hint=f"keep it to yourself: chmod 600 {path}",
        )


def _assignments(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        key, mark, value = line.rstrip("\r\n").partition("=")
        if mark and not key.lstrip().startswith("#"):
            # What follows the sign belongs to a password, spaces too; Samba's own files have one before it.
            yield key.strip().lower(), value.removeprefix(" ") if key.endswith(" ") else value
