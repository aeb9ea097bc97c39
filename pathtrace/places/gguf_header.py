"""What stands in the header of a GGUF file (version 2 and 3): settings, names and offsets of tensors.

Shapes and types of tensors are left to loaders, what the settings mean to their readers. Headers are not
trusted: every length is held against the file's, and numbers of things are bounded, so that rubbish ends
in ``HeaderError``.
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from typing import BinaryIO

MOST_HEADER_BYTES = 256 << 20
_MOST_THINGS = 20_000_000
_MOST_KEPT = 4096
"""Entries of an array that are kept: per-layer settings are, a vocabulary's words are only counted."""
_FORMATS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
_MOST_TEXT = 1 << 16

Number = int | float | bool


class HeaderError(ValueError):
    """The header does not fit the file; the text says how."""


@dataclass(frozen=True, slots=True)
class Counted:
    """An array that was too long, or not of numbers: how many entries it has."""

    length: int


Setting = Number | str | tuple[Number, ...] | Counted


@dataclass(frozen=True, slots=True)
class Gguf:
    """``tensors``: names and where they start in the file, in the header's order."""

    settings: dict[str, Setting]
    tensors: tuple[tuple[str, int], ...]
    data_start: int


def read_gguf(file: BinaryIO) -> Gguf:
    """From the front of an open file. HeaderError, OSError."""
    header = _Header(file, os.fstat(file.fileno()).st_size)
    header.take(4)
    version = header.number(4)
    if version not in (2, 3):
        raise HeaderError(f"GGUF version {version} is not known (2 and 3 are)")
    tensors, pairs = header.count(header.number(8)), header.count(header.number(8))
    settings: dict[str, Setting] = {}
    for _ in range(pairs):
        key = header.text()
        settings[key] = _value(header, header.number(4), 0)
    offsets = [_tensor(header) for _ in range(tensors)]
    alignment = settings.get("general.alignment", 32)
    if not isinstance(alignment, int) or not 1 <= alignment <= header.size:
        raise HeaderError(f"the header claims an alignment of {alignment}")
    data_start = -(-header.at // alignment) * alignment
    return Gguf(
        settings,
        tuple((name, data_start + offset) for name, offset in offsets),
        min(data_start, header.size),
    )


class _Header:
    """Reads numbers and strings off the front of a file, never past its end."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file = file
        self._end = min(size, MOST_HEADER_BYTES)
        self._things = 0
        self.size = size
        self.at = 0

    def number(self, width: int) -> int:
        return int.from_bytes(self.take(width), "little")

    def text(self) -> str:
        """A string; of one without measure only its front."""
        length = self.number(8)
        front = self.take(min(length, _MOST_TEXT))
        self.skip(length - len(front))
        return front.decode("utf-8", "replace")

    def take(self, length: int) -> bytes:
        self._advance(length)
        return self._file.read(length)

    def skip(self, length: int) -> None:
        if length:
            self._advance(length)
            self._file.seek(length, os.SEEK_CUR)

    def count(self, number: int) -> int:
        """A number of things to come, refused before it costs time."""
        self._things += number
        if self._things > min(_MOST_THINGS, self.size):
            raise HeaderError(f"the header claims {number:,} entries in a file of {self.size:,} bytes")
        return number

    def _advance(self, length: int) -> None:
        self.at += length
        if self.at > self._end:
            raise HeaderError(f"the header runs past byte {self._end:,} of the file")


def _value(header: _Header, kind: int, depth: int) -> Setting:
    if kind == _STRING:
        return header.text()
    if kind == _ARRAY:
        return _array(header, depth + 1)
    (number,) = _numbers(header, kind, 1)
    return number


def _array(header: _Header, depth: int) -> Setting:
    if depth > 4:
        raise HeaderError("the header nests arrays too deeply")
    kind, length = header.number(4), header.number(8)
    if kind == _STRING:
        for _ in range(header.count(length)):
            header.skip(header.number(8))
    elif kind == _ARRAY:
        for _ in range(header.count(length)):
            _array(header, depth + 1)
    elif length <= _MOST_KEPT:
        return _numbers(header, kind, length)
    else:
        header.skip(_width(kind) * length)
    return Counted(length)


def _numbers(header: _Header, kind: int, length: int) -> tuple[Number, ...]:
    raw = header.take(_width(kind) * length)
    try:
        return struct.unpack(f"<{length}{_FORMATS[kind]}", raw)
    except struct.error as error:
        raise HeaderError("the file ends within its header") from error


def _width(kind: int) -> int:
    if kind not in _FORMATS:
        raise HeaderError(f"the header holds a value of the unknown type {kind}")
    return struct.calcsize(f"<{_FORMATS[kind]}")


def _tensor(header: _Header) -> tuple[str, int]:
    name = header.text()
    dimensions = header.number(4)
    if dimensions > 8:
        raise HeaderError(f"a tensor claims {dimensions:,} dimensions")
    header.skip(8 * dimensions + 4)
    return name, header.number(8)
