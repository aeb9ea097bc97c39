"""Finds the files that a place means, says what is wrong with them, and decides how they are counted.

Knows the spec and the file system; reads no content but the headers of weights.
"""

from __future__ import annotations

import hashlib
import os
import random
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from pathtrace.errors import PlaceError, UsageError
from pathtrace.model.run import Mount
from pathtrace.model.scenario import Access, FilesSpec
from pathtrace.model.scenario import Place as Described
from pathtrace.model.work import PlaceFacts
from pathtrace.places.file_list import FileList, list_file, list_tree, shown, take_sample
from pathtrace.places.reading import WHOLE_BYTES
from pathtrace.places.sources import direct_refusal
from pathtrace.places.tensor_files import (
    HeaderError,
    Range,
    begins_like_gguf,
    looks_like_weights,
    tensor_ranges,
)
from pathtrace.places.weights_header import weights_header
from pathtrace.units import format_bytes

_HASHED_FILES = 16
_HASHED_BYTES = 1 << 20
_SPARSE_SHARE = 0.05


def files_spec(place: Described) -> FilesSpec:
    """The place's spec. UsageError for what this version does not have."""
    spec = place.spec
    assert isinstance(spec, FilesSpec)
    if spec.url is not None:
        raise UsageError(
            f"{place.name}: files behind a URL are not available in this version",
            hint="mount the share and give its `path`",
        )
    return spec


def find_files(place: Described, root: Path, seed: int, stopped: Callable[[], bool]) -> FileList:
    """Every file that the place reads. PlaceError if there are none or they cannot be seen."""
    spec = files_spec(place)
    path = os.fsencode(root)
    try:
        status = os.stat(path)
        if stat.S_ISREG(status.st_mode):
            files = list_file(path, status)
        elif stat.S_ISDIR(status.st_mode):
            files = list_tree(path, spec.include, spec.exclude, stopped)
        else:
            raise PlaceError(f"{shown(path)} is neither a file nor a folder", where=place.name)
    except OSError as error:
        raise unusable(place, root, error) from error
    if not files.total_bytes:
        raise _empty(place, files)
    return files if spec.sample is None else take_sample(files, spec.sample, seed)


def refuse_direct(place: Described, files: FileList, mount: Mount | None) -> None:
    """PlaceError if the place wants direct reads and its first file cannot be read so."""
    if files_spec(place).access is not Access.DIRECT:
        return
    first = next(index for index in range(len(files)) if files.sizes[index])
    path = os.fsdecode(files.path(first))
    try:
        refusal = direct_refusal(path, mount.fstype if mount else None)
    except OSError:
        return  # that file is a failed operation of the run, whatever the way of reading
    if refusal is not None:
        raise PlaceError(
            f"`access: direct` does not work for {shown(path)}: {refusal}",
            hint="use `access: read`; with `start: cold` each repeat begins with an emptied cache",
            where=place.name,
        )


def only_written(place: Described) -> PlaceError:
    """Of a place that was described as an output and is asked for what it holds."""
    return PlaceError(
        "was described as `data: output` and is not read",
        hint="leave `data` out, or say original or derived",
        where=place.name,
    )


def unusable(place: Described, root: Path, error: OSError) -> PlaceError:
    """What an operating system's error means for the place."""
    path = shown(str(root))
    match error:
        case FileNotFoundError() | NotADirectoryError():
            text, hint = f"there is nothing at {path}", "check the path; if it is a share, mount it first"
        case PermissionError():
            text, hint = f"no permission to read {path}", "ask for read access, or run as a user who has it"
        case _:
            text, hint = f"{path} cannot be read: {error.strerror or error}", "check the disk or the mount"
    return PlaceError(text, hint=hint, where=place.name)


def _empty(place: Described, files: FileList) -> PlaceError:
    spec = files_spec(place)
    path = shown(files.root)
    if files.alone:
        return PlaceError(f"{path} is empty", hint="give a file with content", where=place.name)
    filtered = "that include and exclude leave " if spec.include or spec.exclude else ""
    what = f"only empty files {filtered}in" if len(files) else f"no files {filtered}in"
    passed = "".join(f"; {warning}" for warning in files.warnings)
    hint = "check `include` and `exclude`: *.txt is the top folder only, **/*.txt is all of them"
    return PlaceError(
        f"{what} {path}{passed}",
        hint=hint
        if filtered
        else "check the path; if it is a share, mount it; if it is written to, say `data: output`",
        where=place.name,
    )


