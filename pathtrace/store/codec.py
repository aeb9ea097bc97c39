"""Frozen dataclasses to JSON values and back, led by their field types.

Serves any dataclass of ``model`` whose fields are dataclasses, enums, tuples, ``X | None`` and plain
values; in a union of dataclasses each carries its type's name. Knows no run and no file.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from typing import Any

Scrub = Callable[[str], str]
Value = typing.TypeVar("Value")

_TYPE = "$type"
_UNIONS = (typing.Union, types.UnionType)


class CodecError(ValueError):
    """JSON that is not the value it should be. The text says where."""


def encode(value: object, scrub: Scrub) -> Any:
    """``value`` as JSON values; every text passes through ``scrub`` (names of enums do not)."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, str):
        return scrub(value)
    if is_dataclass(value) and not isinstance(value, type):
        body = {f.name: encode(getattr(value, f.name), scrub) for f in fields(value)}
        return {_TYPE: type(value).__name__, **body}
    if isinstance(value, tuple | list):
        return [encode(part, scrub) for part in value]
    if isinstance(value, dict):
        return {scrub(str(key)): encode(part, scrub) for key, part in value.items()}
    return value


def scrubbed(value: Value, scrub: Scrub) -> Value:
    """The same with every text passed through ``scrub``: what may be shown of what may not be."""
    return typing.cast("Value", decode(encode(value, scrub), type(value)))


def decode(data: Any, hint: Any, where: str = "") -> Any:
    """The value of type ``hint`` that ``data`` stands for. CodecError if it does not fit."""
    origin = typing.get_origin(hint)
    if origin in _UNIONS:
        return _decode_union(data, typing.get_args(hint), where)
    if origin is tuple:
        return _decode_tuple(data, typing.get_args(hint), where)
    if isinstance(hint, type) and is_dataclass(hint):
        return _decode_fields(data, hint, where)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return _decode_enum(data, hint, where)
    return _decode_plain(data, hint, where)


def _decode_union(data: Any, options: tuple[Any, ...], where: str) -> Any:
    if data is None and type(None) in options:
        return None
    rest = [option for option in options if option is not type(None)]
    if len(rest) == 1:
        return decode(data, rest[0], where)
    name = data.get(_TYPE) if isinstance(data, dict) else None
    for option in rest:
        if is_dataclass(option) and getattr(option, "__name__", None) == name:
            return decode(data, option, where)
    raise CodecError(
        f"{where}: {name!r} is none of {', '.join(getattr(o, '__name__', str(o)) for o in rest)}"
    )


def _decode_tuple(data: Any, options: tuple[Any, ...], where: str) -> tuple[Any, ...]:
    if not isinstance(data, list):
        raise CodecError(f"{where}: a list is expected")
    if len(options) == 2 and options[1] is Ellipsis:
        return tuple(decode(part, options[0], f"{where}[{i}]") for i, part in enumerate(data))
    if len(data) != len(options):
        raise CodecError(f"{where}: {len(options)} entries are expected, not {len(data)}")
    pairs = zip(data, options, strict=True)
    return tuple(decode(part, option, f"{where}[{i}]") for i, (part, option) in enumerate(pairs))


def _decode_fields(data: Any, kind: type[Any], where: str) -> Any:
    if not isinstance(data, dict):
        raise CodecError(f"{where}: an object is expected")
    hints = _hints(kind)
    missing = [f.name for f in fields(kind) if f.name not in data and _required(f)]
    if missing:
        raise CodecError(f"{where}: {', '.join(missing)} is missing")
    present = (f.name for f in fields(kind) if f.name in data)
    return kind(**{name: decode(data[name], hints[name], f"{where}.{name}") for name in present})


def _required(field: Field[Any]) -> bool:
    """A field with a default may have been added later: older files do without it."""
    return field.default is MISSING and field.default_factory is MISSING


def _decode_enum(data: Any, kind: type[Enum], where: str) -> Enum:
    try:
        return kind(data)
    except ValueError:
        raise CodecError(f"{where}: {data!r} is none of {', '.join(str(e.value) for e in kind)}") from None


def _decode_plain(data: Any, hint: Any, where: str) -> Any:
    if hint is float and isinstance(data, int) and not isinstance(data, bool):
        return float(data)
    if hint is object:
        return data
    if not isinstance(data, hint) or (hint is not bool and isinstance(data, bool)):
        raise CodecError(f"{where}: {data!r} is not {hint.__name__}")
    return data


_HINTS: dict[type[Any], dict[str, Any]] = {}


def _hints(kind: type[Any]) -> dict[str, Any]:
    """Field types, worked out once: Python evaluates their text each time."""
    if kind not in _HINTS:
        _HINTS[kind] = typing.get_type_hints(kind)
    return _HINTS[kind]
