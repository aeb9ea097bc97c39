"""What a files place hands to the engine: long lists of items that are built only when looked at.

Knows how files are cut into blocks; reads nothing.
"""

from __future__ import annotations

import os
from abc import abstractmethod
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import overload

from pathtrace.model.work import Item
from pathtrace.places.file_list import FileList
from pathtrace.places.reading import Block, Reading
from pathtrace.places.tensor_files import Range


class Items(Sequence[Item]):
    """A sequence of which a slice is a view, not a copy."""

    def __init__(self, length: int) -> None:
        self._length = length

    @abstractmethod
    def item(self, index: int) -> Item:
        """The item at ``index``, which is in range."""

    def items(self, indexes: range) -> Iterator[Item]:
        """Those at ``indexes``, which are in range."""
        return map(self.item, indexes)

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Item]:
        return self.items(range(self._length))

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Item]: ...
    def __getitem__(self, index: int | slice) -> Item | Sequence[Item]:
        if isinstance(index, slice):
            return _View(self, range(self._length)[index])
        return self.item(range(self._length)[index])


class _View(Items):
    def __init__(self, whole: Items, indexes: range) -> None:
        super().__init__(len(indexes))
        self._whole = whole
        self._indexes = indexes

    def item(self, index: int) -> Item:
        return self._whole.item(self._indexes[index])

    def items(self, indexes: range) -> Iterator[Item]:
        start, step = self._indexes.start, self._indexes.step
        there = range(start + step * indexes.start, start + step * indexes.stop, step * indexes.step)
        return self._whole.items(there)


class Documents(Items):
    """One item a file."""

    def __init__(self, files: FileList) -> None:
        super().__init__(len(files))
        self._files = files

    def item(self, index: int) -> Item:
        name = self._files.name(index).decode("utf-8", "backslashreplace")
        return Item(name, self._files.sizes[index], os.fsdecode(self._files.path(index)))


class Blocks(Items):
    """One item a block: the ranges of each file in turn, each cut into ``block_bytes``."""

    def __init__(self, readings: Sequence[tuple[Reading, Sequence[Range]]], block_bytes: int) -> None:
        self._readings = [(reading, place) for reading, ranges in readings for place in ranges]
        self._block_bytes = block_bytes
        self._firsts: list[int] = []
        count = 0
        for _, (_, length) in self._readings:
            self._firsts.append(count)
            count += -(-length // block_bytes)
        super().__init__(count)

    def item(self, index: int) -> Item:
        return next(self.items(range(index, index + 1)))

    def items(self, indexes: range) -> Iterator[Item]:
        """Looks up once what the blocks of one range have in common: they are made while others are read."""
        rest, block_bytes = indexes, self._block_bytes
        while rest:
            at = bisect_right(self._firsts, rest[0]) - 1
            reading, (offset, length) = self._readings[at]
            first = self._firsts[at]
            here = rest[: self._within(rest, first, first - (-length // block_bytes))]
            rest = rest[len(here) :]
            name, path = reading.plan.name, reading.plan.path
            for passed in range(
                (here.start - first) * block_bytes, (here.stop - first) * block_bytes, here.step * block_bytes
            ):
                block = Block(name, min(block_bytes, length - passed), path, offset + passed)
                block.reading = reading
                yield block

    @staticmethod
    def _within(indexes: range, first: int, end: int) -> int:
        """How many of the front of ``indexes`` lie in ``first`` up to ``end``."""
        room = end - indexes[0] if indexes.step > 0 else indexes[0] - first + 1
        return min(len(indexes), -(-room // abs(indexes.step)))


def blocks_in(ranges: Sequence[Range], block_bytes: int) -> int:
    """Into how many blocks ``ranges`` are cut."""
    return sum(-(-length // block_bytes) for _, length in ranges)
