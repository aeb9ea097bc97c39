"""Files behind ``sftp://`` keep the contract of all places, with a real OpenSSH server."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pathtrace.model.scenario import Action, FilesSpec, Place
from pathtrace.model.work import Item
from pathtrace.places.remote_files import RemoteFiles
from tests.places.contract import Case, PlaceContract
from tests.places.files_described import described
from tests.places.ssh_server import SshServer, at_home, ssh_server
from tests.places.test_files_contract import write_tree

pytestmark = pytest.mark.server


def remote(place: Place, url: str) -> RemoteFiles:
    """The place described, behind a URL instead of at a path."""
    assert isinstance(place.spec, FilesSpec)
    return RemoteFiles(
        replace(place, host="nas", spec=replace(place.spec, path=None, url=url)), time.perf_counter_ns, 1
    )


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshServer]:
    with ssh_server(tmp_path_factory.mktemp("sshd")) as running, at_home(running.home):
        yield running


class TestATreeOverSftp(PlaceContract):
    @pytest.fixture
    def case(self, tmp_path: Path, server: SshServer) -> Case:
        root = tmp_path / "tree"
        total = write_tree(root)
        return Case(
            make=lambda: remote(described(), server.url(root)),
            action=Action.READ,
            bytes=total,
            broken=lambda: remote(described(), server.url(tmp_path / "not there")),
            failing=Item("gone.txt", 5),
        )


class TestOneDocumentOverSftp(PlaceContract):
    @pytest.fixture
    def case(self, tmp_path: Path, server: SshServer) -> Case:
        path = tmp_path / "one.pdf"
        path.write_bytes(os.urandom(300_001))
        empty = tmp_path / "empty.pdf"
        empty.touch()
        return Case(
            make=lambda: remote(described(block_bytes=65536, depth=3), server.url(path)),
            action=Action.READ,
            bytes=300_001,
            broken=lambda: remote(described(), server.url(empty)),
            failing=Item("gone.pdf", 5),
        )


class TestWeightsOverSftp(PlaceContract):
    @pytest.fixture
    def case(self, tmp_path: Path, server: SshServer) -> Case:
        path = tmp_path / "model.safetensors"
        path.write_bytes(os.urandom(2_500_000))
        secret = "not-the-password"
        wrong = server.url(path).replace("@", f":{secret}@")
        return Case(
            make=lambda: remote(described(depth=2), server.url(path)),
            action=Action.READ,
            bytes=2_500_000,
            broken=lambda: remote(described(), wrong),
            secret=secret,
        )


class TestWritingOverSftp(PlaceContract):
    @pytest.fixture
    def case(self, tmp_path: Path, server: SshServer) -> Case:
        target = tmp_path / "output"
        target.mkdir()
        items = (
            Item("a.txt", 5, data=b"hello"),
            Item("b.txt", 6, texts=("one", "two")),
            Item("c.bin", 3, offset=4, data=memoryview(b"abc")),
        )
        return Case(
            make=lambda: remote(described(data="output"), server.url(target)),
            action=Action.WRITE,
            items=items,
            bytes=5 + 7 + 3,
            broken=lambda: remote(described(data="output"), server.url(tmp_path / "not there")),
        )
