from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pathtrace.errors import PlaceError, UsageError
from pathtrace.model.run import Mount
from pathtrace.model.scenario import Access, FilesSpec, Place
from pathtrace.places.file_set import Layout, facts, find_files, fingerprint, layout, refuse_direct
from tests.places.files_described import described


def found(place: Place, root: Path) -> Layout:
    return layout(place, find_files(place, root, 1, lambda: False))


def shape(place: Place, root: Path) -> list[tuple[Access, bool]] | None:
    """(access, whole) of each file in blocks; None for one operation a file."""
    blocks = found(place, root).blocks
    return None if blocks is None else [(block.access, block.whole) for block in blocks]


def test_one_file_is_a_document_or_weights_by_its_name_its_first_bytes_or_what_is_said_of_it(
    tmp_path: Path,
) -> None:
    for name, content in {
        "a.pdf": b"x",
        "b.safetensors": b"x",
        "sha256-1": b"GGUFxxxx",
        "c.bin": b"x",
    }.items():
        (tmp_path / name).write_bytes(content)
    assert shape(described(), tmp_path / "a.pdf") == [(Access.READ, True)]
    assert shape(described(access=Access.MMAP), tmp_path / "a.pdf") == [(Access.MMAP, True)]
    assert shape(described(), tmp_path / "b.safetensors") == [(Access.MMAP, False)]
    assert shape(described(access=Access.READ), tmp_path / "b.safetensors") == [(Access.READ, False)]
    assert shape(described(access=Access.DIRECT), tmp_path / "b.safetensors") == [(Access.DIRECT, False)]
    assert shape(described(), tmp_path / "sha256-1") == [(Access.MMAP, False)]
    assert shape(described(data="weights"), tmp_path / "c.bin") == [(Access.READ, False)]


def test_a_long_file_of_no_known_kind_is_handed_on_block_by_block(tmp_path: Path) -> None:
    path = tmp_path / "model.bin"
    path.touch()
    os.truncate(path, (64 << 20) + 1)
    assert shape(described(), path) == [(Access.READ, False)]
    os.truncate(path, 64 << 20)
    assert shape(described(), path) == [(Access.READ, True)]


def test_a_tree_is_documents_unless_weights_make_up_most_of_it(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_bytes(b"x" * 100)
    (tmp_path / "model.gguf").write_bytes(b"x" * 90)
    assert shape(described(), tmp_path) is None
    assert shape(described(data="weights"), tmp_path) is not None
    (tmp_path / "model.gguf").write_bytes(b"x" * 110)
    assert shape(described(), tmp_path) == [(Access.MMAP, False), (Access.READ, True)]
    assert shape(described(data="original"), tmp_path) is None


@pytest.mark.parametrize("fstype", ["tmpfs", "ramfs"])
def test_direct_reads_of_files_in_memory_are_refused_with_what_to_do(tmp_path: Path, fstype: str) -> None:
    (tmp_path / "a").write_bytes(b"x")
    place = described(access=Access.DIRECT)
    listed = find_files(place, tmp_path, 1, lambda: False)
    with pytest.raises(PlaceError) as caught:
        refuse_direct(place, listed, Mount("/", fstype, fstype, None, False))
    assert str(caught.value) == (
        f"archive: `access: direct` does not work for {tmp_path}/a: {fstype} keeps its files in memory: "
        "there is nothing to read past it"
    )
    assert caught.value.hint == (
        "use `access: read`; with `start: cold` each repeat begins with an emptied cache"
    )
    refuse_direct(described(), listed, Mount("/", fstype, fstype, None, False))


def test_holes_are_counted_and_told(tmp_path: Path) -> None:
    path = tmp_path / "hole"
    path.touch()
    os.truncate(path, 1 << 20)
    told = facts(find_files(described(), path, 1, lambda: False), "read", ())
    assert told.sparse_bytes == 1 << 20
    assert told.warnings == ("1 MiB of 1 MiB take no room on the disk (sparse or compressed)",)


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder that any user may enter."""
    root = Path(tempfile.mkdtemp())
    root.chmod(0o755)
    yield root
    for folder in (root / "closed", root / "open" / "below"):
        if folder.exists():
            folder.chmod(0o700)
    shutil.rmtree(root)


@pytest.fixture
def nobody(public: Path) -> Iterator[None]:
    """No rights: root sees everything, so the test gives its rights up for the while."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def locked(root: Path, name: str) -> Path:
    folder = root / name
    folder.mkdir()
    (folder / "inside").write_bytes(b"x")
    folder.chmod(0)
    return folder


@pytest.fixture
def folders(public: Path) -> Path:
    (public / "open").mkdir()
    (public / "open" / "a").write_bytes(b"x")
    locked(public, "closed")
    locked(public / "open", "below")
    return public


def test_a_folder_without_permission_is_an_error(folders: Path, nobody: None) -> None:
    with pytest.raises(PlaceError) as caught:
        find_files(described(), folders / "closed", 1, lambda: False)
    assert str(caught.value) == f"archive: no permission to read {folders}/closed"


def test_a_folder_without_permission_further_down_is_a_warning(folders: Path, nobody: None) -> None:
    files = find_files(described(), folders / "open", 1, lambda: False)
    assert [files.name(index) for index in range(len(files))] == [b"a"]
    assert files.warnings == ("passed over: 1 folders could not be read (Permission denied), such as below",)


def test_a_url_is_not_in_this_version() -> None:
    place = described("/x")
    assert isinstance(place.spec, FilesSpec)
    place = replace(place, spec=replace(place.spec, path=None, url="smb://user:hush@nas/docs"))
    with pytest.raises(UsageError) as caught:
        find_files(place, Path("/x"), 1, lambda: False)
    assert "not available in this version" in str(caught.value)
    assert "hush" not in f"{caught.value} {caught.value.hint}"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes in the file system")
def test_a_file_that_became_a_pipe_does_not_hold_up_the_fingerprint(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("text")
    files = find_files(described(tmp_path), tmp_path, 1, lambda: False)
    before = fingerprint(files, lambda: False)
    (tmp_path / "a.txt").unlink()
    os.mkfifo(tmp_path / "a.txt")
    assert fingerprint(files, lambda: False) != before
