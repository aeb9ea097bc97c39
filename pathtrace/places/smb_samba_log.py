"""Reads from libsmbclient's log (level 5) what its interface does not tell. Samba's wording, 4.17.

It says of each message whether it was signed and how, or encrypted; why a logon failed; and how far a
connection came. It does not say the dialect nor the cipher. At this level no secret stands in it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from pathtrace.places.smb_negotiate import DIALECTS
from pathtrace.places.smb_session import Fault

_SIGNED = re.compile(r"signed SMB2 message \(sign_algo_id=(\d+)\)")
_ENCRYPTED = "Encrypted SMB2 message"
_LOGON_FAILED = re.compile(r"(?:SPNEGO login failed|session setup failed): (.+)")
_TREE = ("tconx ok", "Server connect ok")
_CONNECTING = "Connecting to "
_UNRESOLVED = "getaddrinfo failed for name"
_ALGORITHMS = {0: "HMAC-SHA256", 1: "AES-CMAC", 2: "AES-GMAC"}
_SINCE = {1: 0x0300, 2: 0x0311}
"""The oldest dialect that has the algorithm."""


class Log:
    """Lines as the library wrote them."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def write(self, text: bytes | None) -> None:
        """Called by the library."""
        if text is not None and len(self._lines) < 2000:
            self._lines.append(os.fsdecode(text).strip())

    def clear(self) -> None:
        """Forget all lines."""
        self._lines = []

    def explained(self, fault: Fault) -> Fault:
        """``fault`` of a connection that did not come about, told apart by how far it came."""
        failed = [match for line in self._lines if (match := _LOGON_FAILED.search(line))]
        if failed:
            return Fault("logon", failed[0][1])
        if self._has(_UNRESOLVED) and not self._has(_CONNECTING):
            return Fault("unknown_host")
        if fault.kind == "not_found" and not self._came_to_the_share():
            return Fault("no_share")
        return fault

    def protection(self, dialect: int | None) -> Iterator[str]:
        """Dialect, signing and encryption as words, from what happened after the share was reached."""
        after = self._lines[self._share_line() :]
        signed = [int(match[1]) for line in after if (match := _SIGNED.search(line))]
        encrypted = any(_ENCRYPTED in line for line in after)
        if dialect is None or (signed and dialect < _SINCE.get(signed[0], 0)):
            yield "SMB of unknown dialect"
        else:
            yield f"SMB {DIALECTS[dialect]} (by a negotiation of its own)"
        if encrypted:
            yield "encrypted"
        else:
            yield f"signed {_ALGORITHMS.get(signed[0], '')}".rstrip() if signed else "not signed"
            yield "not encrypted"

    def _has(self, mark: str) -> bool:
        return any(mark in line for line in self._lines)

    def _came_to_the_share(self) -> bool:
        return self._share_line() < len(self._lines)

    def _share_line(self) -> int:
        found = (index for index, line in enumerate(self._lines) if any(mark in line for mark in _TREE))
        return next(found, len(self._lines))
