"""Every way of using a files place keeps the contract of all places."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from pathtrace.model.scenario import Access, Action, Made, Place
from pathtrace.model.work import Item
from pathtrace.places.files import Files
from tests.places.contract import Case, PlaceContract
from tests.places.files_described import described


def files(place: Place) -> Files:
    return Files(place, time.perf_counter_ns, 1)


def write_tree(root: Path) -> int:
    total = 0
    for number in range(40):
        path = root / f"{number % 4}" / f"note {number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        content = os.urandom(number * 700)
        path.write_bytes(content)
        total += len(content)
    return total


class TestATree(PlaceContract):
    @pytest.fixture
    def case(self, tmp_path: Path) -> Case:
        root = tmp_path / "tree"
        total = write_tree(root)
        missing = Item("gone.txt", 5, str(root / "gone.txt"))
        return Case(
            make=lambda: files(described(root)),
            action=Action.READ,
            bytes=total,
            broken=lambda: files(described(tmp_path / "not there")),
            failing=missing,
        )


class TestAMappedTree(PlaceContract):
    @pytest.fixture
    def case(self, tmp_path: Path) -> Case:
        root = tmp_path / "tree"
        total = write_tree(root)
        missing = Item("gone.txt", 5, str(root / "gone.txt"))
        place = described(root, access=Access.MMAP, block_bytes=4096)
        return Case(
            make=lambda: files(place),
            action=Action.READ,
            bytes=total,
            broken=lambda: files(described(root, include=("*.none",))),
            failing=missing,
        )


class TestATreeReadDirectly(PlaceContract):
    @pytest.fixture
    def case(self, tmp_path: Path) -> Case:
        root = tmp_path / "tree"
        total = write_tree(root)
        return Case(
            make=lambda: files(described(root, access=Access.DIRECT, block_bytes=10_000)),
            action=Action.READ,
            bytes=total,
            broken=lambda: files(described(tmp_path / "not there", access=Access.DIRECT)),
            failing=Item("gone.txt", 5, str(root / "gone.txt")),
        )


class TestOneDocument(PlaceContract):
    @pytest.fixture
    def case(self, tmp_path: Path) -> Case:
        path = tmp_path / "one.pdf"
        path.write_bytes(os.urandom(300_001))
        empty = tmp_path / "empty.pdf"
        empty.touch()
        return Case(
            make=lambda: files(described(path, block_bytes=65536, depth=3)),
            action=Action.READ,
            bytes=300_001,
            broken=lambda: files(described(empty)),
            failing=Item("gone.pdf", 5, str(tmp_path / "gone.pdf")),
        )


class TestWeights(PlaceContract):
    @pytest.fixture
    def case(self, tmp_path: Path) -> Case:
        path = tmp_path / "model.safetensors"
        save_file({"b": np.zeros(70_000, np.float32), "a": np.ones(3, np.float16)}, path)
        place = described(path, block_bytes=100_000, depth=2)
        return Case(
            make=lambda: files(place),
            action=Action.READ,
            bytes=path.stat().st_size,
            broken=lambda: files(described(tmp_path / "gone.safetensors")),
            failing=Item("gone.safetensors", 5, str(tmp_path / "gone.safetensors")),
        )


class TestMadeDocuments(PlaceContract):
    @pytest.fixture
    def case(self, tmp_path: Path) -> Case:
        made = described(make=Made(20, 200_000, "text"))
        impossible = described(make=Made(1, 1 << 60, "text"))
        return Case(
            make=lambda: files(made),
            action=Action.READ,
            bytes=200_000,
            broken=lambda: files(impossible),
            failing=Item("gone.txt", 5, str(tmp_path / "gone.txt")),
        )


class TestWriting(PlaceContract):
    @pytest.fixture
    def case(self, tmp_path: Path) -> Case:
        target = tmp_path / "output"
        target.mkdir()
        items = (
            Item("a.txt", 5, data=b"hello"),
            Item("b.txt", 6, texts=("one", "two")),
            Item("c.bin", 3, offset=4, data=memoryview(b"abc")),
        )
        return Case(
            make=lambda: files(described(target, data="output")),
            action=Action.WRITE,
            items=items,
            bytes=5 + 7 + 3,
            broken=lambda: files(described(tmp_path / "not there", data="output")),
            failing=Item("d.bin", 3, offset=-1, data=b"abc"),
        )
