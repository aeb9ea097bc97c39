from __future__ import annotations

import mmap

import pytest

from pathtrace.places.smb_memory import SharedMemory


@pytest.mark.parametrize("length", [1, 65_536, 65_537, 3 << 20])
def test_a_loan_is_as_long_as_was_asked_for_and_its_region_a_power_of_two(length: int) -> None:
    loan = SharedMemory().lend(length)
    assert len(loan.view) == length
    assert loan.region.size >= max(length, 1 << 16)
    assert loan.region.size & (loan.region.size - 1) == 0


def test_what_another_mapping_of_the_region_writes_is_seen() -> None:
    loan = SharedMemory().lend(100)
    with mmap.mmap(loan.region.descriptor, loan.region.size) as other:
        other[:5] = b"hello"
    assert bytes(loan.view[:5]) == b"hello"


def test_a_region_is_lent_again_only_when_no_view_of_it_is_left() -> None:
    memory = SharedMemory()
    first = memory.lend(100)
    number, part = first.region.number, first.view[10:20]
    del first
    second = memory.lend(100)
    assert second.region.number != number
    del part
    assert memory.lend(100).region.number == number


def test_regions_that_are_no_more_are_named_and_those_that_may_be_lent_again_are_not() -> None:
    memory = SharedMemory()
    loans = [memory.lend(32 << 20) for _ in range(5)]
    known = {loan.region.number for loan in loans}
    assert memory.gone(known) == set()
    loans.clear()
    assert len(memory.gone(known)) == 1  # four of this size are kept
