"""Where the tensors lie in a GGUF (version 2 and 3) or safetensors file, from the file's own header.

Gives the order in which a loader touches the file: header first, then tensor by tensor as the
header lists them. Every byte belongs to exactly one range: padding goes with what lies before it.
Only offsets are read; shapes and types are left to loaders. Headers are not trusted: every length is
held against the file's, and numbers of things are bounded, so that rubbish ends in ``HeaderError``.
"""

from __future__ import annotations

import json
import os
import struct
from itertools import pairwise
from typing import BinaryIO

Range = tuple[int, int]
"""Offset and length in the file."""

SUFFIXES = (".gguf", ".safetensors")
_MOST_HEADER_BYTES = 256 << 20
_MOST_THINGS = 20_000_000
_SCALAR_BYTES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_UINT32, _STRING, _ARRAY = 4, 8, 9


class HeaderError(ValueError):
    """The header does not fit the file; the text says how."""


def looks_like_weights(path: bytes | str) -> bool:
    """Judged by the name alone."""
    return os.fsdecode(path).lower().endswith(SUFFIXES)


def begins_like_gguf(path: bytes) -> bool:
    """Judged by the first four bytes (model stores name their files by hash). OSError if unreadable."""
    with open(path, "rb") as file:
        return file.read(4) == b"GGUF"


def tensor_ranges(path: bytes) -> tuple[Range, ...]:
    """Header and tensors in the header's order; together exactly the file. HeaderError, OSError."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        magic = file.read(4)
        file.seek(0)
        if magic == b"GGUF":
            data_start, starts = _gguf(_Header(file, size))
        else:
            data_start, starts = _safetensors(file, size)
    return _cover(data_start, starts, size)


def _cover(data_start: int, starts: list[int], size: int) -> tuple[Range, ...]:
    """Each range reaches to the next start, so that nothing is left out and nothing counted twice."""
    for start in starts:
        if not data_start <= start <= size:
            raise HeaderError(f"a tensor starts at byte {start:,} of a file of {size:,} bytes")
    edges = sorted({0, *starts, size})
    length = {start: end - start for start, end in pairwise(edges)}
    order = dict.fromkeys([0, *starts])
    return tuple((start, length[start]) for start in order if length.get(start))


def _safetensors(file: BinaryIO, size: int) -> tuple[int, list[int]]:
    raw = file.read(8)
    length = int.from_bytes(raw, "little")
    if len(raw) < 8 or length > min(size - 8, _MOST_HEADER_BYTES):
        raise HeaderError(f"the header claims {length:,} bytes in a file of {size:,}")
    try:
        header = json.loads(file.read(length))
        offsets = [entry["data_offsets"] for name, entry in header.items() if name != "__metadata__"]
        pairs = [(int(begin), int(end)) for begin, end in offsets]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise HeaderError("the header is not the JSON of a safetensors file") from error
    data_start = 8 + length
    if any(not 0 <= begin <= end <= size - data_start for begin, end in pairs):
        raise HeaderError("a tensor lies outside of the file")
    return data_start, [data_start + begin for begin, end in pairs if end > begin]


class _Header:
    """Reads numbers and strings off the front of a GGUF file, never past its end."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file = file
        self._end = min(size, _MOST_HEADER_BYTES)
        self._things = 0
        self.size = size
        self.at = 0

    def number(self, width: int) -> int:
        return int.from_bytes(self.take(width), "little")

    def take(self, length: int) -> bytes:
        self._advance(length)
        return self._file.read(length)

    def skip(self, length: int) -> None:
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


def _gguf(header: _Header) -> tuple[int, list[int]]:
    header.take(4)
    version = header.number(4)
    if version not in (2, 3):
        raise HeaderError(f"GGUF version {version} is not known (2 and 3 are)")
    tensors, pairs = header.count(header.number(8)), header.count(header.number(8))
    alignment = 32
    for _ in range(pairs):
        key = header.take(header.number(8))
        kind = header.number(4)
        if key == b"general.alignment" and kind == _UINT32:
            alignment = header.number(4)
        else:
            _skip_value(header, kind, 0)
    offsets = [_tensor_offset(header) for _ in range(tensors)]
    if alignment < 1 or alignment > header.size:
        raise HeaderError(f"the header claims an alignment of {alignment:,}")
    data_start = -(-header.at // alignment) * alignment
    return min(data_start, header.size), [data_start + offset for offset in offsets]


def _skip_value(header: _Header, kind: int, depth: int) -> None:
    if kind == _STRING:
        header.skip(header.number(8))
    elif kind == _ARRAY:
        _skip_array(header, depth + 1)
    else:
        header.skip(_width(kind))


def _skip_array(header: _Header, depth: int) -> None:
    if depth > 4:
        raise HeaderError("the header nests arrays too deeply")
    kind, length = header.number(4), header.number(8)
    if kind in (_STRING, _ARRAY):
        for _ in range(header.count(length)):
            _skip_value(header, kind, depth)
    else:
        header.skip(_width(kind) * length)


def _width(kind: int) -> int:
    if kind not in _SCALAR_BYTES:
        raise HeaderError(f"the header holds a value of the unknown type {kind}")
    return _SCALAR_BYTES[kind]


def _tensor_offset(header: _Header) -> int:
    header.skip(header.number(8))
    dimensions = header.number(4)
    if dimensions > 8:
        raise HeaderError(f"a tensor claims {dimensions:,} dimensions")
    header.skip(8 * dimensions + 4)
    (offset,) = struct.unpack("<Q", header.take(8))
    return int(offset)
