"""Maps what smbprotocol raises, and the NT status codes of servers, to kinds of ``Fault``."""

from __future__ import annotations

import contextlib
import errno
import socket
from collections.abc import Iterator

from pathtrace.places.smb_session import Fault, Kind

STATUS: dict[int, Kind] = {
    0xC000006D: "logon",
    0xC000006E: "logon",
    0xC0000064: "logon",
    0xC000006A: "logon",
    0xC0000071: "logon",
    0xC0000072: "logon",
    0xC0000193: "logon",
    0xC0000224: "logon",
    0xC0000234: "logon",
    0xC00000CC: "no_share",
    0xC0000022: "denied",
    0xC0000034: "not_found",
    0xC000003A: "not_found",
    0xC0000033: "not_found",
    0xC000000F: "not_found",
    0xC00000BA: "not_a_file",
    0xC0000043: "in_use",
    0xC000007F: "no_space",
    0xC0000044: "no_space",
    0xC00000B5: "timed_out",
    0xC00000C9: "lost",
    0xC0000203: "lost",
    0xC000020C: "lost",
    0xC000020D: "lost",
    0xC0000128: "lost",
    0xC000035C: "lost",
}
"""[MS-ERREF] 2.3.1."""
_UNREACHABLE = (errno.EHOSTUNREACH, errno.ENETUNREACH, errno.EHOSTDOWN, errno.ENETDOWN)


@contextlib.contextmanager
def foreign_errors(doing: str) -> Iterator[None]:
    """Whatever the library raises inside becomes a Fault."""
    from smbprotocol.exceptions import SMBAuthenticationError, SMBConnectionClosed, SMBException
    from smbprotocol.exceptions import SMBResponseException as Refusal

    try:
        yield
    except Refusal as error:
        raise Fault(STATUS.get(error.status, "other"), f"{doing}: status {error.status:#010x}") from None
    except SMBAuthenticationError:
        # Its text may name what was tried, so it is not passed on.
        raise Fault("logon", "no way of logging on that both sides know succeeded") from None
    except SMBConnectionClosed:
        raise Fault("lost", "the server closed the connection") from None
    except SMBException as error:
        raise Fault("other", f"{doing}: {error}") from None
    except (OSError, ValueError) as error:
        raise _of_the_system(error.__cause__ or error, doing) from None


def _of_the_system(error: BaseException, doing: str) -> Fault:
    """The library wraps errors of connecting in ValueError."""
    if isinstance(error, socket.gaierror):
        return Fault("unknown_host")
    if isinstance(error, ConnectionRefusedError):
        return Fault("refused")
    if isinstance(error, TimeoutError):
        return Fault("timed_out")
    if isinstance(error, OSError) and error.errno in _UNREACHABLE:
        return Fault("unreachable", error.strerror or "")
    if isinstance(error, OSError):
        return Fault("lost", error.strerror or str(error))
    return Fault("other", f"{doing}: {error}")