@dataclass(frozen=True, slots=True)
class BlockFile:
    """One file that is read in blocks: which ranges of it, in what order."""

    index: int
    ranges: tuple[Range, ...]
    access: Access
    whole: bool
    """It is a document: handed on whole once its last block has been read."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How the files are counted. ``blocks`` None: one operation a file; ``access`` is then for all."""

    blocks: tuple[BlockFile, ...] | None
    access: Access
    warnings: tuple[str, ...] = field(default=())


def layout(place: Described, files: FileList) -> Layout:
    """Decide how ``files`` are read (the rules stand with ``files.Files``). Reads weights' headers."""
    spec = files_spec(place)
    stated = spec.access if spec.access_stated else Access.READ
    if not files.alone and not _mostly_weights(place, files):
        return Layout(None, stated)
    warnings: list[str] = []
    found = []
    for index in range(len(files)):
        size = files.sizes[index]
        known = _is_tensor_file(files.path(index))
        access = Access.MMAP if known and not spec.access_stated else stated
        ranges = _ranges(files, index, warnings) if access is Access.MMAP and known else ((0, size),)
        whole = not known and place.data != "weights" and size <= WHOLE_BYTES
        found.append(BlockFile(index, ranges if size else (), access, whole))
    return Layout(tuple(found), stated, tuple(warnings))


def _mostly_weights(place: Described, files: FileList) -> bool:
    if place.data is not None:
        return place.data == "weights"
    weights = sum(files.sizes[i] for i in range(len(files)) if looks_like_weights(files.name(i)))
    return 2 * weights > files.total_bytes


def _is_tensor_file(path: bytes) -> bool:
    try:
        return looks_like_weights(path) or begins_like_gguf(path)
    except OSError:
        return False


def _ranges(files: FileList, index: int, warnings: list[str]) -> tuple[Range, ...]:
    try:
        ranges = tensor_ranges(files.path(index))
        if sum(length for _, length in ranges) == files.sizes[index]:
            return ranges
        why = "it changes while it is looked at"
    except (HeaderError, OSError) as error:
        why = str(error)
    warnings.append(f"{shown(files.name(index))} is read from front to end: {why}")
    return ((0, files.sizes[index]),)


def facts(files: FileList, how: str, warnings: tuple[str, ...]) -> PlaceFacts:
    """What is there, for a person and for the run. Blocking: reads the header of weights."""
    count = len(files)
    if files.sparse_bytes > _SPARSE_SHARE * files.total_bytes:
        sparse = format_bytes(files.sparse_bytes)
        warnings += (
            f"{sparse} of {format_bytes(files.total_bytes)} take no room on the disk (sparse or compressed)",
        )
    return PlaceFacts(
        summary=f"{count:,} {'file' if count == 1 else 'files'}, {format_bytes(files.total_bytes)}, {how}",
        files=count,
        bytes=files.total_bytes,
        read_bytes=files.total_bytes,
        sparse_bytes=files.sparse_bytes,
        warnings=files.warnings + warnings,
        whole_bytes=files.whole_bytes,
        weights=weights_header(files),
    )


def fingerprint(files: FileList, stopped: Callable[[], bool]) -> str:
    """Of all relative paths and sizes, and of what is in a few places that these choose."""
    digest = hashlib.sha256()
    for index in range(len(files)):
        if stopped():
            break
        digest.update(b"%d %b\0" % (files.sizes[index], files.name(index)))
    chosen = random.Random(digest.digest())
    for _ in range(_HASHED_FILES):
        index = chosen.randrange(len(files))
        offset = chosen.randrange(max(1, files.sizes[index] - _HASHED_BYTES + 1))
        digest.update(_content(files.path(index), offset))
    return digest.hexdigest()[:16]


def _content(path: bytes, offset: int) -> bytes:
    try:
        with open(path, "rb", opener=_at_once) as file:
            file.seek(offset)
            return file.read(_HASHED_BYTES)
    except OSError:
        return b"unreadable"


def _at_once(path: str, flags: int) -> int:
    """Opens without waiting for the other end, should a pipe lie where a file was listed."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
