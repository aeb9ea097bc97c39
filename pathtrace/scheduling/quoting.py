"""Words spelled so that systemd, or cron and then sh, give back exactly what was meant.

Whatever a path holds: blanks, quotes, per cent signs, dollars, backslashes, line ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from pathtrace.errors import UsageError
from pathtrace.model.schedule import Job

LONGEST_COMMAND = 998
"""Bytes. Debian's cron ignores the whole crontab if one command is longer."""

_PLAIN = re.compile(r"[A-Za-z0-9@+=:,./_-]+")
_CONTROL = re.compile("[\x01-\x1f\x7f]")
_UNSAFE_PROGRAM = re.compile("[\x01-\x1f\x7f\"'\\\\]")
_PIECES = re.compile("[\x01-\x1f\x7f]|'+|\\\\|[^\x01-\x1f\x7f'\\\\]+")


def require_utf8(text: str, what: str) -> None:
    """UsageError if it is not text: units and JSON are UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UsageError(f"the {what} has a name that is not UTF-8: {text!r}", hint="rename it") from error


def systemd_word(text: str) -> str:
    """One word of ExecStart or Environment. The command must begin with ``:``, which leaves ``$`` alone."""
    text = text.replace("%", "%%")
    if _PLAIN.fullmatch(text.replace("%%", "")):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + _CONTROL.sub(lambda sign: f"\\x{ord(sign[0]):02x}", escaped) + '"'


def started(words: tuple[str, ...]) -> tuple[str, ...]:
    """Words that systemd can start: a program whose name it finds unsafe is started by sh."""
    return ("/bin/sh", "-c", 'exec "$@"', "sh", *words) if _UNSAFE_PROGRAM.search(words[0]) else words


def systemd_path(text: str, key: str) -> str:
    """A path that stands alone behind ``key``, where systemd knows no quotes."""
    if _CONTROL.search(text) or text != text.strip() or text.endswith("\\"):
        raise UsageError(f"systemd cannot hold {text!r} as {key}", hint="rename it, or use --cron")
    return text.replace("%", "%%")


def cron_command(job: Job, words: Iterable[str]) -> str:
    """What stands behind the times in a line of cron. UsageError if cron would not take it.

    cron makes a line end of ``%`` and ``\\%`` a ``%``. Some crons take two backslashes for one, so none stand
    together.
    """
    words = tuple(words)
    setting = f"PATH={_shell_word(job.path)}"
    said = " ".join(map(_shell_word, words))
    named = "".join(map(_named, sorted({*_CONTROL.findall("".join((job.folder, job.path, *words)))})))
    command = f"{named}cd {_shell_word(job.folder)} && {setting} {said} >/dev/null"
    length = len(command.encode())
    if length > LONGEST_COMMAND:
        raise UsageError(
            f"the line for cron would have {length} bytes, and cron takes {LONGEST_COMMAND}",
            hint=f"PATH takes {len(setting.encode())} of them: type PATH=/usr/bin:/bin before the command",
        )
    return command


def _shell_word(text: str) -> str:
    if _PLAIN.fullmatch(text):
        return text
    return "".join(map(_shell_piece, _PIECES.findall(text))) or "''"


def _shell_piece(piece: str) -> str:
    if _CONTROL.fullmatch(piece):
        return f'"${_variable(piece)}"'
    if piece[0] == "'":
        return f'"{piece}"'
    return "'" + piece.replace("%", "\\%") + "'"


def _named(sign: str) -> str:
    """A variable that holds one control sign; the full stop keeps sh from dropping a line end."""
    name = _variable(sign)
    return f"{name}=$(printf '\\{ord(sign):03o}.'); {name}=${{{name}\\%.}}; "


def _variable(sign: str) -> str:
    return f"c{ord(sign):03o}"
