"""What a ``files`` URL means: the target, the files below it that are taken, how they are counted.

Knows the spec, names and sizes; how they come over the network is a client's.
"""

from __future__ import annotations

import hashlib
import random
from array import array
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass, replace
from urllib.parse import unquote, urlsplit

from pathtrace.errors import OperationError, PlaceError, UsageError
from pathtrace.model.scenario import Access, FilesSpec
from pathtrace.model.scenario import Place as Described
from pathtrace.model.work import PlaceFacts
from pathtrace.places.file_list import OWN_FOLDER, FileList, compile_globs, shown, take_sample
from pathtrace.places.reading import WHOLE_BYTES
from pathtrace.places.remote import RemoteClient, RemoteFile, Target
from pathtrace.places.tensor_files import looks_like_weights
from pathtrace.units import format_bytes

_HASHED_FILES = 16
_HASHED_BYTES = 1 << 20


def remote_spec(place: Described) -> FilesSpec:
    """The place's spec, which has a ``url``."""
    spec = place.spec
    assert isinstance(spec, FilesSpec)
    if spec.url is None:
        raise UsageError(f"{place.name}: it has no url")
    return spec


def refuse_access(place: Described) -> None:
    """PlaceError if a way of reading is stated that only a file system has."""
    spec = remote_spec(place)
    if spec.access_stated and spec.access is not Access.READ:
        raise PlaceError(
            f"`access: {spec.access.value}` is for files at a path: a URL's are always read by requests",
            hint="leave `access` out, or mount the share and give its `path`",
            where=place.name,
        )


def target_of(url: str) -> Target:
    """The URL, taken apart and unquoted. PlaceError if it names no host."""
    parts = urlsplit(url)
    try:
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host:
        raise PlaceError("the URL names no host", hint=f"write {parts.scheme}://host/folder")
    # Within a file's path, a question mark or number sign is one.
    path = url.partition("://")[2].removeprefix(parts.netloc)
    user, password = parts.username, parts.password
    return Target(
        scheme=parts.scheme,
        host=unquote(host),
        port=port,
        user=unquote(user) if user else None,
        password=None if password is None else unquote(password),
        path=_path(parts.scheme, unquote(path, errors="surrogateescape")),
    )


def _path(scheme: str, path: str) -> str:
    if scheme == "smb":
        return path.strip("/")
    if path == "/~" or path.startswith("/~/"):
        return path[3:].rstrip("/")
    return path.rstrip("/") or path[:1]


async def find_files(
    place: Described, target: Target, listing: AsyncIterator[RemoteFile], seed: int
) -> FileList:
    """Every file that the place reads. PlaceError if there are none."""
    spec = remote_spec(place)
    takes = _taking(spec)
    taken: list[tuple[bytes, int]] = []
    alone = False
    async for name, size in listing:
        if not name:
            alone = True
            name = target.path.rpartition("/")[2]
        elif not takes(name):
            continue
        taken.append((_raw(name), size))
    files = _list(_raw(target.path), taken, alone)
    if not files.total_bytes:
        raise _empty(place, target, files)
    return files if spec.sample is None or alone else take_sample(files, spec.sample, seed)


def _taking(spec: FilesSpec) -> Callable[[str], bool]:
    include, exclude = compile_globs(spec.include), compile_globs(spec.exclude)

    def takes(name: str) -> bool:
        if any(part.startswith(OWN_FOLDER) for part in name.split("/")[:-1]):
            return False
        if exclude is not None and exclude.fullmatch(name):
            return False
        return include is None or include.fullmatch(name) is not None

    return takes


