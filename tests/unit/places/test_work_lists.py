from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pathtrace.places.reading import Plan, Reading
from pathtrace.places.work_lists import Blocks, blocks_in


def clock() -> int:
    return 0


@given(st.lists(st.lists(st.integers(1, 50), max_size=4), max_size=4), st.integers(1, 20))
def test_blocks_cover_every_range_once_in_order(files: list[list[int]], block_bytes: int) -> None:
    work, expected = [], []
    for number, lengths in enumerate(files):
        ranges = [(sum(lengths[:k]), length) for k, length in enumerate(lengths)]
        plan = Plan(f"{number}", f"/{number}", sum(lengths), blocks_in(ranges, block_bytes), False, False)
        work.append((Reading(plan, clock), ranges))
        expected += [(f"{number}", byte) for byte in range(sum(lengths))]
    blocks = Blocks(work, block_bytes)
    covered = [(b.name, byte) for b in blocks for byte in range(b.offset, b.offset + b.size_bytes)]
    assert covered == expected
    assert len(blocks) == sum(reading.plan.blocks for reading, _ in work)
    assert list(blocks[1:]) == list(blocks)[1:]
    assert list(blocks[::-2][1:]) == list(blocks)[::-2][1:]
