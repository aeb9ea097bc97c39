"""What lies on the lab's disks: large files, many small ones, and documents that nobody here made.

The bytes are random and cannot be compressed; the same seed gives the same ones. Best made in memory,
as the lab's disks do: there 5,000 files of 16 KiB take 0.2 s, and on ext4 ten times that.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

SYSTEM_DOCUMENTS = Path("/usr/share/doc")
_PIECE = 4 << 20

Content = Callable[[Path], object]
"""Fills the folder that it is given."""


def large_files(folder: Path, *, sizes: list[int], seed: int) -> list[Path]:
    """One file of random bytes for each of ``sizes`` (bytes): ``large0.bin``, ``large1.bin``, …"""
    import numpy as np

    random = np.random.Generator(np.random.SFC64(seed))
    paths = []
    for number, size in enumerate(sizes):
        path = folder / f"large{number}.bin"
        with path.open("wb") as file:
            for start in range(0, size, _PIECE):
                file.write(random.bytes(min(_PIECE, size - start)))
        paths.append(path)
    return paths


def small_files(
    folder: Path, *, files: int, size: int, seed: int, a_folder: int = 500, spread: float = 0.0
) -> list[Path]:
    """``files`` files of random bytes, no two alike, ``a_folder`` of them in each folder.

    Each of ``size`` bytes, or by up to ``spread`` (a ratio of it) more or less.
    """
    import numpy as np

    random = np.random.Generator(np.random.SFC64(seed))
    paths = []
    for number in range(files):
        if number % a_folder == 0:
            beneath = folder / f"part{number // a_folder:03d}"
            beneath.mkdir()
        path = beneath / f"small{number:05d}.bin"
        path.write_bytes(
            random.bytes(round(size * (1 + spread * (2 * random.random() - 1))) if spread else size)
        )
        paths.append(path)
    return paths


def system_documents(folder: Path) -> list[Path]:
    """A copy of what the system's packages brought: text, gzip, HTML, PDF; without its links."""
    paths = []
    for source in sorted(SYSTEM_DOCUMENTS.rglob("*")):
        if source.is_file() and not source.is_symlink():
            target = folder / source.relative_to(SYSTEM_DOCUMENTS)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
            paths.append(target)
    return paths
