"""Readers of single values: what a person wrote becomes a value, or a fault that says what is allowed.

One reader per type, so that every fault about a value has the same shape: a ``pathtrace`` error of
pydantic with ``message`` and ``hint``. Which key is read how is told by ``values`` and ``document``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import StrEnum
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any, TypeVar
from urllib.parse import urlsplit

from pydantic_core import PydanticCustomError

from pathtrace import units
from pathtrace.errors import UsageError
from pathtrace.model.scenario import Frequency, FrequencyKind
from pathtrace.scenario.faults import allowed, nearest, shown
from pathtrace.scenario.tree import Plain

Choice = TypeVar("Choice", bound=StrEnum)

_NAME = r"\w[\w.-]{0,63}"
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_WHOLE = re.compile(r"-?[0-9]{1,18}")
_WRITTEN_PORT = re.compile(r"(?:[^/?#@]*@)?(?:\[[^/\]]*\]|[^/?#@:]*):([0-9]{1,18})(?=[/?#]|$)(?!.*@)")
"""Of a URL after its scheme. Not where an @ comes later: a / in a password then broke it."""
_LEAST_KEPT_S = 86_400.0
_TELL_URL = r"[A-Za-z0-9][A-Za-z0-9+._-]*://\S+"
_FREQUENCIES = ("once", "per-load", "per-document", "per-request", "every <duration>")


def wrong(message: str, hint: str | None = None) -> PydanticCustomError:
    """A fault about one value, as pydantic carries it to whoever knows the lines."""
    return PydanticCustomError("pathtrace", "{message}", {"message": message, "hint": hint})


def read_text(value: object) -> str:
    if isinstance(value, bool):
        raise wrong(f"{str(value).lower()} is no text here", "put it in quotes")
    if not isinstance(value, str):
        raise wrong(_kind_of(value, "text"), "write one text, in quotes if it holds : [ or {")
    if not value.strip():
        raise wrong("the text is empty", "give a value, or remove the key")
    if _UNPRINTABLE.search(value):
        raise wrong("the text holds a control character", "remove it")
    return str(value)


def read_name(value: object) -> str:
    text = read_text(value)
    if not re.fullmatch(_NAME, text):
        raise wrong(f"{shown(text)} is not a name", "letters, digits, _ . and -, at most 64, no spaces")
    return text


def read_whole(value: object, least: int, most: int) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        number = value
    elif isinstance(value, str) and _WHOLE.fullmatch(value):
        number = int(value)
    else:
        raise wrong(_not(value, "whole number"), f"allowed: {least} to {most}")
    if not least <= number <= most:
        raise wrong(
            f"{number} is too {'small' if number < least else 'large'}", f"allowed: {least} to {most}"
        )
    return number


def read_sample(value: object) -> int | None:
    """How many files; ``all`` is None."""
    return None if value == "all" else read_whole(value, 1, 1_000_000)


def read_flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise wrong(_not(value, "yes-or-no value"), "allowed: true, false")
    return value


def read_quantity(value: object, parse: Callable[[Any], float], least: float = 0) -> float:
    if value is None or isinstance(value, (list, dict)):
        raise wrong(_kind_of(value, "one value"), "write one number with its unit")
    try:
        number = parse(value)
    except UsageError as error:
        raise wrong(error.message, error.hint) from error
    if number < least or (least == 0 and number == 0 and parse is not read_count_per_day):
        raise wrong(f"{shown(value)} is too small", "it must be more than nothing")
    return number


def read_count_per_day(value: object) -> float:
    try:
        return units.parse_count(value)  # type: ignore[arg-type]  # refuses what is no number itself
    except UsageError as error:
        raise UsageError(error.message, hint="write a plain number of times a day") from error


def read_choice(value: object, choices: type[Choice]) -> Choice:
    if isinstance(value, str) and value in list(choices):
        return choices(value)
    raise wrong(f"{shown(value)} is not known here", allowed(list(choices), str(value)))


def read_listed(value: object) -> object:
    """One value where a list is wanted is a list of one."""
    return value if isinstance(value, (list, tuple, dict)) or value is None else [value]


def read_frequency(value: object) -> Frequency:
    text = " ".join(read_text(value).split())
    period = text.removeprefix("every ")
    if period != text:
        seconds = read_quantity(period, units.parse_duration)
        return Frequency(FrequencyKind.EVERY, seconds, False, text)
    if text in _FREQUENCIES:
        return Frequency(FrequencyKind(text), None, False, text)
    raise wrong(f"{shown(text)} is not a frequency", _frequency_hint(text))


def _frequency_hint(text: str) -> str:
    near = nearest(text, _FREQUENCIES[:4])
    meant = f"; did you mean {near!r}?" if near else ""
    return f"allowed: {', '.join(_FREQUENCIES)}{meant}"


def read_command(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        parts = ", ".join(f'"{part}"' for part in value.split())
        raise wrong("a command is a list: the program, then each argument", f"write: [{parts}]")
    hint = 'write a list of texts, as in: [my-extractor, "{path}"]'
    if not isinstance(value, list) or not value:
        raise wrong(_not(value, "command"), hint)
    if not all(isinstance(part, str) for part in value):
        raise wrong("every part of a command is a text", hint)
    return tuple(read_text(part) for part in value)


def read_ssh(value: object) -> str:
    text = read_text(value)
    if re.search(r":[^@]*@", text.removeprefix("ssh://")):
        raise wrong("a password may not stand in ssh", "pathtrace uses the keys that the ssh client uses")
    return text


def read_address(value: object) -> str:
    """``host:port``, an IPv6 address in brackets."""
    text = read_text(value)
    try:
        parts = urlsplit(f"//{text}")
        sound = bool(parts.hostname) and bool(parts.port) and parts.netloc == text and "@" not in text
    except ValueError:
        sound = False
    if not sound:
        raise wrong(f"{shown(text)} is not an address with a port", "write host:port, as in nas.lan:7411")
    return text


def read_url(value: object, schemes: tuple[str, ...]) -> str:
    text = read_text(value)
    scheme, separator, rest = text.partition("://")
    if not separator:
        raise wrong("this is not a URL", f"allowed: {', '.join(f'{name}://' for name in schemes)}")
    if any(character.isspace() for character in text):
        raise wrong("a URL has no spaces", "write %20 for a space, %25 for a percent sign")
    if scheme not in schemes:
        raise wrong(f"a URL with {shown(scheme)} cannot be used here", allowed(schemes, scheme))
    if scheme == "sqlite":
        _refuse_sqlite_without_file(rest)
    elif (port := _WRITTEN_PORT.match(rest)) and not 0 < int(port[1]) < 1 << 16:
        raise wrong(f"there is no port {port[1]}", "allowed: 1 to 65535")
    elif not _has_host(text):
        raise wrong(
            "the URL names no host", f"write {scheme}://host/…; a / in a password is %2F, an @ is %40"
        )
    elif scheme == "smb" and not urlsplit(text).path.strip("/"):
        raise wrong("the URL names no share", "write smb://host/share, or smb://host/share/folder")
    return text


def read_tell_url(value: object) -> str:
    """A URL as apprise has them, or an empty one: a variable that only scans are given. No message shows
    any of it: tokens stand anywhere in them."""
    if value == "":
        return ""
    text = read_text(value)
    if any(character.isspace() for character in text):
        raise wrong("a URL has no spaces", "write %20 for a space; give several as a list")
    if not re.fullmatch(_TELL_URL, text):
        raise wrong("this is not a URL", "as apprise writes them: ntfy://…, mailto://…, tgram://…")
    return text


def read_ping_url(value: object) -> str:
    """The URL of a healthcheck, or an empty one. No message shows any of it: whoever knows it can report in
    our name."""
    if value == "":
        return ""
    text = read_text(value)
    if not re.fullmatch(r"https?://\S+", text) or not _has_host(text):
        raise wrong("this is not the URL of a healthcheck", "write https://host/…, without spaces")
    return text


def read_keep(value: object) -> float:
    seconds = read_quantity(value, units.parse_duration)
    if seconds < _LEAST_KEPT_S:
        raise wrong(f"{shown(value)} is less than a day", "samples are needed the next morning: keep: 90 d")
    return seconds


def read_whole_path(value: object) -> str:
    """A path that means the same wherever a command starts."""
    text = read_text(value)
    if not (text.startswith("~") or PurePosixPath(text).is_absolute() or PureWindowsPath(text).is_absolute()):
        raise wrong(f"{shown(text)} is no whole path", "a timer starts elsewhere: begin with / or ~/")
    if text.endswith(("/", "\\")):
        raise wrong(f"{shown(text)} is a folder", "name the file in it")
    return text


def _has_host(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False


def _refuse_sqlite_without_file(rest: str) -> None:
    if rest and not (rest.startswith("/") and rest.strip("/")):
        hint = "write sqlite:// for a scratch file, sqlite:///relative/path or sqlite:////absolute/path"
        raise wrong("this sqlite URL names no file", hint)


def read_options(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise wrong(_kind_of(value, "a mapping of options"), "as in: options: {temperature: 0}")
    return {key: str(child) if _is_key(key, child) else _json(child) for key, child in value.items()}


def _is_key(key: str, value: object) -> bool:
    """An API key of digits is still text."""
    return key == "api_key" and isinstance(value, str)


def _json(value: object) -> object:
    """What YAML's plain words mean where pathtrace does not know the key: sent on as JSON."""
    if isinstance(value, dict):
        return {str(key): _json(child) for key, child in value.items()}
    if isinstance(value, list):
        return [_json(child) for child in value]
    if isinstance(value, Plain):
        return _number_or_text(value)
    return value


def _number_or_text(value: Plain) -> int | float | str:
    if re.fullmatch(r"[-+]?[0-9]{1,18}", value):
        return int(value)
    if re.fullmatch(r"[-+]?[0-9]{1,18}(?:\.[0-9]{0,18})?(?:[eE][-+]?[0-9]{1,2})?", value):
        return float(value)
    return str(value)


def _not(value: object, what: str) -> str:
    return (
        f"{shown(value)} is not a {what}" if isinstance(value, (str, bool)) else _kind_of(value, f"a {what}")
    )


def _kind_of(value: object, wanted: str) -> str:
    kinds = {type(None): "nothing", list: "a list", tuple: "a list", dict: "a mapping"}
    return f"{kinds.get(type(value), shown(value))} stands here where {wanted} is wanted"
