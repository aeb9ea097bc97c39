"""Lists a tree over SFTP: several folders at a time, so that a round trip is not waited for in each alone.

Links to files are followed, links to folders never are. Which of the files are taken is left to others.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine

import asyncssh

from pathtrace.places.file_list import OWN_FOLDER, shown
from pathtrace.places.remote import RemoteFile

_AT_ONCE = 16
_LOST = (asyncssh.SFTPConnectionLost, asyncssh.SFTPNoConnection)


class Listing:
    """One listing below ``root``; ``path`` makes a path of a name below it. asyncssh's errors pass."""

    def __init__(self, sftp: asyncssh.SFTPClient, root: bytes, path: Callable[[str], bytes]) -> None:
        self._sftp = sftp
        self._root = root
        self._path = path
        self._room = asyncio.Semaphore(_AT_ONCE)
        self._passed: Counter[str] = Counter()
        self._example: dict[str, str] = {}

    async def files(self) -> AsyncIterator[RemoteFile]:
        """Every regular file, or the root itself if it is one."""
        status = await self._sftp.stat(self._path(""))
        if status.type == asyncssh.FILEXFER_TYPE_REGULAR:
            yield RemoteFile("", status.size or 0)
            return
        if status.type != asyncssh.FILEXFER_TYPE_DIRECTORY:
            raise asyncssh.SFTPFailure("it is neither a file nor a folder")
        folders = [""]
        found = [await self._folder("")]  # a root that cannot be listed is an error
        while folders:
            folders = [name for _, inner in found for name in inner]
            for files, _ in found:
                for file in files:
                    yield file
            found = await _together([self._below(name) for name in folders])

    def passed_over(self) -> tuple[str, ...]:
        """One sentence for each kind of thing that was passed over."""
        return tuple(
            f"passed over: {count:,} {why}, such as {self._example[why]}"
            for why, count in sorted(self._passed.items())
        )

    async def _below(self, name: str) -> tuple[list[RemoteFile], list[str]]:
        async with self._room:
            try:
                return await self._folder(name)
            except asyncssh.SFTPError as error:
                if isinstance(error, _LOST):
                    raise
                self._pass(f"folders could not be read ({error.reason})", name)
                return [], []

    async def _folder(self, name: str) -> tuple[list[RemoteFile], list[str]]:
        files: list[RemoteFile] = []
        folders: list[str] = []
        prefix = f"{name}/" if name else ""
        async for entry in self._sftp.scandir(self._path(name)):
            raw = entry.filename
            text = raw.decode("utf-8", "surrogateescape") if isinstance(raw, bytes) else raw
            if text in (".", "..") or "/" in text:
                continue
            await self._entry(prefix + text, entry.attrs, files, folders)
        return files, folders

    async def _entry(
        self, name: str, status: asyncssh.SFTPAttrs, files: list[RemoteFile], folders: list[str]
    ) -> None:
        kind, size = status.type, status.size
        if kind == asyncssh.FILEXFER_TYPE_DIRECTORY:
            if not name.rpartition("/")[2].startswith(OWN_FOLDER):
                folders.append(name)
            return
        linked = kind != asyncssh.FILEXFER_TYPE_REGULAR
        if linked or size is None:
            try:
                status = await self._sftp.stat(self._path(name))
            except asyncssh.SFTPError as error:
                if isinstance(error, _LOST):
                    raise
                self._pass("broken links" if linked else f"files could not be seen ({error.reason})", name)
                return
            kind, size = status.type, status.size
        if kind == asyncssh.FILEXFER_TYPE_REGULAR:
            files.append(RemoteFile(name, size or 0))
        elif kind == asyncssh.FILEXFER_TYPE_DIRECTORY:
            self._pass("links to folders", name)
        else:
            self._pass("special files (pipes, sockets, devices)", name)

    def _pass(self, why: str, name: str) -> None:
        self._passed[why] += 1
        self._example.setdefault(why, shown(name.encode("utf-8", "surrogateescape")))


async def _together(
    work: list[Coroutine[None, None, tuple[list[RemoteFile], list[str]]]],
) -> list[tuple[list[RemoteFile], list[str]]]:
    tasks = [asyncio.ensure_future(each) for each in work]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
