from __future__ import annotations

import asyncio
import stat
from pathlib import Path

import pytest

from pathtrace.errors import StoreError
from pathtrace.model.sample import Reading
from pathtrace.redaction import Scrubber
from pathtrace.store import files, records
from pathtrace.store.recorder import Recorder
from tests.unit.store.example import STAGES, WINDOWS, sample


def test_what_was_flushed_can_be_read_while_the_recorder_goes_on(tmp_path: Path) -> None:
    async def use() -> None:
        recorder = await Recorder.start(tmp_path, str)
        recorder.sample(sample(detail=recorder.fault("no"), outcome=1))
        recorder.reading(Reading(3, "disk", "vda", "busy_s", 0.25))
        recorder.window(WINDOWS[0])
        await recorder.flush()

        assert records.read_samples(tmp_path, STAGES, 1)[0].rows.tolist() == [
            tuple(sample(detail=0, outcome=1))
        ]
        assert records.read_readings(tmp_path).rows == (Reading(3, "disk", "vda", "busy_s", 0.25),)
        assert records.read_faults(tmp_path) == ("no",)
        assert records.read_windows(tmp_path) == ((WINDOWS[0],), None)
        await recorder.close()

    asyncio.run(use())


def test_the_task_writes_on_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pathtrace.store.recorder._FLUSH_S", 0)

    async def use() -> int:
        recorder = await Recorder.start(tmp_path, str)
        recorder.sample(sample())
        while len(records.read_samples(tmp_path, STAGES, 0)[0]) == 0:
            await asyncio.sleep(0)
        size = (tmp_path / "samples.bin").stat().st_size
        await recorder.close()
        return size

    assert asyncio.run(use()) == len(records.SAMPLES_HEADER) + records.PACK.size


def test_closing_writes_the_rest_and_says_how_much_there_was(tmp_path: Path) -> None:
    async def use() -> Recorder:
        recorder = await Recorder.start(tmp_path, str)
        files.make_reserve(tmp_path)
        recorder.sample(sample())
        recorder.sample(sample())
        recorder.reading(Reading(3, "disk", "vda", "busy_s", 0.25))
        await recorder.close()
        await recorder.close()
        return recorder

    recorder = asyncio.run(use())

    assert records.read_windows(tmp_path) == ((), records.Recorded(samples=2, readings=1, faults=0))
    assert {p.name: stat.S_IMODE(p.stat().st_mode) for p in tmp_path.iterdir()} == dict.fromkeys(
        ("samples.bin", "readings.csv", "faults.jsonl", "windows.jsonl"), 0o600
    )
    recorder.check_healthy()
    assert recorder.recording_ns > 0


def test_a_fault_is_stored_once_and_without_its_secret(tmp_path: Path) -> None:
    async def use() -> tuple[list[int], tuple[str, ...]]:
        recorder = await Recorder.start(tmp_path, Scrubber(("hunter2",)))
        numbers = [recorder.fault(text) for text in ("a hunter2", "b", "a hunter2", "b http://u:p@h/")]
        recorder.reading(Reading(1, "process", "hunter2", "cpu_s", 1.0))
        await recorder.close()
        return numbers, recorder.faults

    assert asyncio.run(use()) == ([0, 1, 0, 2], ("a ***", "b", "b http://u:***@h/"))
    assert records.read_faults(tmp_path) == ("a ***", "b", "b http://u:***@h/")
    assert records.read_readings(tmp_path).subjects("process") == ("***",)


def test_a_full_disk_ends_the_recording_and_not_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no device that is always full")

    async def use() -> Recorder:
        recorder = await Recorder.start(tmp_path, str)
        files.make_reserve(tmp_path)
        recorder.sample(sample())
        await recorder.flush()
        full = open("/dev/full", "wb", buffering=0)  # noqa: SIM115 - the recorder closes it
        monkeypatch.setattr(recorder._files[files.SAMPLES][0], "write", full.write)
        monkeypatch.setattr(recorder._files[files.SAMPLES][1]._file, "write", full.write)
        recorder.sample(sample())
        await recorder.flush()
        full.close()
        assert recorder.broken.is_set()
        recorder.sample(sample())
        await recorder.close()
        return recorder

    recorder = asyncio.run(use())

    with pytest.raises(StoreError, match="cannot write: no space left on device"):
        recorder.check_healthy()
    assert not (tmp_path / ".reserve").exists()
    assert records.read_windows(tmp_path) == ((), None)
    assert records.read_samples(tmp_path, STAGES, 0)[0].rows.tolist() == [tuple(sample())]


def test_a_folder_that_is_gone_cannot_be_recorded_into(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot write: no such file"):
        asyncio.run(Recorder.start(tmp_path / "gone", str))
