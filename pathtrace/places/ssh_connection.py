"""Opens SSH connections as the user's own client would, and runs commands over them.

Credentials in this order: the password that the caller has (then nothing else is tried), keys of the agent,
keys that ``~/.ssh/config`` names or the usual ones, at last a password in the keyring (service
``pathtrace``, user ``user@host``). ``~/.ssh/config`` also knows aliases, ports, users, jump hosts and
where known host keys stand. An unknown or changed host key is refused, always.

Knows SSH and asyncssh's errors; what the connection is for is left to others.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import asyncssh

from pathtrace.errors import OperationError, PlaceError
from pathtrace.model.network import Endpoint

CONNECT_S = 20.0
"""How long connecting and logging in may take together."""
_KEEPALIVE_S = 10
"""Three of these unanswered, and the connection is taken for lost: else a cable that was pulled would
cost each later operation its whole time limit."""
_CLOSE_S = 2.0
_SHOWN = 60
_SERVICE = "pathtrace"
_USUAL_PORT = 22


@dataclass(frozen=True, slots=True)
class Login:
    """Whom to connect to. None: as ``~/.ssh/config`` says, or the usual."""

    host: str
    port: int | None = None
    user: str | None = None
    password: str | None = field(default=None, repr=False)


def login_of(address: str) -> Login:
    """``user@host:port``, each but the host optional; IPv6 in brackets if there is a port; an alias."""
    user, _, place = address.removeprefix("ssh://").rstrip("/").rpartition("@")
    host, colon, port = place.rpartition(":")
    if place.startswith("[") and place.endswith("]"):
        return Login(place[1:-1], None, user or None)
    if colon and port.isdecimal() and (":" not in host or host.startswith("[")):
        return Login(host.strip("[]"), int(port), user or None)
    return Login(place, None, user or None)


async def connect(login: Login) -> asyncssh.SSHClientConnection:
    """An open connection, logged in. PlaceError, with what to do."""
    try:
        async with asyncio.timeout(CONNECT_S):
            return await _connect(login)
    except TimeoutError as error:
        raise PlaceError(
            f"{login.host} does not answer on port {login.port or 'of SSH'} within {CONNECT_S:g} s",
            hint="is it switched on, and does a firewall let SSH through?",
        ) from error


async def _connect(login: Login) -> asyncssh.SSHClientConnection:
    try:
        settings = await _settings(login)
    except (ValueError, OSError, asyncssh.Error) as error:
        raise PlaceError(
            f"the settings for {login.host} in ~/.ssh/config cannot be used: {error}",
            hint=f"`ssh {login.host}` should say the same",
        ) from error
    caller = _Caller(settings)
    try:
        return await asyncssh.connect(
            login.host,
            options=settings,
            client_factory=lambda: caller,
            keepalive_interval=_KEEPALIVE_S,
            **_credentials(login, settings),
        )
    except (OSError, UnicodeError) as error:
        raise _unreachable(login, settings, error) from error
    except (ValueError, asyncssh.Error, asyncssh.PasswordChangeRequired) as error:
        raise _refusal(login, settings, caller, error) from error


async def _settings(login: Login) -> asyncssh.SSHClientConnectionOptions:
    """What ``~/.ssh/config`` makes of the login; no keys are read, nobody is asked."""
    # config must be said: without it newer versions look at no configuration at all.
    given: dict[str, object] = {"config": (), "client_keys": None, "agent_path": None}
    if login.port is not None:
        given["port"] = login.port
    if login.user is not None:
        given["username"] = login.user
    options = asyncssh.SSHClientConnectionOptions
    found: asyncssh.SSHClientConnectionOptions
    found = await options.construct(host=login.host, **given)
    # "UserKnownHostsFile none" would let asyncssh trust whoever answers.
    given["known_hosts"] = b"" if found.known_hosts is None else found.known_hosts or _usual_known_hosts()
    found = await options.construct(host=login.host, **given)
    return found


def _usual_known_hosts() -> list[str]:
    found = (Path("~/.ssh/known_hosts").expanduser(), Path("/etc/ssh/ssh_known_hosts"))
    return [str(path) for path in found if path.is_file()]


def _credentials(login: Login, settings: asyncssh.SSHClientConnectionOptions) -> dict[str, object]:
    if login.password is not None:
        return {"password": login.password, "preferred_auth": "password,keyboard-interactive"}

    async def kept() -> str | None:
        return await asyncio.to_thread(_from_keyring, f"{settings.username}@{login.host}")

    # (): asyncssh's sign for "as the configuration says"; the settings were made without.
    return {"client_keys": (), "agent_path": (), "password": kept}


def _from_keyring(name: str) -> str | None:
    try:
        import keyring
        import keyring.errors
    except ImportError:
        return None
    try:
        kept: str | None = keyring.get_password(_SERVICE, name)
    except keyring.errors.KeyringError:
        return None
    return kept


class _Caller(asyncssh.SSHClient):
    """Refuses host keys that are not known, and remembers them for the message."""

    def __init__(self, settings: asyncssh.SSHClientConnectionOptions) -> None:
        self._settings = settings
        self.refused: str | None = None
        self.changed = False

    def validate_host_public_key(self, host: str, addr: str, port: int, key: asyncssh.SSHKey) -> bool:
        self.refused = key.get_fingerprint()
        files = self._settings.known_hosts
        with contextlib.suppress(ValueError, OSError):
            self.changed = bool(files and asyncssh.match_known_hosts(files, host, addr, port)[0])
        return False


def _unreachable(
    login: Login, settings: asyncssh.SSHClientConnectionOptions, error: OSError | UnicodeError
) -> PlaceError:
    named = str(settings.host or login.host)
    where = f"{named} port {settings.port or _USUAL_PORT}"
    if isinstance(error, socket.gaierror | UnicodeError):
        return PlaceError(
            f"no host is known by the name {named}",
            hint="check the name, or give its address; an alias must stand in ~/.ssh/config",
        )
    # Of several addresses, asyncio tells the failures in the text only.
    refused = isinstance(error, ConnectionRefusedError) or f"[Errno {errno.ECONNREFUSED}]" in str(error)
    if refused:
        return PlaceError(
            f"{where} refuses connections", hint="is SSH switched on there, and does it listen on this port?"
        )
    why = error.strerror or error
    return PlaceError(f"{where} cannot be reached: {why}", hint="check the cable, the route, the firewall")


def _refusal(
    login: Login,
    settings: asyncssh.SSHClientConnectionOptions,
    caller: _Caller,
    error: Exception,
) -> PlaceError:
    host, user = login.host, settings.username
    if caller.refused is not None or isinstance(error, asyncssh.HostKeyNotVerifiable):
        return _unknown_key(login, settings, caller)
    if isinstance(error, asyncssh.PasswordChangeRequired):
        return PlaceError(f"{host} wants user {user} to change the password", hint=f"ssh {user}@{host}")
    if isinstance(error, asyncssh.PermissionDenied):
        return _denied(login, str(user))
    if isinstance(error, asyncssh.KeyExchangeFailed):
        return PlaceError(
            f"{host} and pathtrace have no way of encrypting in common, or its host key has changed its "
            f"kind: {error.reason}",
            hint=f"connect once with `ssh {_as_typed(login, settings)}`, which shows more",
        )
    why = error.reason if isinstance(error, asyncssh.DisconnectError) else str(error)
    return PlaceError(
        f"{host} ended the connection before it was open: {why}",
        hint=f"does `ssh {_as_typed(login, settings)}` work?",
    )


def _unknown_key(login: Login, settings: asyncssh.SSHClientConnectionOptions, caller: _Caller) -> PlaceError:
    typed = _as_typed(login, settings)
    key = f" ({caller.refused})" if caller.refused else ""
    if caller.changed:
        return PlaceError(
            f"the host key of {login.host} is another one than is known here{key}: it may be an impostor",
            hint=f"if it was set up anew: ssh-keygen -R the host, then connect once with `ssh {typed}`",
        )
    return PlaceError(
        f"the host key of {login.host} is not known here{key}",
        hint=f"connect once with `ssh {typed}`, compare the key, and run again",
    )


def _denied(login: Login, user: str) -> PlaceError:
    if login.password is not None:
        return PlaceError(
            f"{login.host} does not accept this password for user {user}",
            hint="check the user and the password in the URL, or the variable that it comes from",
        )
    return PlaceError(
        f"{login.host} does not let user {user} in: no key of the agent or of ~/.ssh was accepted, "
        "nor a password from the keyring",
        hint=f"make `ssh {user}@{login.host}` work without a question, or put the password into the "
        f"keyring: keyring set {_SERVICE} {user}@{login.host}",
    )


def _as_typed(login: Login, settings: asyncssh.SSHClientConnectionOptions) -> str:
    port = f"-p {login.port} " if login.port not in (None, _USUAL_PORT) else ""
    return f"{port}{settings.username}@{login.host}"


def endpoint_of(connection: asyncssh.SSHClientConnection, host: str) -> Endpoint | None:
    """Where it is connected to; None if it goes through a program or another host."""
    peer = connection.get_extra_info("peername")
    return Endpoint(host, str(peer[0]), int(peer[1])) if isinstance(peer, tuple) else None


def software_of(connection: asyncssh.SSHClientConnection) -> str:
    """Cipher and both ends' software: ``aes256-gcm@openssh.com, OpenSSH_9.2p1, asyncssh 2.24.1``."""
    cipher = connection.get_extra_info("recv_cipher") or "cipher unknown"
    named = str(connection.get_extra_info("server_version") or "")
    server = named.removeprefix("SSH-2.0-").partition(" ")[0] or "server unknown"
    return f"{cipher}, {server}, asyncssh {asyncssh.__version__}"