def _raw(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")


def _list(root: bytes, taken: list[tuple[bytes, int]], alone: bool) -> FileList:
    taken.sort()
    ends = array("Q")
    end = 0
    for name, _ in taken:
        ends.append(end := end + len(name))
    sizes = array("q", (size for _, size in taken))
    names = b"".join(name for name, _ in taken)
    return FileList(root, names, ends, sizes, sum(sizes), alone=alone)


def key_of(files: FileList, index: int) -> str:
    """What the client calls the file."""
    return "" if files.alone else files.name(index).decode("utf-8", "surrogateescape")


def _empty(place: Described, target: Target, files: FileList) -> PlaceError:
    spec = remote_spec(place)
    where = shown_target(target)
    if files.alone:
        return PlaceError(f"{where} is empty", hint="give a file with content", where=place.name)
    filtered = "that include and exclude leave " if spec.include or spec.exclude else ""
    what = f"only empty files {filtered}in" if len(files) else f"no files {filtered}in"
    return PlaceError(
        f"{what} {where}",
        hint="check `include` and `exclude`: *.txt is the top folder only, **/*.txt is all of them"
        if filtered
        else "check the URL; if it is written to, say `data: output`",
        where=place.name,
    )


def shown_target(target: Target) -> str:
    """The URL for messages: without user and password."""
    host = f"[{target.host}]" if ":" in target.host else target.host
    port = f":{target.port}" if target.port else ""
    at = target.path if target.path.startswith("/") else f"/{target.path}"
    return shown(f"{target.scheme}://{host}{port}{at}".encode("utf-8", "surrogateescape"))


@dataclass(frozen=True, slots=True)
class InBlocks:
    """One file that is read in blocks. ``whole``: a document, handed on once its last block is there."""

    index: int
    whole: bool


def layout(place: Described, files: FileList) -> tuple[InBlocks, ...] | None:
    """Which files are read in blocks, front to end; None: one operation a file (as ``files.Files`` does)."""
    if not files.alone and not _mostly_weights(place, files):
        return None
    return tuple(
        InBlocks(index, whole=not _weights(place, files, index) and files.sizes[index] <= WHOLE_BYTES)
        for index in range(len(files))
    )


def _mostly_weights(place: Described, files: FileList) -> bool:
    if place.data is not None:
        return place.data == "weights"
    weights = sum(files.sizes[n] for n in range(len(files)) if looks_like_weights(files.name(n)))
    return 2 * weights > files.total_bytes


def _weights(place: Described, files: FileList, index: int) -> bool:
    return place.data == "weights" or looks_like_weights(files.name(index))


def facts(place: Described, files: FileList, warnings: Iterable[str], protocol: str) -> PlaceFacts:
    """What is there, for a person and for the run."""
    count = len(files)
    in_blocks = layout(place, files) is not None
    block = format_bytes(remote_spec(place).block_bytes)
    how = f"in blocks of {block}" if in_blocks else "one operation a file"
    found = PlaceFacts(
        summary=f"{count:,} {'file' if count == 1 else 'files'}, {format_bytes(files.total_bytes)}, "
        f"{how}, over {protocol}",
        files=count,
        bytes=files.total_bytes,
        read_bytes=files.total_bytes,
        whole_bytes=files.whole_bytes,
    )
    return replace(found, warnings=tuple(warnings))


async def fingerprint(files: FileList, client: RemoteClient) -> str | None:
    """The same as of the same files at a path; None if none of what it would look at can be read."""
    digest = hashlib.sha256()
    for index in range(len(files)):
        digest.update(b"%d %b\0" % (files.sizes[index], files.name(index)))
    chosen = random.Random(digest.digest())
    readable = False
    for _ in range(_HASHED_FILES):
        index = chosen.randrange(len(files))
        offset = chosen.randrange(max(1, files.sizes[index] - _HASHED_BYTES + 1))
        try:
            content = await _content(client, key_of(files, index), offset)
            readable = True
        except OperationError:
            content = b"unreadable"
        digest.update(content)
    return digest.hexdigest()[:16] if readable else None


async def _content(client: RemoteClient, key: str, offset: int) -> bytes:
    handle = await client.handle(key)
    try:
        return bytes((await handle.read(offset, _HASHED_BYTES)).data)
    finally:
        await handle.close()
