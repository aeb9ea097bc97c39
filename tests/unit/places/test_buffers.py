from __future__ import annotations

import ctypes
import mmap

from pathtrace.places.buffers import Buffers, on_a_page


def test_a_buffer_is_lent_again_only_when_its_last_view_is_gone() -> None:
    buffers = Buffers()
    first = buffers.lend(70_000)
    part = first[10:20]
    first[10:20] = b"0123456789"
    del first
    second = buffers.lend(70_000)
    second[:] = bytes(70_000)
    assert bytes(part) == b"0123456789"
    del second
    third = buffers.lend(66_000)
    third[:] = b"x" * 66_000
    assert bytes(part) == b"0123456789"


def test_memory_comes_back() -> None:
    buffers = Buffers()
    for _ in range(50):
        buffers.lend(100_000)
    assert {size: len(free) for size, free in buffers._free.items()} == {131_072: 1}


def test_little_is_kept_of_what_is_large() -> None:
    buffers = Buffers()
    for length, kept in ((1 << 16, 48), (1 << 21, 32), (1 << 24, 4)):
        loans = [buffers.lend(length) for _ in range(50)]
        del loans
        assert len(buffers._free[length]) == kept


def test_a_loan_has_the_length_asked_for() -> None:
    assert [len(Buffers().lend(length)) for length in (0, 1, 65_536, 65_537)] == [0, 1, 65_536, 65_537]


def test_pages_are_lent_where_pages_are_asked_for() -> None:
    loans = [Buffers(on_a_page).lend(length) for length in (1, 70_000)]
    addresses = [ctypes.addressof(ctypes.c_char.from_buffer(loan)) for loan in loans]
    assert [address % mmap.PAGESIZE for address in addresses] == [0, 0]
