"""Process places with real commands: what they give, how they fail, that nothing outlives them."""

from __future__ import annotations

import asyncio
import gzip
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from pathtrace.errors import OperationError, PlaceError
from pathtrace.model.scenario import Action, Place, PlaceKind, ProcessSpec
from pathtrace.model.work import Done, Item
from pathtrace.places.command import Command
from pathtrace.places.process import Process

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="commands need POSIX")


def _place(command: tuple[str, ...] | None) -> Process:
    spec = ProcessSpec(run="chunk" if command is None else None, command=command, url=None)
    place = Place("indexer", PlaceKind.PROCESS, "workstation", 2, 16, 60.0, None, spec)
    return Process(place, time.perf_counter_ns, 1)


def _python(script: str, *arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-S", "-c", script, *arguments)


def _perform(place: Process, scratch: Path, item: Item) -> Done:
    async def drive() -> Done:
        await place.open(scratch)
        try:
            return await place.perform(Action.PROCESS, (item,))
        finally:
            await place.close()

    return asyncio.run(drive())


def _document(data: bytes, path: str | None = None) -> Item:
    return Item("a.txt", len(data), path=path, data=data)


def test_chunk_hands_on_the_whole_text_in_pieces(tmp_path: Path) -> None:
    text = "Grüße aus dem Archiv. " * 300
    done = _perform(_place(None), tmp_path, _document(text.encode()))
    assert "".join(done.items[0].texts) == text
    assert max(map(len, done.items[0].texts)) <= 1000
    assert done.bytes == len(text.encode())
    assert 0 <= done.cpu_ns <= done.elapsed_ns * 2


def test_chunk_takes_binary_input_without_a_fault(tmp_path: Path) -> None:
    done = _perform(_place(None), tmp_path, _document(gzip.compress(os.urandom(5000))))
    assert done.bytes == sum(len(text.encode()) for text in done.items[0].texts) > 5000


def test_a_command_gets_the_document_on_standard_input(tmp_path: Path) -> None:
    script = "import sys,json\nfor w in sys.stdin.read().split(): print(json.dumps(w))"
    done = _perform(_place(_python(script)), tmp_path, _document(b"one two three"))
    assert done.items == (Item("a.txt", 11, texts=("one", "two", "three")),)
    assert done.bytes == 11
    assert 0 < done.setup_ns <= done.first_byte_ns <= done.elapsed_ns


def test_a_large_document_and_a_large_answer_do_not_deadlock(tmp_path: Path) -> None:
    script = "import sys,json\nfor line in sys.stdin: print(json.dumps(line)); sys.stderr.write('x'*200)"
    data = (b"y" * 999 + b"\n") * 5000
    done = _perform(_place(_python(script)), tmp_path, _document(data))
    assert done.bytes == len(data)


def test_a_command_with_path_reads_the_document_itself(tmp_path: Path) -> None:
    file = tmp_path / "big.txt"
    file.write_bytes(b"z" * 20_000_000)
    script = "import sys,json; print(json.dumps(str(len(open(sys.argv[1],'rb').read()))))"
    place = _place(_python(script, "{path}"))
    assert place.reads_itself
    done = _perform(place, tmp_path, Item("big.txt", 20_000_000, path=str(file)))
    assert done.items[0].texts == ("20000000",)
    if sys.platform == "linux":
        assert done.io_bytes == pytest.approx(20_000_000, rel=0.05)


def test_a_document_without_a_path_is_written_to_scratch_and_removed(tmp_path: Path) -> None:
    script = "import sys,json; p=sys.argv[1]; print(json.dumps(p[-4:])); print(json.dumps(open(p).read()))"
    done = _perform(_place(_python(script, "{path}")), tmp_path, _document(b"from memory"))
    assert done.items[0].texts == (".txt", "from memory")
    assert list(tmp_path.iterdir()) == []


def test_cpu_time_is_the_commands_and_its_childrens(tmp_path: Path) -> None:
    burn = "import time\nwhile time.process_time() < 0.3: pass"
    script = f"import subprocess,sys; subprocess.run([sys.executable,'-S','-c',{burn!r}]); print('\"x\"')"
    done = _perform(_place(_python(script)), tmp_path, _document(b""))
    assert 0.3e9 <= done.cpu_ns <= 0.6e9


def test_a_command_that_waits_uses_next_to_no_cpu(tmp_path: Path) -> None:
    done = _perform(_place(("sleep", "0.4")), tmp_path, _document(b""))
    assert done.elapsed_ns >= 0.4e9
    assert done.cpu_ns < 0.1 * done.elapsed_ns


def test_a_command_that_ignores_its_input_is_fine(tmp_path: Path) -> None:
    done = _perform(_place(("echo", '"ignored"')), tmp_path, _document(b"q" * 5_000_000))
    assert done.items[0].texts == ("ignored",)


def test_no_shell_sees_the_arguments(tmp_path: Path) -> None:
    done = _perform(_place(("echo", '"$HOME; `id` > {path}.out"')), tmp_path, _document(b"", path="/x"))
    assert done.items[0].texts == ("$HOME; `id` > /x.out",)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("echo", "rubbish here"), "printed a line that is not one JSON string: rubbish here"),
        (("echo", "[1]"), "printed a line that is not one JSON string: [1]"),
        (("sh", "-c", "echo first >&2; echo no such font >&2; exit 3"), "exit code 3: no such font"),
        (("sh", "-c", "kill -SEGV $$"), "ended by SIGSEGV"),
        (("sh", "-c", "exit 4"), "exit code 4"),
        (("no-such-program-at-all",), "cannot be started: No such file or directory"),
    ],
)
def test_a_failing_command_is_named_with_its_reason(
    command: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")  # one that names no folder of somebody else's

    async def drive(place: Process) -> None:
        try:
            await place.perform(Action.PROCESS, (_document(b"x"),))
        finally:
            await place.close()

    with pytest.raises(OperationError) as caught:
        asyncio.run(drive(_place(command)))
    assert caught.value.message.startswith(f"indexer: command {command[0]}")
    assert caught.value.message.endswith(said)


def test_endless_output_is_cut_off(tmp_path: Path) -> None:
    with pytest.raises(OperationError, match="printed more than 67,108,864 bytes"):
        _perform(_place(("yes", '"y"')), tmp_path, _document(b""))


@pytest.mark.parametrize("trap", ["", "trap '' TERM; "])
def test_a_cancelled_command_ends_with_its_whole_group(tmp_path: Path, trap: str) -> None:
    pids = tmp_path / "pids"
    script = f"{trap}sleep 300 & echo $! $$ > {pids}.new; mv {pids}.new {pids}; wait; sleep 300"

    async def drive(place: Process) -> None:
        task = asyncio.create_task(place.perform(Action.PROCESS, (_document(b"x"),)))
        await _until(pids.exists)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await place.close()

    asyncio.run(drive(_place(("sh", "-c", script))))
    assert [pid for pid in map(int, pids.read_text().split()) if _runs(pid)] == []


async def _until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.01)


