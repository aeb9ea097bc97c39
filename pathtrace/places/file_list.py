"""Lists a tree: which files a place takes, in what order, kept small enough for 200,000 of them.

Globs are relative to the place's path: ``*`` and ``?`` stay within a folder, ``**/`` is any number of
folders (none too), ``[a-z]`` and ``[!a-z]`` as in a shell, upper and lower case differ, a leading dot is
not special. A pattern that matches a folder stands for everything below it. ``exclude`` wins over
``include``; without ``include`` every file is taken.

Links to files are followed, links to folders never are (no loops, nothing outside of the tree).
Reads no content. What is done with the files is left to others.
"""

from __future__ import annotations

import os
import random
import re
import stat
from array import array
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

OWN_FOLDER = ".pathtrace-"
"""Prefix of the folders that pathtrace writes into; they are never part of a data set."""


@dataclass(slots=True)
class FileList:
    """Relative paths (bytes, sorted) and sizes of a tree's files under ``root``.

    One string of all names and two arrays: about 16 bytes a file more than its name.
    """

    root: bytes
    names: bytes = b""
    ends: array[int] = field(default_factory=lambda: array("Q"))
    sizes: array[int] = field(default_factory=lambda: array("q"))
    total_bytes: int = 0
    sparse_bytes: int = 0
    warnings: tuple[str, ...] = ()
    alone: bool = False
    """True if ``root`` is the one file itself."""
    whole_bytes: int | None = None
    """Of the list that a sample was drawn from."""

    def __len__(self) -> int:
        return len(self.sizes)

    def name(self, index: int) -> bytes:
        """The path of one file, relative to ``root``; the file's own name if ``root`` is the file."""
        return self.names[self.ends[index - 1] if index else 0 : self.ends[index]]

    def path(self, index: int) -> bytes:
        """The full path of one file."""
        return self.root if self.alone else self.root + b"/" + self.name(index)


def shown(path: bytes | str) -> str:
    """A path for messages: what is not UTF-8, or not printable, is escaped."""
    raw = os.fsencode(path) if isinstance(path, str) else path
    text = raw.decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def compile_globs(patterns: tuple[str, ...]) -> re.Pattern[str] | None:
    """One expression that matches whatever one of ``patterns`` matches, or None if there are none."""
    parts = [_translate(pattern.removeprefix("./").rstrip("/")) for pattern in patterns]
    return re.compile("|".join(f"(?:{part})(?:/.*)?" for part in parts), re.DOTALL) if parts else None


def _translate(pattern: str) -> str:
    out, at = "", 0
    while at < len(pattern):
        for token, expression in (("**/", "(?:.*/)?"), ("**", ".*"), ("*", "[^/]*"), ("?", "[^/]")):
            if pattern.startswith(token, at):
                out, at = out + expression, at + len(token)
                break
        else:
            piece = re.match(r"\[!?\]?[^\]/]*\]", pattern[at:])
            text = piece[0] if piece else pattern[at]
            out, at = out + (_bracket(text) if piece else re.escape(text)), at + len(text)
    return out


def _bracket(text: str) -> str:
    inner = text[1:-1]
    negated = inner.startswith("!")
    inner = inner[1:] if negated else inner
    inner = inner.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]").replace("^", "\\^")
    return f"(?!/)[{'^' if negated else ''}{inner}]"


def list_file(path: bytes, status: os.stat_result) -> FileList:
    """The list of one file."""
    name = os.path.basename(path)
    ends, sizes = array("Q", [len(name)]), array("q", [status.st_size])
    return FileList(path, name, ends, sizes, status.st_size, _missing_bytes(status), alone=True)


