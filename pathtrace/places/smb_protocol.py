"""SMB through smbprotocol, the library in pure Python: where there is no libsmbclient.

Signing is on only if the server demands it, as with Samba's client. Imports the library on construction.
"""

from __future__ import annotations

import importlib.metadata
import socket
import uuid
from typing import Any

from pathtrace.places.smb_negotiate import DIALECTS
from pathtrace.places.smb_protocol_faults import foreign_errors
from pathtrace.places.smb_session import Entry, Facts, Fault, Logon

_PORT = 445
_READ_DATA = 0x00120089
"""FILE_GENERIC_READ."""
_WRITE_DATA = 0x00120116
"""FILE_GENERIC_WRITE."""
_LOOK = 0x00100080
"""FILE_READ_ATTRIBUTES and SYNCHRONIZE."""
_DELETE = 0x00110080
_LIST = 0x00100081
_SHARE_ALL = 7
_OPEN, _CREATE, _OVERWRITE_IF = 1, 2, 5
_FOLDER, _NO_FOLDER, _DELETE_ON_CLOSE = 0x1, 0x40, 0x1000
_ATTRIBUTE_FOLDER, _ATTRIBUTE_REPARSE = 0x10, 0x400
_CREDIT_BYTES = 1 << 16
_CREDITS = 256
"""How many we would like to have in hand: reads of 8 MiB, and a few more."""
_SIGNING = {0: "HMAC-SHA256", 1: "AES-CMAC", 2: "AES-GMAC"}
_CIPHERS = {1: "AES-128-CCM", 2: "AES-128-GCM", 3: "AES-256-CCM", 4: "AES-256-GCM"}


class SmbprotocolSession:
    """A connection, a session and a tree of the library. ImportError if it is not installed."""

    def __init__(self, logon: Logon) -> None:
        import smbprotocol.connection  # noqa: F401  # to fail here, not later

        self._logon = logon
        self._connection: Any = None
        self._session: Any = None
        self._tree: Any = None

    def connect(self, path: str) -> Facts:
        """Connect, log on, and look at ``path``. Fault."""
        from smbprotocol.connection import Connection
        from smbprotocol.session import Session
        from smbprotocol.tree import TreeConnect

        self.close()
        logon = self._logon
        with foreign_errors("connecting"):
            port = logon.port or _PORT
            self._connection = Connection(uuid.uuid4(), logon.host, port, require_signing=False)
            offered = self._connection.client_security_mode
            self._connection.connect(timeout=logon.timeout_s)
            # The library changes this if the server demands signing, and would then vouch before it
            # (up to 3.0.2) for something that it has not offered; the server hangs up upon that.
            self._connection.client_security_mode = offered
            user = "guest" if logon.user is None else logon.user
            user = f"{logon.domain}\\{user}" if logon.domain else user
            password = logon.password or ""
            self._session = Session(self._connection, user, password, require_encryption=False)
            self._session.connect()
            self._tree = TreeConnect(self._session, rf"\\{logon.host}\{logon.share}")
            self._connect_tree()
        self.size(path)
        return self._facts()

    def size(self, path: str) -> int | None:
        """Of a file; None if it is a folder. Fault."""
        with foreign_errors("looking"):
            opened = self._create(path, _LOOK, _OPEN, 0)
            opened.close()
        folder = int(opened.file_attributes) & _ATTRIBUTE_FOLDER
        return None if folder else int(opened.end_of_file)

    def entries(self, path: str) -> list[Entry]:
        """Of a folder, without ``.`` and ``..``. Fault."""
        from smbprotocol.exceptions import NoMoreFiles
        from smbprotocol.file_info import FileInformationClass

        found: list[Entry] = []
        kind = FileInformationClass.FILE_ID_FULL_DIRECTORY_INFORMATION
        with foreign_errors("listing"):
            opened = self._create(path, _LIST, _OPEN, _FOLDER)
            try:
                while True:
                    found += map(_entry, opened.query_directory("*", kind, flags=0))
            except NoMoreFiles:
                pass
            finally:
                opened.close()
        return [entry for entry in found if entry.name not in (".", "..")]

    def open(self, path: str) -> SmbprotocolFile:
        """For reading. Fault."""
        with foreign_errors("opening"):
            return SmbprotocolFile(self._create(path, _READ_DATA, _OPEN, _NO_FOLDER))

    def create(self, path: str) -> SmbprotocolFile:
        """For writing, empty. Fault."""
        with foreign_errors("creating"):
            return SmbprotocolFile(self._create(path, _WRITE_DATA, _OVERWRITE_IF, _NO_FOLDER))

    def make_folder(self, path: str) -> None:
        """Fault."""
        with foreign_errors("making a folder"):
            self._create(path, _LOOK, _CREATE, _FOLDER).close()

    def remove_file(self, path: str) -> None:
        """Fault."""
        with foreign_errors("removing"):
            self._create(path, _DELETE, _OPEN, _NO_FOLDER | _DELETE_ON_CLOSE).close()

    def remove_empty_folder(self, path: str) -> None:
        """Fault."""
        with foreign_errors("removing"):
            self._create(path, _DELETE, _OPEN, _FOLDER | _DELETE_ON_CLOSE).close()

    def close(self) -> None:
        """Say good-bye, waiting two seconds at most. Never raises."""
        connection, self._connection = self._connection, None
        if connection is not None:
            try:
                with foreign_errors("closing"):
                    connection.disconnect(timeout=2)
            except Fault:
                return

    def _connect_tree(self) -> None:
        """In 3.1.1 this one message has to be signed, even where nothing else is."""
        session = self._session
        demanded = session.signing_required
        session.signing_required = bool(session.signing_key) and not session.encrypt_data
        try:
            self._tree.connect(require_secure_negotiate=bool(session.signing_key))
        finally:
            session.signing_required = demanded

    def _create(self, path: str, access: int, disposition: int, options: int) -> Any:
        from smbprotocol.open import ImpersonationLevel, Open

        opened = Open(self._tree, path.replace("/", "\\"))
        opened.create(ImpersonationLevel.Impersonation, access, 0, _SHARE_ALL, disposition, options)
        return opened

    def _facts(self) -> Facts:
        connection, session = self._connection, self._session
        dialect = DIALECTS.get(connection.dialect, hex(connection.dialect))
        parts = [f"SMB {dialect}"]
        if session.encrypt_data or self._tree.encrypt_data:
            parts.append(f"encrypted {_cipher(connection)}")
        else:
            algorithm = _signing(connection)
            parts += [f"signed {algorithm}" if session.signing_required else "not signed", "not encrypted"]
        parts.append(f"smbprotocol {importlib.metadata.version('smbprotocol')}")
        endpoint: socket.socket = connection.transport._sock
        address, port = endpoint.getpeername()[:2]
        return Facts(", ".join(parts), str(address), int(port))


