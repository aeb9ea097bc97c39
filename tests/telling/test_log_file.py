"""The log: whole lines of JSON, whoever else reads or writes, and whatever broke off before."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
import signal
import stat
from pathlib import Path

import pytest

from pathtrace.errors import StoreError
from pathtrace.telling.log_file import append

fcntl = pytest.importorskip("fcntl", reason="this system has no such locks")
resource = pytest.importorskip("resource", reason="this system has no limits to plant a full disk with")
WRITERS, LINES = 4, 50


def write_many(path: str, writer: int) -> None:
    for number in range(LINES):
        append(Path(path), json.dumps({"writer": writer, "number": number, "filler": "x" * 8000}))


def test_lines_of_several_writers_stay_whole_while_they_are_read(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.touch()
    spawn = multiprocessing.get_context("spawn")
    writers = [spawn.Process(target=write_many, args=(str(path), number)) for number in range(WRITERS)]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        for line in path.read_bytes().splitlines(keepends=True):
            if line.endswith(b"\n"):  # what is not ended yet is the last line, and read the next time
                json.loads(line)
    for writer in writers:
        writer.join()
    said = [json.loads(line) for line in path.read_text().splitlines()]
    expected = [(writer, number) for writer in range(WRITERS) for number in range(LINES)]
    assert sorted((each["writer"], each["number"]) for each in said) == expected


def test_a_piece_that_broke_off_costs_only_itself(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text('{"a": 1}\n{"b": ')
    append(path, '{"c": 3}')
    assert path.read_text() == '{"a": 1}\n{"b": \n{"c": 3}\n'


def test_a_new_log_is_its_owners(tmp_path: Path) -> None:
    append(tmp_path / "log.jsonl", "{}")
    assert stat.S_IMODE((tmp_path / "log.jsonl").stat().st_mode) == 0o600


def test_without_room_for_a_whole_line_there_is_none_of_it(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    append(path, '{"a": 1}')
    before = path.read_bytes()
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 5, limit[1]))
        with pytest.raises(StoreError, match="cannot write: there was no room for a whole line"):
            append(path, '{"b": 2, "c": 3}')
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        signal.signal(signal.SIGXFSZ, handler)
    assert path.read_bytes() == before
    append(path, '{"b": 2}')
    assert path.read_text() == '{"a": 1}\n{"b": 2}\n'


def test_a_file_system_without_locks_has_a_log_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refused)
    append(tmp_path / "log.jsonl", "{}")
    assert (tmp_path / "log.jsonl").read_text() == "{}\n"


@pytest.mark.parametrize(
    ("name", "why"),
    [("missing/log", "no such file or directory"), ("folder", "is a directory"), ("pipe", "no plain file")],
)
def test_a_log_that_cannot_be_written_is_a_clear_error(name: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(StoreError, match=why):
        append(tmp_path / name, "{}")