def list_tree(
    root: bytes,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    stopped: Callable[[], bool],
) -> FileList:
    """Every file below ``root`` that the globs take; what was found so far once ``stopped`` says so.

    OSError only if ``root`` itself cannot be listed.
    """
    walk = _Walk(root.rstrip(b"/") or b"/", compile_globs(include), compile_globs(exclude), stopped)
    names: list[bytes] = []
    sizes = array("q")
    total = sparse = 0
    for name, status in walk:
        names.append(name)
        sizes.append(status.st_size)
        total += status.st_size
        sparse += _missing_bytes(status)
    order = sorted(range(len(names)), key=names.__getitem__)
    ends = array("Q")
    end = 0
    for index in order:
        ends.append(end := end + len(names[index]))
    blob = b"".join(map(names.__getitem__, order))
    kept = array("q", map(sizes.__getitem__, order))
    return FileList(walk.root, blob, ends, kept, total, sparse, walk.warnings())


def take_sample(listed: FileList, count: int, seed: int) -> FileList:
    """``count`` files of the list, drawn with ``seed``, still in order of their names."""
    if count >= len(listed):
        return listed
    chosen = sorted(random.Random(seed).sample(range(len(listed)), count))
    names = [listed.name(index) for index in chosen]
    sizes = array("q", (listed.sizes[index] for index in chosen))
    ends = array("Q")
    end = 0
    for name in names:
        ends.append(end := end + len(name))
    share = sum(sizes) / listed.total_bytes if listed.total_bytes else 0.0
    sparse = round(listed.sparse_bytes * share)
    return FileList(
        root=listed.root,
        names=b"".join(names),
        ends=ends,
        sizes=sizes,
        total_bytes=sum(sizes),
        sparse_bytes=sparse,
        warnings=listed.warnings,
        whole_bytes=listed.total_bytes,
    )


def _missing_bytes(status: os.stat_result) -> int:
    blocks: int | None = getattr(status, "st_blocks", None)
    return 0 if blocks is None else max(0, status.st_size - blocks * 512)


class _Walk:
    """Yields (relative path, status) of the files that are taken, and counts what was passed over."""

    def __init__(
        self,
        root: bytes,
        include: re.Pattern[str] | None,
        exclude: re.Pattern[str] | None,
        stopped: Callable[[], bool],
    ) -> None:
        self.root = root
        self._include = include
        self._exclude = exclude
        self._stopped = stopped
        self._passed: Counter[str] = Counter()
        self._example: dict[str, str] = {}

    def __iter__(self) -> Iterator[tuple[bytes, os.stat_result]]:
        with os.scandir(self.root):
            pass  # a root that cannot be listed is an error, a folder below it only a warning
        folders = [b""]
        while folders:
            prefix = folders.pop()
            try:
                with os.scandir(self.root + b"/" + prefix) as entries:
                    for entry in entries:
                        yield from self._entry(entry, prefix, folders)
            except OSError as error:
                self._pass(f"folders could not be read ({error.strerror})", prefix)

    def _entry(
        self, entry: os.DirEntry[bytes], prefix: bytes, folders: list[bytes]
    ) -> Iterator[tuple[bytes, os.stat_result]]:
        if self._stopped():
            folders.clear()
            return
        name = prefix + entry.name
        if self._exclude is not None and self._exclude.fullmatch(os.fsdecode(name)):
            return
        if entry.is_dir(follow_symlinks=False):
            if not entry.name.startswith(os.fsencode(OWN_FOLDER)):
                folders.append(name + b"/")
        elif self._include is None or self._include.fullmatch(os.fsdecode(name)):
            status = self._status(entry, name)
            if status is not None:
                yield name, status

    def _status(self, entry: os.DirEntry[bytes], name: bytes) -> os.stat_result | None:
        try:
            status = entry.stat()
        except OSError as error:
            what = "broken links" if entry.is_symlink() else f"files could not be seen ({error.strerror})"
            self._pass(what, name)
            return None
        if stat.S_ISREG(status.st_mode):
            return status
        folder = stat.S_ISDIR(status.st_mode)
        self._pass("links to folders" if folder else "special files (pipes, sockets, devices)", name)
        return None

    def _pass(self, why: str, name: bytes) -> None:
        self._passed[why] += 1
        self._example.setdefault(why, shown(name.rstrip(b"/")))

    def warnings(self) -> tuple[str, ...]:
        """One sentence for each kind of thing that was passed over."""
        return tuple(
            f"passed over: {count:,} {why}, such as {self._example[why]}"
            for why, count in sorted(self._passed.items())
        )
