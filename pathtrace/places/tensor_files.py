"""Where the tensors lie in a GGUF (version 2 and 3) or safetensors file, from the file's own header.

Gives the order in which a loader touches the file: header first, then tensor by tensor as the
header lists them. Every byte belongs to exactly one range: padding goes with what lies before it.
GGUF's own format is ``gguf_header``'s. Headers are not trusted: every length is held against the file's,
so that rubbish ends in ``HeaderError``.
"""

from __future__ import annotations

import json
import os
from itertools import pairwise
from typing import BinaryIO

from pathtrace.places.gguf_header import MOST_HEADER_BYTES, HeaderError, read_gguf

__all__ = ["HeaderError", "Range", "begins_like_gguf", "looks_like_weights", "tensor_ranges"]

Range = tuple[int, int]
"""Offset and length in the file."""

SUFFIXES = (".gguf", ".safetensors")


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
            header = read_gguf(file)
            data_start, starts = header.data_start, [start for _, start in header.tensors]
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
    if len(raw) < 8 or length > min(size - 8, MOST_HEADER_BYTES):
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