class SmbprotocolFile:
    """An open file."""

    def __init__(self, opened: Any) -> None:
        self._opened = opened
        self._connection = opened.connection

    def size(self) -> int:
        """Bytes, as the server said when it opened the file."""
        return int(self._opened.end_of_file)

    def read(self, offset: int, into: memoryview) -> int:
        """How many bytes came; less than ``into`` holds only at the end of the file. Fault."""
        from smbprotocol.exceptions import EndOfFile

        got = 0
        with foreign_errors("reading"):
            try:
                while got < into.nbytes:
                    data = self._read(offset + got, into.nbytes - got)
                    into[got : got + len(data)] = data
                    got += len(data)
            except EndOfFile:
                pass
        return got

    def write(self, data: memoryview) -> None:
        """All of it, at the start. Fault."""
        put = 0
        with foreign_errors("writing"):
            while put < data.nbytes:
                length = self._within(data.nbytes - put, self._connection.max_write_size)
                piece = bytes(data[put : put + length])
                message, unpack = self._opened.write(piece, put, send=False)
                put += unpack(self._send(message, length))

    def finish(self) -> None:
        """Have the server put down what was written, and close. Fault."""
        with foreign_errors("flushing"):
            self._opened.flush()
            self._opened.close()

    def close(self) -> None:
        """Fault."""
        with foreign_errors("closing"):
            self._opened.close()

    def _read(self, offset: int, wanted: int) -> bytes:
        length = self._within(wanted, self._connection.max_read_size)
        message, unpack = self._opened.read(offset, length, send=False)
        data: bytes = unpack(self._send(message, length))
        return data

    def _within(self, wanted: int, largest: int) -> int:
        """What one message may carry: as much as the server takes and as we have credits for."""
        return min(wanted, largest, max(1, self._credits()) * _CREDIT_BYTES)

    def _credits(self) -> int:
        window = self._connection.sequence_window
        return int(window["high"] - window["low"])

    def _send(self, message: Any, length: int) -> Any:
        tree = self._opened.tree_connect
        charge = -(-length // _CREDIT_BYTES)
        ask = charge + max(0, _CREDITS - self._credits())
        return self._connection.send(
            message, tree.session.session_id, tree.tree_connect_id, credit_request=ask
        )


def _entry(found: Any) -> Entry:
    attributes = found["file_attributes"].get_value()
    name = found["file_name"].get_value().decode("utf-16-le", "surrogatepass")
    folder, link = bool(attributes & _ATTRIBUTE_FOLDER), bool(attributes & _ATTRIBUTE_REPARSE)
    return Entry(name, found["end_of_file"].get_value(), folder, link, found["file_id"].get_value())


def _signing(connection: Any) -> str:
    if connection.dialect < 0x0300:
        return _SIGNING[0]
    chosen = connection.signing_algorithm_id
    return _SIGNING[1] if chosen is None else _SIGNING.get(chosen, "unknown")


def _cipher(connection: Any) -> str:
    return _CIPHERS[1] if connection.dialect < 0x0311 else _CIPHERS.get(connection.cipher_id, "unknown")
