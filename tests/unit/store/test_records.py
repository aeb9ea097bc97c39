from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathtrace.errors import RunFileError
from pathtrace.model.sample import PIECE, SAMPLE_COLUMNS, Reading, Sample
from pathtrace.store import records
from tests.unit.store.example import STAGES, sample


def write(folder: Path, name: str, content: bytes) -> None:
    (folder / name).write_bytes(content)


def test_a_sample_is_packed_as_the_columns_say() -> None:
    numbers = Sample(*range(1, len(SAMPLE_COLUMNS) + 1))

    rows = np.frombuffer(records.PACK.pack(*numbers), records.sample_dtype())

    assert rows[0].tolist() == tuple(numbers)


@given(st.tuples(*(st.text(st.characters(), max_size=5),) * 3), st.floats(allow_nan=False), st.integers())
def test_any_reading_comes_back_as_it_was(names: tuple[str, str, str], value: float, at_ns: int) -> None:
    line = b"%d,%b,%b\n" % (at_ns, records.reading_prefix(*names), repr(value).encode())

    assert records.parse_reading(line.decode("ascii")[:-1], records.Names()) == Reading(at_ns, *names, value)


def test_a_record_cut_short_is_left_out(tmp_path: Path) -> None:
    whole = records.PACK.pack(*sample())
    write(tmp_path, "samples.bin", records.SAMPLES_HEADER + whole + whole[:-1])

    table, left_out = records.read_samples(tmp_path, STAGES, 0)

    assert (table.rows.tolist(), left_out) == ([tuple(sample())], 0)


def test_records_that_no_replay_leaves_are_left_out_and_counted(tmp_path: Path) -> None:
    impossible = [
        sample(flow=2),
        sample(flow=-1),
        sample(stage=2),
        sample(outcome=4),
        sample(detail=1),
        sample(elapsed_ns=-1),
    ]
    content = b"".join(records.PACK.pack(*s) for s in [*impossible, sample(detail=0, outcome=1)])
    write(tmp_path, "samples.bin", records.SAMPLES_HEADER + content)

    table, left_out = records.read_samples(tmp_path, STAGES, 1)

    assert (table.rows.tolist(), left_out) == ([tuple(sample(detail=0, outcome=1))], 6)
    assert not table.rows.flags.writeable


@pytest.mark.parametrize("content", [b"", records.SAMPLES_HEADER[:9], records.SAMPLES_HEADER])
def test_a_file_that_has_just_begun_holds_no_samples(tmp_path: Path, content: bytes) -> None:
    write(tmp_path, "samples.bin", content)

    table, left_out = records.read_samples(tmp_path, STAGES, 0)

    assert (len(table), left_out) == (0, 0)


def test_something_else_is_no_file_of_samples(tmp_path: Path) -> None:
    write(tmp_path, "samples.bin", b"PK\x03\x04 and so on")

    with pytest.raises(RunFileError, match="not a file of samples"):
        records.read_samples(tmp_path, STAGES, 0)


def test_samples_of_another_format_are_refused_with_both_numbers(tmp_path: Path) -> None:
    write(tmp_path, "samples.bin", records.SAMPLES_HEADER.replace(b"format 1", b"format 12"))

    with pytest.raises(RunFileError, match="format 12, this version of pathtrace reads format 1"):
        records.read_samples(tmp_path, STAGES, 0)


def test_readings_cut_short_or_garbled_are_left_out_and_the_rest_is_in_order_of_time(tmp_path: Path) -> None:
    lines = b"9,disk,vda,busy_s,1.5\n\xff\x00,,\n1,cpu,all,busy_s,0.5\n12,disk,vd"
    write(tmp_path, "readings.csv", records.READINGS_HEADER + lines)

    assert records.read_readings(tmp_path).rows == (
        Reading(1, "cpu", "all", "busy_s", 0.5),
        Reading(9, "disk", "vda", "busy_s", 1.5),
    )


def test_a_damaged_fault_keeps_its_number(tmp_path: Path) -> None:
    write(tmp_path, "faults.jsonl", b'"one"\n{"tw\n"three"\n"fo')

    assert records.read_faults(tmp_path) == ("one", "(damaged)", "three")


def test_a_file_that_is_gone_is_a_damaged_run(tmp_path: Path) -> None:
    with pytest.raises(RunFileError, match="the run is damaged: cannot read: no such file"):
        records.read_faults(tmp_path)


def test_a_large_file_of_samples_is_mapped_and_read_the_same_after_its_memory_was_given_back(
    tmp_path: Path,
) -> None:
    numbers = Sample(*([0] * len(SAMPLE_COLUMNS)))
    count = PIECE + 10
    content = b"".join(records.PACK.pack(*numbers._replace(operation=number)) for number in range(count))
    (tmp_path / "samples.bin").write_bytes(records.SAMPLES_HEADER + content)
    table, left_out = records.read_samples(tmp_path, (1,), 1)
    table.release()
    assert (len(table), left_out, table.mapping is not None) == (count, 0, True)
    assert table.rows["operation"].tolist() == list(range(count))
