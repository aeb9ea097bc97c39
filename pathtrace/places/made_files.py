"""Makes files from a seed: documents of made-up words, or valid safetensors files of random numbers.

The same seed, count and size give the same bytes, whatever the order of making. Nothing is sparse and
nothing compresses to nothing. Where the files go, and whether there is room, is the caller's affair.
"""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pathtrace.model.scenario import Made

_CHUNK = 4 << 20
_VOCABULARY = 6_000
_TENSOR_BYTES = 8 << 20
_FOLDER_FILES = 1_000
_CONSONANTS = (
    "b",
    "br",
    "d",
    "f",
    "g",
    "gr",
    "h",
    "k",
    "l",
    "m",
    "n",
    "p",
    "pl",
    "r",
    "s",
    "st",
    "t",
    "tr",
    "v",
    "z",
)
_SYLLABLES = [consonant + vowel for consonant in _CONSONANTS for vowel in "aeiou"]


def made_root(made: Made, folder: Path) -> Path:
    """What a place over made files reads: the file itself if there is one, else the folder."""
    return folder / made_name(made, 0) if made.files == 1 else folder


def made_name(made: Made, index: int) -> str:
    """Relative path of one made file; a thousand share a folder."""
    stem, suffix = ("weights", "safetensors") if made.kind == "weights" else ("document", "txt")
    if made.files == 1:
        return f"{stem}.{suffix}"
    return f"{index // _FOLDER_FILES:03}/{stem}-{index:06}.{suffix}"


def made_sizes(made: Made, seed: int) -> list[int]:
    """Sizes that add up to ``made.bytes``: log-normal for documents (as real ones), equal for weights."""
    if made.kind == "weights":
        shares = np.ones(made.files)
    else:
        shares = np.random.default_rng([seed, 1]).lognormal(0.0, 1.0, made.files)
    ends = np.floor(np.cumsum(shares) / shares.sum() * made.bytes + 0.5).astype(np.int64)
    ends[-1] = made.bytes
    return [int(size) for size in np.diff(ends, prepend=0)]


def make_file(
    made: Made, seed: int, index: int, size: int, folder: Path, stopped: Callable[[], bool]
) -> None:
    """Write one file and force it to the disk. OSError, or ValueError if weights are too small to be any."""
    path = folder / made_name(made, index)
    path.parent.mkdir(parents=True, exist_ok=True)
    rng = np.random.Generator(np.random.SFC64([seed, 2, index]))
    with open(path, "xb", buffering=0) as file:
        chunks = _weights(size, rng) if made.kind == "weights" else _text(size, rng, _words(seed))
        for chunk in chunks:
            if stopped():
                return
            view = memoryview(chunk)
            while view:
                view = view[file.write(view) :]
        os.fsync(file.fileno())


@functools.lru_cache(maxsize=2)
def _words(seed: int) -> list[bytes]:
    """Made-up words, then the same at a sentence's end, then at its start."""
    rng = np.random.default_rng([seed, 3])
    lengths = rng.integers(1, 5, _VOCABULARY)
    picks = rng.integers(0, len(_SYLLABLES), (_VOCABULARY, 4))
    words = [
        "".join(_SYLLABLES[pick] for pick in row[:length]) for row, length in zip(picks, lengths, strict=True)
    ]
    ends = [f"{word}.\n\n" if number % 6 == 0 else f"{word}. " for number, word in enumerate(words)]
    return [text.encode() for text in [w + " " for w in words] + ends + [w.title() + " " for w in words]]


def _text(size: int, rng: np.random.Generator, words: list[bytes]) -> Iterator[bytes]:
    left = size
    while left > 0:
        count = min(_CHUNK, left) // 4 + 64
        text = b"".join(map(words.__getitem__, _word_numbers(count, rng).tolist()))[: min(left, _CHUNK)]
        left -= len(text)
        yield text


def _word_numbers(count: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Few words often and many seldom, as in language; a sentence has about twelve."""
    numbers = (_VOCABULARY ** rng.random(count)).astype(np.int64) - 1
    ends = rng.random(count) < 1 / 12
    starts = np.roll(ends, 1)
    starts[0] = True
    return np.where(starts, numbers + 2 * _VOCABULARY, np.where(ends, numbers + _VOCABULARY, numbers))


def _weights(size: int, rng: np.random.Generator) -> Iterator[bytes]:
    header = _header(size)
    yield header
    for start in range(len(header), size, _CHUNK):
        yield rng.bytes(min(_CHUNK, size - start))


def _header(size: int) -> bytes:
    """A safetensors header whose tensors fill the file to the last byte."""
    padded = 8
    while padded < size - 8:  # the header's length depends on the offsets, and they on it
        text = _tensors(size - 8 - padded)
        if len(text) <= padded:
            return padded.to_bytes(8, "little") + text.ljust(padded)
        padded = -(-len(text) // 8) * 8
    raise ValueError(f"{size:,} bytes are too few for a weights file")


def _tensors(data_bytes: int) -> bytes:
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    for number, start in enumerate(range(0, data_bytes, _TENSOR_BYTES)):
        end = min(start + _TENSOR_BYTES, data_bytes)
        length = end - start
        kind, shape = ("F16", [length // 2]) if length % 2 == 0 else ("U8", [length])
        header[f"layers.{number}.weight"] = {"dtype": kind, "shape": shape, "data_offsets": [start, end]}
    return json.dumps(header, separators=(",", ":")).encode()
