"""Folders of documents whose number and sizes were drawn; text that no two draws share."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

_SYLLABLES = [
    "ar",
    "chi",
    "bo",
    "den",
    "fel",
    "gra",
    "hun",
    "kel",
    "lor",
    "min",
    "nau",
    "pot",
    "sil",
    "tam",
    "ver",
]


@dataclass(frozen=True)
class Documents:
    folder: Path
    files: int
    bytes: int


def write_documents(folder: Path, *, files: int, size: int, draw: random.Random) -> Documents:
    """``files`` text files of ``size`` bytes, give or take a fifth, in two levels of folders."""
    words = ["".join(draw.choices(_SYLLABLES, k=3)) for _ in range(2000)]
    total = 0
    for number in range(files):
        path = folder / f"year{number % 4}" / f"letter{number:04d}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        wanted = int(size * draw.uniform(0.8, 1.2))
        path.write_text(_text(words, wanted, draw))
        total += wanted
    return Documents(folder, files, total)


def write_weights(path: Path, *, size: int, draw: random.Random) -> Path:
    """A file of ``size`` random bytes, written through to its disk."""
    import os

    with path.open("wb") as file:
        left = size
        while left:
            left -= file.write(draw.randbytes(min(left, 1 << 22)))
        file.flush()
        os.fsync(file.fileno())
    return path


def _text(words: list[str], size: int, draw: random.Random) -> str:
    page = " ".join(draw.choices(words, k=4000))
    start = draw.randrange(1000)
    return (page[start:] * (size // (len(page) - start) + 1))[:size]
