"""Files behind ``smb://`` keep the contract of all places, with a real Samba and both libraries."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pathtrace.model.scenario import Action, FilesSpec, Place
from pathtrace.model.work import Item
from pathtrace.places.remote_files import RemoteFiles
from pathtrace.places.smb_libsmbclient import load
from tests.places.contract import Case, PlaceContract
from tests.places.files_described import described
from tests.places.smb_server import USER, SmbServer, need_samba, smb_server
from tests.places.test_files_contract import write_tree

pytestmark = [pytest.mark.server, pytest.mark.needs_root]

SECRET = "not-the-password"


@pytest.fixture(scope="module")
def share() -> Iterator[Path]:
    """Not below pytest's own folder, which the server's user may not enter."""
    with tempfile.TemporaryDirectory(prefix="pathtrace-smb-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture(scope="module")
def server(share: Path) -> Iterator[SmbServer]:
    need_samba()
    shares = {"data": f"path = {share}\nread only = no\nforce user = root"}
    with smb_server(shares) as running:
        yield running


@pytest.fixture(autouse=True, params=["libsmbclient", "smbprotocol"])
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, server: SmbServer) -> None:
    if request.param == "libsmbclient":
        try:
            load()
        except OSError as error:
            pytest.skip(str(error))
    else:
        pytest.importorskip("smbprotocol")
    monkeypatch.setenv("PATHTRACE_SMB", request.param)
    monkeypatch.setenv("HOME", "/nonexistent")
    monkeypatch.setenv("PATHTRACE_SMB_USER", USER)
    monkeypatch.setenv("PATHTRACE_SMB_PASSWORD", server.password)


def remote(place: Place, server: SmbServer, path: str, login: str = "") -> RemoteFiles:
    """The place described, on the share instead of at a path."""
    assert isinstance(place.spec, FilesSpec)
    url = f"smb://{login}127.0.0.1:{server.port}/data/{path}"
    spec = replace(place.spec, path=None, url=url)
    return RemoteFiles(replace(place, host="nas", spec=spec), time.perf_counter_ns, 1)


class TestATreeOverSmb(PlaceContract):
    @pytest.fixture
    def case(self, share: Path, server: SmbServer) -> Case:
        root = share / "tree"
        shutil.rmtree(root, ignore_errors=True)
        total = write_tree(root)
        return Case(
            make=lambda: remote(described(), server, "tree"),
            action=Action.READ,
            bytes=total,
            broken=lambda: remote(described(), server, "not there"),
            failing=Item("gone.txt", 5),
        )


class TestOneDocumentOverSmb(PlaceContract):
    @pytest.fixture
    def case(self, share: Path, server: SmbServer) -> Case:
        (share / "one.pdf").write_bytes(os.urandom(300_001))
        (share / "empty.pdf").touch()
        return Case(
            make=lambda: remote(described(block_bytes=65536, depth=3), server, "one.pdf"),
            action=Action.READ,
            bytes=300_001,
            broken=lambda: remote(described(), server, "empty.pdf"),
            failing=Item("gone.pdf", 5),
        )


class TestWeightsOverSmb(PlaceContract):
    @pytest.fixture
    def case(self, share: Path, server: SmbServer) -> Case:
        (share / "model.safetensors").write_bytes(os.urandom(2_500_000))
        wrong = f"{USER}:{SECRET}@"
        return Case(
            make=lambda: remote(described(depth=2), server, "model.safetensors"),
            action=Action.READ,
            bytes=2_500_000,
            broken=lambda: remote(described(), server, "model.safetensors", wrong),
            secret=SECRET,
        )


class TestWritingOverSmb(PlaceContract):
    @pytest.fixture
    def case(self, share: Path, server: SmbServer) -> Case:
        (share / "output").mkdir(exist_ok=True)
        items = (
            Item("a.txt", 5, data=b"hello"),
            Item("b.txt", 6, texts=("one", "two")),
            Item("c.bin", 3, offset=4, data=memoryview(b"abc")),
        )
        return Case(
            make=lambda: remote(described(data="output"), server, "output"),
            action=Action.WRITE,
            items=items,
            bytes=5 + 7 + 3,
            broken=lambda: remote(described(data="output"), server, "not there"),
        )
