from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pathtrace.places.weights_memory import WeightsMemory


@given(st.lists(st.binary(max_size=40), max_size=20))
def test_all_bytes_are_taken_however_small_the_ring(blocks: list[bytes]) -> None:
    memory = WeightsMemory(16)
    assert [memory.take(memoryview(block)) for block in blocks] == [len(block) for block in blocks]
    memory.release()


def test_what_was_taken_last_lies_in_memory() -> None:
    memory = WeightsMemory(8)
    memory.take(b"abcdef")
    memory.take(b"123456")
    assert memory._ring is not None
    assert bytes(memory._ring) == b"3456ef12"
    memory.release()
