"""Reads a file of environment variables as systemd's EnvironmentFile does, so that it holds for cron too.

Values are secrets: no message shows one.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from pathtrace.errors import UsageError

_LARGEST = 64 * 1024
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ESCAPED_IN_DOUBLE_QUOTES = '"\\`$'
_UNFIT = re.compile(r"[\x01-\x1f\x7f*?\[\]\\]|^\s|\s$")


def read_env_file(path: Path) -> dict[str, str]:
    """Names and values. UsageError with the line if it cannot be read or systemd would read another thing."""
    try:
        with path.open("rb") as file:
            text = file.read(_LARGEST).decode()
    except OSError as error:
        raise UsageError(f"cannot read the file of variables: {error.strerror}", where=str(path)) from error
    except UnicodeDecodeError as error:
        raise UsageError("the file of variables is not UTF-8", where=str(path)) from error
    found: dict[str, str] = {}
    for number, line in enumerate(text.split("\n"), 1):
        where = f"{path}:{number}"
        if line.strip() and line.strip()[0] not in "#;":
            name, value = _assignment(line.strip(), where)
            found[name] = value
    return found


def require_fit(path: str) -> None:
    """UsageError for names that systemd would take for a pattern or cut short."""
    if _UNFIT.search(path):
        raise UsageError(f"{path!r} cannot be named as a file of variables", hint="give it a plain name")


def open_to_others(path: Path) -> bool:
    """Whether others than its owner may read it."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return os.name == "posix" and bool(mode & (stat.S_IRGRP | stat.S_IROTH))


def _assignment(line: str, where: str) -> tuple[str, str]:
    name, sign, value = line.partition("=")
    name = name.strip()
    if not sign or not _NAME.fullmatch(name):
        raise UsageError(
            "not NAME=value" + (": leave out 'export'" if name.startswith("export") else ""), where=where
        )
    return name, _value(value.strip(), where)


def _value(text: str, where: str) -> str:
    quote = text[:1]
    if quote not in ("'", '"'):
        return _unescaped(text, where)
    end = _closing(text, quote)
    if end is None or text[end + 1 :].strip():
        raise UsageError("the quotes do not close at the end of the line", where=where)
    inner = text[1:end]
    return inner if quote == "'" else _in_double_quotes(inner)


def _closing(text: str, quote: str) -> int | None:
    position = 1
    while position < len(text):
        if text[position] == quote:
            return position
        position += 2 if quote == '"' and text[position] == "\\" else 1
    return None


def _unescaped(text: str, where: str) -> str:
    if re.search(r"(?<!\\)(\\\\)*\\$", text):
        raise UsageError("a value goes on in the next line, which is not read here", where=where)
    return re.sub(r"\\(.)", r"\1", text)


def _in_double_quotes(text: str) -> str:
    def plain(match: re.Match[str]) -> str:
        return match[1] if match[1] in _ESCAPED_IN_DOUBLE_QUOTES else match[0]

    return re.sub(r"\\(.)", plain, text)
