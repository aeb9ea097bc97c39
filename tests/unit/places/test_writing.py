from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from pathtrace.errors import OperationError, PlaceError
from pathtrace.model.work import Item
from pathtrace.places.writing import Writer


def write(writer: Writer, item: Item, answer: str | None = None) -> bytes:
    writer.empty()
    done = writer.write(item, answer)
    assert writer.folder is not None
    (path,) = writer.folder.iterdir()
    content = path.read_bytes()
    assert done.bytes == len(content)
    assert done.finish_ns > 0
    return content


def test_each_kind_of_item_is_written_as_what_it_is(tmp_path: Path) -> None:
    writer = Writer("out", tmp_path, time.perf_counter_ns)
    pieces = Item("n", 0, texts=("one", "zwö"), vectors=((1.0, 0.5), (0.0, 2.0)))
    assert write(writer, Item("n", 3, data=memoryview(b"abc"))) == b"abc"
    assert write(writer, Item("n", 0, texts=("one", "zwö"))) == "one\nzwö".encode()
    assert write(writer, Item("n", 0), "an answer") == b"an answer"
    assert write(writer, Item("../../n", 1, data=b"x")) == b"x"
    assert write(writer, pieces).splitlines()[0] == b'{"text": "one", "vector": [1.0, 0.5]}'


def test_a_full_disk_is_a_failed_operation_that_says_so(tmp_path: Path) -> None:
    writer = Writer("out", tmp_path, time.perf_counter_ns)
    writer.empty()
    writer.write(Item("n", 1, data=b"x"), None)
    assert writer.folder is not None
    (path,) = writer.folder.iterdir()
    path.unlink()
    path.symlink_to("/dev/full")
    with pytest.raises(OperationError) as caught:
        writer.write(Item("n", 1, data=b"x"), None)
    assert str(caught.value) == "out: cannot write n: No space left on device"


def test_a_folder_that_cannot_be_made_is_an_error_of_the_place(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(PlaceError, match=r"out: cannot write into .*/file: Not a directory"):
        Writer("out", tmp_path / "file", time.perf_counter_ns).empty()


def test_the_folder_exists_only_between_empty_and_remove(tmp_path: Path) -> None:
    def state() -> tuple[bool, int]:
        return writer.folder is not None, len(os.listdir(tmp_path))

    writer = Writer("out", tmp_path, time.perf_counter_ns)
    states = [state()]
    for change in (writer.empty, writer.empty, writer.remove, writer.remove):
        change()
        states.append(state())
    assert states == [(False, 0), (True, 1), (True, 1), (False, 0), (False, 0)]
