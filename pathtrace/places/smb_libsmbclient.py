"""SMB through Samba's own client library, ``libsmbclient``, bound with ctypes: its C calls, one by one.

Seen with Samba 4.17: contexts of their own do not make it safe among threads (eight of them aborted it
within seconds, and Debian's build does not export ``smbc_thread_posix``), so it is used by one thread of
a process of its own. What it does not tell in its interface is read from its log (``smb_samba_log``).
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from ctypes import (
    CFUNCTYPE,
    c_char_p,
    c_int,
    c_int64,
    c_size_t,
    c_ssize_t,
    c_uint,
    c_uint16,
    c_uint64,
    c_void_p,
)
from typing import Any
from urllib.parse import quote

from pathtrace.places.smb_negotiate import negotiated_dialect
from pathtrace.places.smb_peer import peer_of_own_socket
from pathtrace.places.smb_samba_log import Log
from pathtrace.places.smb_session import Entry, Facts, Fault, Kind, Logon

_NAMES = ("libsmbclient.so.0", "libsmbclient.0.dylib", "libsmbclient.dylib")
_ATTRIBUTE_FOLDER = 0x10
_ATTRIBUTE_REPARSE = 0x400
_EVIDENCE_LEVEL = 5
_STAT_BYTES = 512
"""More than any ``struct stat`` has."""
_INODE_OFFSET = 8
"""Of ``st_ino`` in ``struct stat`` on 64-bit Linux, whatever the processor."""

_AUTH = CFUNCTYPE(None, c_void_p, c_char_p, c_char_p, c_void_p, c_int, c_void_p, c_int, c_void_p, c_int)
_LOG = CFUNCTYPE(None, c_void_p, c_int, c_char_p)

_KINDS: dict[int, Kind] = {
    errno.ECONNREFUSED: "refused",
    errno.EHOSTUNREACH: "unreachable",
    errno.ENETUNREACH: "unreachable",
    errno.ETIMEDOUT: "timed_out",
    errno.EACCES: "denied",
    errno.EPERM: "denied",
    errno.ENOENT: "not_found",
    errno.ENOTDIR: "not_found",
    errno.EISDIR: "not_a_file",
    errno.EBUSY: "in_use",
    errno.ENOSPC: "no_space",
    errno.EDQUOT: "no_space",
    **dict.fromkeys(
        (
            errno.ECONNRESET,
            errno.ECONNABORTED,
            errno.ENETRESET,
            errno.ENOTCONN,
            errno.EPIPE,
            errno.EIO,
            errno.EBADF,
        ),
        "lost",
    ),
}


class _FileInfo(ctypes.Structure):
    """The beginning and the names of ``struct libsmb_file_info``."""

    _fields_ = (
        ("size", c_uint64),
        ("attrs", c_uint16),
        ("uid", c_uint),
        ("gid", c_uint),
        ("times", c_int64 * 8),
        ("name", c_char_p),
        ("short_name", c_char_p),
    )


_CALLS: dict[str, tuple[Any, ...]] = {
    "Open": (c_void_p, c_char_p, c_int, c_uint),
    "Read": (c_ssize_t, c_void_p, c_void_p, c_size_t),
    "Write": (c_ssize_t, c_void_p, c_void_p, c_size_t),
    "Lseek": (c_int64, c_void_p, c_int64, c_int),
    "Close": (c_int, c_void_p),
    "Opendir": (c_void_p, c_char_p),
    "ReaddirPlus2": (ctypes.POINTER(_FileInfo), c_void_p, c_void_p),
    "Closedir": (c_int, c_void_p),
    "Mkdir": (c_int, c_char_p, c_uint),
    "Rmdir": (c_int, c_char_p),
    "Unlink": (c_int, c_char_p),
}
"""Result and arguments, after the context, of the calls that a context holds."""


def load() -> ctypes.CDLL:
    """The library. OSError if there is none here, or none that is new enough."""
    for name in _NAMES:
        try:
            library = ctypes.CDLL(name, use_errno=True)
        except OSError:
            continue
        if hasattr(library, "smbc_getFunctionReaddirPlus2"):
            return library
    raise OSError("there is no libsmbclient of Samba 4.13 or newer")


class LibsmbclientSession:
    """A context of the library, and the one connection that it holds."""

    def __init__(self, logon: Logon, library: ctypes.CDLL) -> None:
        self._logon = logon
        self._library = library
        self._log = Log()
        self._on_log = _LOG(lambda _, __, text: self._log.write(text))
        self._on_auth = _AUTH(self._authenticate)
        self._context: int | None = None
        self._calls: dict[str, Any] = {}
        # The library takes an IPv6 address neither bare nor in brackets, but with its colons quoted.
        place = f"{quote(logon.host, safe='')}{f':{logon.port}' if logon.port else ''}"
        self._root = f"smb://{place}/{quote(logon.share, safe='')}/"

    def connect(self, path: str) -> Facts:
        """Connect, log on, and look at ``path``. Fault."""
        self._new_context()
        self._log.clear()
        try:
            self.size(path)
        except Fault as fault:
            self._set("smbc_setDebug", c_int, 0)
            raise self._log.explained(fault) from None
        self._set("smbc_setDebug", c_int, 0)
        address, port = peer_of_own_socket() or (None, None)
        dialect = negotiated_dialect(address, port) if address and port else None
        return Facts(self._identity(dialect), address, port)

    def size(self, path: str) -> int | None:
        """Of a file; None if it is a folder. Fault."""
        file = self._calls["Open"](self._context, self._url(path), os.O_RDONLY, 0)
        if not file:
            if ctypes.get_errno() in (errno.EISDIR, errno.EINVAL):
                self._demand_folder(path)
                return None
            raise _fault()
        size: int = self._calls["Lseek"](self._context, file, 0, os.SEEK_END)
        self._calls["Close"](self._context, file)
        return size if size >= 0 else None

    def entries(self, path: str) -> list[Entry]:
        """Of a folder, without ``.`` and ``..``. Fault."""
        folder = self._calls["Opendir"](self._context, self._url(path))
        if not folder:
            raise _fault()
        status = ctypes.create_string_buffer(_STAT_BYTES)
        found: list[Entry] = []
        ctypes.set_errno(0)
        while info := self._calls["ReaddirPlus2"](self._context, folder, ctypes.addressof(status)):
            entry = _entry(info[0], status)
            if entry.name not in (".", ".."):
                found.append(entry)
        self._calls["Closedir"](self._context, folder)
        return found

    def open(self, path: str) -> LibsmbclientFile:
        """For reading. Fault."""
        return self._opened(path, os.O_RDONLY)

    def create(self, path: str) -> LibsmbclientFile:
        """For writing, empty. Fault."""
        return self._opened(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)

    def make_folder(self, path: str) -> None:
        """Fault."""
        _demand(self._calls["Mkdir"](self._context, self._url(path), 0o777))

    def remove_file(self, path: str) -> None:
        """Fault."""
        _demand(self._calls["Unlink"](self._context, self._url(path)))

    def remove_empty_folder(self, path: str) -> None:
        """Fault."""
        _demand(self._calls["Rmdir"](self._context, self._url(path)))

    def close(self) -> None:
        """Say good-bye and free the context. Never raises."""
        context, self._context = self._context, None
        if context is not None:
            free = self._library.smbc_free_context
            free.restype, free.argtypes = c_int, (c_void_p, c_int)
            free(context, 1)

    def _opened(self, path: str, flags: int) -> LibsmbclientFile:
        file = self._calls["Open"](self._context, self._url(path), flags, 0o666)
        if not file:
            # A name that no server allows is a file that cannot be there.
            raise Fault("not_found") if ctypes.get_errno() == errno.EINVAL else _fault()
        return LibsmbclientFile(self._context, file, self._calls)

    def _demand_folder(self, path: str) -> None:
        folder = self._calls["Opendir"](self._context, self._url(path))
        if not folder:
            raise _fault()
        self._calls["Closedir"](self._context, folder)

    def _url(self, path: str) -> bytes:
        return (self._root + quote(os.fsencode(path), safe="/")).encode()

    def _new_context(self) -> None:
        library = self._library
        self.close()
        library.smbc_new_context.restype = c_void_p
        library.smbc_init_context.restype, library.smbc_init_context.argtypes = c_void_p, (c_void_p,)
        self._context = library.smbc_new_context()
        if not self._context:
            raise Fault("other", "libsmbclient gave no context")
        self._set("smbc_setFunctionAuthDataWithContext", _AUTH, self._on_auth)
        self._set("smbc_setOptionNoAutoAnonymousLogin", c_int, int(self._logon.user is not None))
        self._set("smbc_setTimeout", c_int, int(self._logon.timeout_s * 1000))
        if not library.smbc_init_context(self._context):
            raise _fault()
        log = library.smbc_setLogCallback
        log.restype, log.argtypes = None, (c_void_p, c_void_p, _LOG)
        log(self._context, None, self._on_log)
        self._set("smbc_setDebug", c_int, _EVIDENCE_LEVEL)
        self._calls = {name: self._call(name, *types) for name, types in _CALLS.items()}

    def _set(self, setter: str, kind: Any, value: object) -> None:
        function = getattr(self._library, setter)
        function.restype, function.argtypes = None, (c_void_p, kind)
        function(self._context, value)

    def _call(self, name: str, result: Any, *arguments: Any) -> Any:
        getter = getattr(self._library, f"smbc_getFunction{name}")
        getter.restype, getter.argtypes = c_void_p, (c_void_p,)
        return CFUNCTYPE(result, c_void_p, *arguments, use_errno=True)(getter(self._context))

    def _authenticate(self, *given: Any) -> None:
        logon = self._logon
        values = (logon.domain, logon.user or "", logon.password or "")
        for value, (where, room) in zip(values, (given[3:5], given[5:7], given[7:9]), strict=True):
            if value is not None:  # without a domain the library's own stays
                raw = os.fsencode(value)[: room - 1] + b"\0"
                ctypes.memmove(where, raw, len(raw))

    def _identity(self, dialect: int | None) -> str:
        version = self._library.smbc_version
        version.restype, version.argtypes = c_char_p, ()
        name = f"libsmbclient {os.fsdecode(version())}"
        return ", ".join((*self._log.protection(dialect), name))


class LibsmbclientFile:
    """An open file."""

    def __init__(self, context: int | None, file: int, calls: dict[str, Any]) -> None:
        self._context = context
        self._file = file
        self._calls = calls

    def size(self) -> int:
        """Bytes, asked of the server. Fault."""
        size: int = self._calls["Lseek"](self._context, self._file, 0, os.SEEK_END)
        if size < 0:
            raise Fault("not_a_file") if ctypes.get_errno() == errno.EINVAL else _fault()
        return size

    def read(self, offset: int, into: memoryview) -> int:
        """How many bytes came; less than ``into`` holds only at the end of the file. Fault."""
        # Seeking to a known place is the library's own arithmetic: nothing is asked of the server.
        _demand(self._calls["Lseek"](self._context, self._file, offset, os.SEEK_SET))
        address = ctypes.addressof(ctypes.c_char.from_buffer(into)) if into.nbytes else 0
        got = 0
        while got < into.nbytes:
            more = self._calls["Read"](self._context, self._file, address + got, into.nbytes - got)
            _demand(more)
            if more == 0:
                break
            got += more
        return got

    def write(self, data: memoryview) -> None:
        """All of it, at the start. Fault."""
        address = ctypes.addressof(ctypes.c_char.from_buffer(data)) if data.nbytes else 0
        put = 0
        while put < data.nbytes:
            more = self._calls["Write"](self._context, self._file, address + put, data.nbytes - put)
            _demand(more)
            put += more

    def finish(self) -> None:
        """Close: the library has no call that asks the server to put data down. Fault."""
        self.close()

    def close(self) -> None:
        """Fault."""
        _demand(self._calls["Close"](self._context, self._file))


def _entry(info: _FileInfo, status: ctypes.Array[ctypes.c_char]) -> Entry:
    attributes = info.attrs
    linux = sys.platform == "linux" and ctypes.sizeof(c_void_p) == 8
    inode = c_uint64.from_buffer(status, _INODE_OFFSET).value if linux else 0
    folder, link = bool(attributes & _ATTRIBUTE_FOLDER), bool(attributes & _ATTRIBUTE_REPARSE)
    return Entry(os.fsdecode(info.name), info.size, folder, link, inode)


def _demand(result: int) -> None:
    if result < 0:
        raise _fault()


def _fault() -> Fault:
    number = ctypes.get_errno()
    return Fault(_KINDS.get(number, "other"), os.strerror(number))