def _runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_check_finds_the_program_and_does_not_run_it(tmp_path: Path) -> None:
    trace = tmp_path / "ran"
    program = tmp_path / "extract"
    program.write_text(f"#!/bin/sh\ntouch {trace}\n")
    with pytest.raises(PlaceError, match="may not be executed"):
        asyncio.run(_place((str(program),)).check())
    program.chmod(0o755)
    facts = asyncio.run(_place((str(program), "{path}")).check())
    assert facts.summary == f"command {program} (looked up, not run)"
    assert not trace.exists()


def test_check_suggests_the_nearest_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "my-extractor"
    program.write_text("")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(PlaceError, match="command my-extracter not found") as caught:
        asyncio.run(_place(("my-extracter",)).check())
    assert caught.value.hint == "did you mean my-extractor?"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts what a process read")
def test_what_a_command_read_is_known_also_where_its_own_counters_are_closed(tmp_path: Path) -> None:
    """As for an ordinary user, who may not look at an ended child's counters, only at his own."""
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc" / "self").symlink_to("/proc/self")
    file = tmp_path / "big.txt"
    file.write_bytes(b"z" * 20_000_000)
    command = Command(time.perf_counter_ns, proc=str(tmp_path / "proc"))
    finished = command.run(("sh", "-c", f"cat '{file}' | wc -c"), None)
    assert finished.io_bytes == pytest.approx(2 * 20_000_000, rel=0.05)  # the file, and the pipe after it
