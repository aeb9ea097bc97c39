from __future__ import annotations

import pytest

from pathtrace.places.smb_samba_log import Log
from pathtrace.places.smb_session import Fault

CONNECTED = (
    b"Connecting to 127.0.0.1 at port 445\n",
    b" session setup ok\n",
    b"signed SMB2 message (sign_algo_id=2)\n",
    b"signed SMB2 message (sign_algo_id=2)\n",
    b" tconx ok\n",
    b"Server connect ok: //127.0.0.1/share: 0x5612010d9650\n",
)


def log(*lines: bytes) -> Log:
    made = Log()
    for line in lines:
        made.write(line)
    return made


@pytest.mark.parametrize(
    ("after", "dialect", "words"),
    [
        ((), 0x0311, ["SMB 3.1.1 (by a negotiation of its own)", "not signed", "not encrypted"]),
        (
            (b"signed SMB2 message (sign_algo_id=2)",),
            0x0311,
            ["SMB 3.1.1 (by a negotiation of its own)", "signed AES-GMAC", "not encrypted"],
        ),
        (
            (b"smb2_signing_encrypt_pdu: Encrypted SMB2 message",),
            0x0311,
            ["SMB 3.1.1 (by a negotiation of its own)", "encrypted"],
        ),
        (
            (b"signed SMB2 message (sign_algo_id=2)",),
            0x0302,
            ["SMB of unknown dialect", "signed AES-GMAC", "not encrypted"],
        ),
        ((), None, ["SMB of unknown dialect", "not signed", "not encrypted"]),
    ],
)
def test_only_messages_after_the_share_was_reached_say_how_it_is_protected(
    after: tuple[bytes, ...], dialect: int | None, words: list[str]
) -> None:
    assert list(log(*CONNECTED, *after).protection(dialect)) == words


@pytest.mark.parametrize(
    ("lines", "kind", "told"),
    [
        ((b"SPNEGO login failed: The attempted logon is invalid.",), "denied", "logon"),
        (
            (b"resolve_hosts: getaddrinfo failed for name nas [Name or service not known]",),
            "other",
            "unknown_host",
        ),
        (CONNECTED[:2], "not_found", "no_share"),
        (CONNECTED, "not_found", "not_found"),
        (CONNECTED[:2], "denied", "denied"),
        ((), "refused", "refused"),
    ],
)
def test_a_failure_is_told_apart_by_how_far_the_connection_came(
    lines: tuple[bytes, ...], kind: str, told: str
) -> None:
    assert log(*lines).explained(Fault(kind)).kind == told  # type: ignore[arg-type]


def test_what_was_cleared_says_nothing() -> None:
    full = log(b"SPNEGO login failed: no")
    full.clear()
    assert full.explained(Fault("denied")).kind == "denied"
