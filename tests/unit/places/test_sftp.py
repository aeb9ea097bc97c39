"""How a read is cut into requests."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as some

from pathtrace.places.sftp import pieces_of


@given(some.integers(0, 5_000_000), some.integers(1, 300_000))
def test_pieces_cover_everything_once_and_none_is_too_long(length: int, most: int) -> None:
    if length // most > 2000:
        most = length // 2000
    end = 0
    for at, size in pieces_of(length, most):
        assert at == end
        assert 0 < size <= most
        end = at + size
    assert end == length


def test_pieces_are_as_few_and_as_equal_as_they_can_be() -> None:
    assert pieces_of(1 << 20, 261_120) == [
        (0, 209_716),
        (209_716, 209_716),
        (419_432, 209_716),
        (629_148, 209_716),
        (838_864, 209_712),
    ]
