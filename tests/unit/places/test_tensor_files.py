from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from gguf import GGUFReader, GGUFWriter
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.numpy import save_file

from pathtrace.places.tensor_files import (
    HeaderError,
    Range,
    begins_like_gguf,
    looks_like_weights,
    tensor_ranges,
)

REUSED = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def write_gguf(path: Path) -> list[int]:
    """A small model with every kind of value; returns where its tensors' data start, in header order."""
    writer = GGUFWriter(path, "llama")
    writer.add_uint32("a.number", 5)
    writer.add_float64("a.float", 0.5)
    writer.add_bool("a.flag", True)
    writer.add_array("a.words", ["one", "zwei", "três" * 40])
    writer.add_array("a.numbers", [1, 2, 3])
    for number, rows in enumerate((7, 300, 1)):
        writer.add_tensor(f"t{number}", np.full((rows, 33), number, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return [int(tensor.data_offset) for tensor in GGUFReader(path).tensors]


def assert_covers(ranges: tuple[Range, ...], size: int) -> None:
    at = 0
    for offset, length in sorted(ranges):
        assert offset == at
        assert length > 0
        at += length
    assert at == size


def test_tensors_of_a_gguf_file_start_where_its_own_library_says(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    starts = write_gguf(path)
    ranges = tensor_ranges(os.fsencode(path))
    assert [offset for offset, _ in ranges] == [0, *starts]
    assert_covers(ranges, path.stat().st_size)
    assert begins_like_gguf(os.fsencode(path))


def test_tensors_of_a_safetensors_file_come_in_the_headers_order(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    save_file({"b": np.zeros(100), "a": np.zeros(7, np.int8), "c": np.zeros((3, 5), np.float32)}, path)
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    starts = [8 + length + value["data_offsets"][0] for key, value in header.items() if key != "__metadata__"]
    ranges = tensor_ranges(os.fsencode(path))
    assert [offset for offset, _ in ranges] == [0, *starts]
    assert_covers(ranges, len(content))


def test_gaps_between_tensors_are_counted_once(tmp_path: Path) -> None:
    header = json.dumps({"x": {"data_offsets": [60, 70]}, "y": {"data_offsets": [10, 20]}}).encode()
    path = tmp_path / "gaps.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header + bytes(100))
    start = 8 + len(header)
    assert tensor_ranges(os.fsencode(path)) == ((0, start + 10), (start + 60, 40), (start + 10, 50))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "claims 0 bytes in a file of 0"),
        (b"\xff" * 100, "claims 18,446,744,073,709,551,615 bytes in a file of 100"),
        ((4).to_bytes(8, "little") + b"nope", "not the JSON"),
        ((2).to_bytes(8, "little") + b"[]", "not the JSON"),
        (b"GGUF" + (9).to_bytes(4, "little"), "version 9 is not known"),
        (b"GGUF\x03\0\0\0" + b"\xff" * 16, "entries in a file of 24 bytes"),
        (b"GGUF\x03\0\0\0" + bytes(8) + b"\x01" + bytes(7), "runs past byte"),
    ],
)
def test_rubbish_is_refused_with_a_reason(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "rubbish"
    path.write_bytes(content)
    with pytest.raises(HeaderError, match=message):
        tensor_ranges(os.fsencode(path))


@REUSED
@given(st.data())
def test_a_damaged_file_is_refused_or_still_covered_exactly(tmp_path: Path, data: st.DataObject) -> None:
    path = tmp_path / "model.gguf"
    if not path.exists():
        write_gguf(path)
        save_file({"a": np.zeros(9), "b": np.zeros(5)}, tmp_path / "model.safetensors")
    original = (tmp_path / data.draw(st.sampled_from(["model.gguf", "model.safetensors"]))).read_bytes()
    damaged = bytearray(original)
    for _ in range(data.draw(st.integers(1, 4))):
        damaged[data.draw(st.integers(0, min(700, len(damaged) - 1)))] = data.draw(st.integers(0, 255))
    damaged = damaged[: data.draw(st.one_of(st.just(len(damaged)), st.integers(0, len(damaged))))]
    broken = tmp_path / "broken"
    broken.write_bytes(damaged)
    try:
        ranges = tensor_ranges(os.fsencode(broken))
    except HeaderError:
        return
    assert_covers(ranges, len(damaged))


def test_weights_are_known_by_their_names() -> None:
    assert [name for name in ("a.GGUF", "b.safetensors", "c.bin", "gguf") if looks_like_weights(name)] == [
        "a.GGUF",
        "b.safetensors",
    ]
