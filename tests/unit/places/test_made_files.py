from __future__ import annotations

import os
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathtrace.model.scenario import Made
from pathtrace.places.made_files import made_name, made_sizes, make_file
from pathtrace.places.tensor_files import tensor_ranges


def never() -> bool:
    return False


@given(st.integers(1, 200), st.integers(0, 10**9), st.integers(0, 99), st.sampled_from(["text", "weights"]))
def test_sizes_add_up_to_the_total(files: int, total: int, seed: int, kind: str) -> None:
    sizes = made_sizes(Made(files, total, kind), seed)
    assert len(sizes) == files
    assert sum(sizes) == total
    assert min(sizes) >= 0


@pytest.mark.parametrize("size", [0, 1, 5_000, 4_200_000])
def test_text_has_its_size_is_no_hole_and_does_not_shrink_to_nothing(tmp_path: Path, size: int) -> None:
    made = Made(1, size, "text")
    make_file(made, 7, 0, size, tmp_path, never)
    path = tmp_path / made_name(made, 0)
    content = path.read_bytes()
    assert len(content) == size
    assert path.stat().st_blocks * 512 >= size
    assert content.isascii()
    assert size < 5_000 or len(zlib.compress(content)) > size / 4


@pytest.mark.parametrize("size", [*range(150, 400, 7), 8_400_000, 33_333_333])
def test_weights_have_their_size_and_a_header_that_fits(tmp_path: Path, size: int) -> None:
    made = Made(1, size, "weights")
    make_file(made, 7, 0, size, tmp_path, never)
    path = tmp_path / made_name(made, 0)
    assert path.stat().st_size == size
    assert sum(length for _, length in tensor_ranges(os.fsencode(path))) == size


def test_weights_too_small_to_be_any_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="100 bytes are too few for a weights file"):
        make_file(Made(1, 100, "weights"), 7, 0, 100, tmp_path, never)


def test_a_thousand_files_share_a_folder() -> None:
    made = Made(2_000, 1, "text")
    assert [made_name(made, index) for index in (0, 999, 1000)] == [
        "000/document-000000.txt",
        "000/document-000999.txt",
        "001/document-001000.txt",
    ]
