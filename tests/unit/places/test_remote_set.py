"""What a files URL means, and which of the files behind it are taken."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from pathtrace.errors import PlaceError
from pathtrace.model.scenario import FilesSpec, Place
from pathtrace.places.file_list import FileList
from pathtrace.places.remote import RemoteFile, Target
from pathtrace.places.remote_set import InBlocks, find_files, layout, shown_target, target_of
from tests.places.files_described import described

URL = "sftp://nas/docs"


def place(**options: object) -> Place:
    made = described(**options)  # type: ignore[arg-type]  # passed through as they are
    assert isinstance(made.spec, FilesSpec)
    return replace(made, spec=replace(made.spec, url=URL))


def found(described_place: Place, *files: RemoteFile, url: str = URL) -> FileList:
    async def listing() -> AsyncIterator[RemoteFile]:
        for file in files:
            yield file

    return asyncio.run(find_files(described_place, target_of(url), listing(), 1))


def names(files: FileList) -> list[bytes]:
    return [files.name(index) for index in range(len(files))]


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("sftp://nas/docs", Target("sftp", "nas", None, None, None, "/docs")),
        ("sftp://nas/docs/", Target("sftp", "nas", None, None, None, "/docs")),
        ("sftp://nas", Target("sftp", "nas", None, None, None, "")),
        ("sftp://nas/", Target("sftp", "nas", None, None, None, "/")),
        ("sftp://nas/~", Target("sftp", "nas", None, None, None, "")),
        ("sftp://nas/~/docs", Target("sftp", "nas", None, None, None, "docs")),
        ("sftp://nas/~docs", Target("sftp", "nas", None, None, None, "/~docs")),
        ("sftp://a%40b:p%2F%25@nas:2222/x%20y", Target("sftp", "nas", 2222, "a@b", "p/%", "/x y")),
        ("sftp://anna@[fd00::7]:22/x", Target("sftp", "fd00::7", 22, "anna", None, "/x")),
        ("sftp://nas/who?#me", Target("sftp", "nas", None, None, None, "/who?#me")),
        ("sftp://nas/%FF", Target("sftp", "nas", None, None, None, "/\udcff")),
        ("smb://nas/share/docs/", Target("smb", "nas", None, None, None, "share/docs")),
    ],
)
def test_a_url_is_taken_apart(url: str, target: Target) -> None:
    assert target_of(url) == target


def test_a_url_is_shown_without_user_and_password() -> None:
    target = target_of("sftp://anna:geheim@[fd00::7]:22/a%00b")
    assert shown_target(target) == "sftp://[fd00::7]:22/a\\x00b"
    assert "geheim" not in repr(target)


def test_files_are_sorted_by_their_bytes_and_our_own_folders_left_out() -> None:
    files = found(
        place(),
        RemoteFile("b", 2),
        RemoteFile("\udcff", 3),
        RemoteFile("a/z", 1),
        RemoteFile(".pathtrace-x/y", 9),
        RemoteFile("a/.pathtrace-x/y", 9),
        RemoteFile(".pathtrace-note", 4),
    )
    assert names(files) == [b".pathtrace-note", b"a/z", b"b", b"\xff"]
    assert list(files.sizes) == [4, 1, 2, 3]
    assert (files.total_bytes, files.alone) == (10, False)


def test_exclude_wins_over_include_and_a_folder_stands_for_what_is_in_it() -> None:
    taken = found(
        place(include=("**/*.txt",), exclude=("old",)),
        RemoteFile("a.txt", 1),
        RemoteFile("b.pdf", 1),
        RemoteFile("old/c.txt", 1),
        RemoteFile("new/c.txt", 1),
    )
    assert names(taken) == [b"a.txt", b"new/c.txt"]


def test_a_sample_is_drawn_and_the_whole_remembered() -> None:
    files = found(place(sample=3), *(RemoteFile(f"{n:02}", 10) for n in range(20)))
    assert (len(files), files.total_bytes, files.whole_bytes) == (3, 30, 200)


@pytest.mark.parametrize(
    ("files", "options", "message"),
    [
        ((), {}, "no files in sftp://nas/docs"),
        ((RemoteFile("a", 0),), {}, "only empty files in sftp://nas/docs"),
        (
            (RemoteFile("a", 1),),
            {"include": ("*.x",)},
            "no files that include and exclude leave in sftp://nas/docs",
        ),
        ((RemoteFile("", 0),), {}, "sftp://nas/docs is empty"),
    ],
)
def test_nothing_to_read_is_refused(
    files: tuple[RemoteFile, ...], options: dict[str, object], message: str
) -> None:
    with pytest.raises(PlaceError) as caught:
        found(place(**options), *files)
    assert str(caught.value) == f"archive: {message}"


def test_how_files_are_counted() -> None:
    tree = found(place(), RemoteFile("a.gguf", 1), RemoteFile("b.txt", 5))
    weights = found(place(), RemoteFile("a.gguf", 9), RemoteFile("b.json", 5))
    document = found(place(), RemoteFile("", 64 << 20), url="sftp://nas/a.pdf")
    long = found(place(), RemoteFile("", (64 << 20) + 1), url="sftp://nas/a.pdf")
    assert layout(place(), tree) is None
    assert layout(place(), weights) == (InBlocks(0, whole=False), InBlocks(1, whole=True))
    assert layout(place(data="weights"), tree) == (InBlocks(0, whole=False), InBlocks(1, whole=False))
    assert layout(place(), document) == (InBlocks(0, whole=True),)
    assert layout(place(), long) == (InBlocks(0, whole=False),)
