"""What an SMB library has to do for us, and the values that pass between its process and ours.

Both libraries are made into a ``Session``: plain blocking calls on one connection, used by one thread.
Errors are ``Fault`` of a closed list of kinds; what a person is told is left to ``smb_faults``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol

Kind = Literal[
    "no_library",
    "unknown_host",
    "refused",
    "unreachable",
    "timed_out",
    "logon",
    "no_share",
    "denied",
    "not_found",
    "not_a_file",
    "in_use",
    "no_space",
    "lost",
    "other",
]
ENDS_CONNECTION: frozenset[Kind] = frozenset(
    ("unknown_host", "refused", "unreachable", "timed_out", "logon", "no_share", "lost")
)
"""After one of these the next operation connects again."""


class Fault(Exception):  # noqa: N818  # as everywhere here: what a sample has as its fault
    """Something failed at the server or on the way to it; ``detail`` is the library's own word for it."""

    def __init__(self, kind: Kind, detail: str = "") -> None:
        super().__init__(kind, detail)
        self.kind: Kind = kind
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Logon:
    """Where to connect, and as whom. ``user`` None: as a guest."""

    host: str
    port: int | None
    share: str
    domain: str | None
    user: str | None
    password: str | None = field(repr=False)
    timeout_s: float = 20.0


class Entry(NamedTuple):
    """Of a folder. ``identity`` is the server's number of the file, 0 if it has none to tell."""

    name: str
    size: int
    folder: bool
    link: bool
    identity: int


class Facts(NamedTuple):
    """What a connection turned out to be."""

    identity: str
    address: str | None
    port: int | None


class Timing(NamedTuple):
    """One operation in ``time.monotonic_ns``; ``data`` where it was not put into shared memory."""

    start_ns: int
    setup_ns: int
    stat_ns: int
    first_byte_ns: int
    finish_ns: int
    elapsed_ns: int
    cpu_ns: int
    got: int
    data: bytes | None = None


class RemoteOpen(Protocol):
    """An open file on the server."""

    def size(self) -> int:
        """Bytes, asked of the server. Fault."""
        ...

    def read(self, offset: int, into: memoryview) -> int:
        """How many bytes came; less than ``into`` holds only at the end of the file. Fault."""
        ...

    def write(self, data: memoryview) -> None:
        """All of it, at the start. Fault."""
        ...

    def finish(self) -> None:
        """Have what was written put down, where the library can ask for that, and close. Fault."""
        ...

    def close(self) -> None:
        """Fault."""
        ...


class Session(Protocol):
    """One connection. Paths are relative to the share, with slashes, without one in front."""

    def connect(self, path: str) -> Facts:
        """Connect, log on, and look at ``path``. Fault."""
        ...

    def size(self, path: str) -> int | None:
        """Of a file; None if it is a folder. Fault."""
        ...

    def entries(self, path: str) -> Sequence[Entry]:
        """Of a folder, without ``.`` and ``..``. Fault."""
        ...

    def open(self, path: str) -> RemoteOpen:
        """For reading. Fault."""
        ...

    def create(self, path: str) -> RemoteOpen:
        """For writing, empty. Fault."""
        ...

    def make_folder(self, path: str) -> None: ...

    def remove_file(self, path: str) -> None: ...

    def remove_empty_folder(self, path: str) -> None: ...

    def close(self) -> None:
        """Never raises."""
        ...