async def hang_up(connection: asyncssh.SSHClientConnection) -> None:
    """Close it; one that does not answer any more is cut off."""
    connection.close()
    try:
        async with asyncio.timeout(_CLOSE_S):
            await connection.wait_closed()
    except TimeoutError:
        connection.abort()


class SshShell:
    """``ports.Shell`` over one connection."""

    def __init__(self, connection: asyncssh.SSHClientConnection, host: str) -> None:
        self._connection = connection
        self._host = host

    @property
    def endpoint(self) -> Endpoint | None:
        return endpoint_of(self._connection, self._host)

    async def run(self, command: str, timeout_s: float) -> str:
        """Standard output of a shell command. OperationError: it failed, or took too long."""
        try:
            async with asyncio.timeout(timeout_s), self._started(command) as process:
                output, complaint = await process.communicate()
                await process.wait_closed()
        except TimeoutError as error:
            raise OperationError(f"{self._named(command)} took more than {timeout_s:g} s") from error
        self._hold_to_success(command, process, str(complaint))
        return str(output)

    async def lines(self, command: str) -> AsyncIterator[str]:
        """Lines as a command writes them, until it ends or the iterator is closed. OperationError."""
        async with self._started(command) as process:
            async for line in process.stdout:
                if line:  # older asyncssh ends with an empty one
                    yield str(line).rstrip("\n")
            complaint = await process.stderr.read()
            await process.wait_closed()
        self._hold_to_success(command, process, str(complaint))

    async def close(self) -> None:
        """Never raises for what is already gone."""
        await hang_up(self._connection)

    @contextlib.asynccontextmanager
    async def _started(self, command: str) -> AsyncIterator[asyncssh.SSHClientProcess[str]]:
        """A running command, which is ended if it has not ended by itself."""
        process: asyncssh.SSHClientProcess[str] | None = None
        try:
            process = await self._connection.create_process(command, stdin=asyncssh.DEVNULL, errors="replace")
            yield process
        except TimeoutError:
            raise
        except (OSError, asyncssh.Error) as error:
            why = getattr(error, "reason", None) or error
            raise OperationError(f"{self._named(command)} could not be run: {why}") from error
        finally:
            if process is not None:
                # Servers that pass no signals on end it at the next line that it cannot write.
                with contextlib.suppress(OSError, asyncssh.Error):
                    process.terminate()
                process.close()

    def _hold_to_success(self, command: str, process: asyncssh.SSHClientProcess[str], complaint: str) -> None:
        status = process.returncode
        if status == 0:
            return
        said = complaint.strip().splitlines()
        why = f": {said[-1][:200]}" if said else ""
        ended = "was cut off" if status is None else f"ended with status {status}"
        raise OperationError(f"{self._named(command)} {ended}{why}")

    def _named(self, command: str) -> str:
        short = command if len(command) <= _SHOWN else f"{command[: _SHOWN - 1]}…"
        return f"{self._host}: `{short}`"


async def open_shell(address: str) -> SshShell:
    """Commands on ``user@host[:port]``, or on what ``~/.ssh/config`` calls so. PlaceError."""
    login = login_of(address)
    return SshShell(await connect(login), login.host)
