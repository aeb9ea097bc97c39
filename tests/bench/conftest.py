"""Benches run only when asked for (``pytest -m bench``); their table is printed at the end and kept as JSON.

``PATHTRACE_BENCH=short`` makes everything smaller, for a look within five minutes; the bars stay.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.bench.ledger import Ledger

LEDGER = Ledger()


@dataclass(frozen=True, slots=True)
class Sizes:
    file_bytes: int
    files: int
    tree_files: int
    operations: int
    pairs: int


FULL = Sizes(2 << 30, 20_000, 200_000, 1_000_000, 11)
SHORT = Sizes(256 << 20, 4_000, 20_000, 200_000, 7)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if "bench" in config.getoption("markexpr"):
        return
    benches = [item for item in items if "bench" in item.keywords and item.get_closest_marker("bench")]
    if benches:
        config.hook.pytest_deselected(items=benches)
        items[:] = [item for item in items if item not in benches]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if LEDGER.entries:
        terminalreporter.section("benches")
        for entry in LEDGER.entries:
            terminalreporter.write_line(entry.line)
        terminalreporter.write_line(f"kept in {LEDGER.write()}")


@pytest.fixture
def ledger() -> Ledger:
    return LEDGER


@pytest.fixture(scope="session")
def sizes() -> Sizes:
    return SHORT if os.environ.get("PATHTRACE_BENCH") == "short" else FULL


@pytest.fixture(scope="session")
def disk() -> Iterator[Path]:
    """A folder on a real disk (``PATHTRACE_BENCH_DISK`` names another place than the temporary folder)."""
    folder = Path(tempfile.mkdtemp(prefix="pathtrace-bench-", dir=os.environ.get("PATHTRACE_BENCH_DISK")))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def long_file(disk: Path, sizes: Sizes) -> Path:
    path = disk / "long"
    block = os.urandom(1 << 20)
    with path.open("wb") as file:
        for number in range(sizes.file_bytes >> 20):
            file.write(number.to_bytes(8, "little") + block[8:])
        os.fsync(file.fileno())
    return path


@pytest.fixture(scope="session")
def small_files(disk: Path, sizes: Sizes) -> Path:
    """Files of 16 KiB, a hundred a folder."""
    return write_tree(disk / "small", sizes.files, 16 << 10)


def write_tree(root: Path, files: int, size: int) -> Path:
    content = os.urandom(size)
    for number in range(files):
        folder = root / f"{number // 100:04}"
        if number % 100 == 0:
            folder.mkdir(parents=True)
        (folder / f"{number % 100:02}.txt").write_bytes(content)
    return root
