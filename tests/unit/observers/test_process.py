from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pathtrace.observers.process import ProcessObserver

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")

SECOND = 1_000_000_000
READS = """
import subprocess, sys
read = "import sys; print(len(open(sys.argv[1], 'rb').read()), flush=True); sys.stdin.read(1)"
child = None
for line in sys.stdin:
    if line == "own\\n":
        print(len(open(sys.argv[1], "rb").read()), flush=True)
    elif line == "child\\n":
        child = subprocess.Popen([sys.executable, "-c", read, sys.argv[1]], stdin=subprocess.PIPE)
    elif line == "reap\\n":
        child.communicate(b"x")
        print("gone", flush=True)
"""


class Server:
    """A process that reads a file when told, itself or in a child."""

    def __init__(self, path: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", READS, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def tell(self, what: str) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(what, file=self.process.stdin, flush=True)
        self.process.stdout.readline()

    def end(self) -> None:
        self.process.communicate()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    (tmp_path / "weights").write_bytes(bytes(5_000_000))
    server = Server(tmp_path / "weights")
    server.tell("own")
    yield server
    if server.process.poll() is None:
        server.end()


def read_so_far(observer: ProcessObserver, at_ns: int) -> float:
    return next(r.value for r in observer.observe(at_ns) if (r.subject, r.metric) == ("model", "rchar_bytes"))


def test_reads_of_a_server_and_of_its_children_are_counted_once_also_when_a_child_has_ended(
    server: Server,
) -> None:
    observer = ProcessObserver({"model": server.process.pid})
    start = read_so_far(observer, 0)
    server.tell("own")
    own = read_so_far(observer, SECOND)
    server.tell("child")
    with_child = read_so_far(observer, 2 * SECOND)
    server.tell("reap")
    after = read_so_far(observer, 3 * SECOND)

    # Starting an interpreter reads some of its own library: half a megabyte and less.
    steps = [own - start, with_child - own, after - with_child]
    assert [round(step / 5_000_000) for step in steps] == [1, 1, 0]
    assert after >= with_child


def test_each_counter_of_a_server_is_reported_under_the_places_name(server: Server) -> None:
    readings = ProcessObserver({"model": server.process.pid}).observe(5)

    assert {r.subject for r in readings} == {"model"}
    assert {r.metric for r in readings} == {
        "cpu_s",
        "major_faults",
        "rss_bytes",
        "read_bytes",
        "rchar_bytes",
        "run_delay_s",
    }


def test_a_server_that_has_ended_gives_no_readings(server: Server) -> None:
    observer = ProcessObserver({"model": server.process.pid})
    server.end()

    assert observer.observe(0) == []


def test_a_number_that_another_process_has_by_now_gives_no_readings(tmp_path: Path) -> None:
    fields = ["S", *["0"] * 18, "100", "0", "0"]
    (tmp_path / "7").mkdir()
    (tmp_path / "7" / "stat").write_text("7 (a) b) " + " ".join(fields))
    observer = ProcessObserver({"model": 7}, proc=str(tmp_path))
    before = observer.observe(0)
    (tmp_path / "7" / "stat").write_text("7 (a) b) " + " ".join(fields).replace("100", "999"))

    assert (bool(before), observer.observe(1)) == (True, [])


def test_a_server_that_places_share_is_told_to_each_and_looked_at_more_often(server: Server) -> None:
    pid = server.process.pid
    shared = ProcessObserver({"model": pid, "embedder": pid})
    readings = shared.observe(0)

    by_place = {
        place: [(r.metric, r.value) for r in readings if r.subject == place]
        for place in ("model", "embedder")
    }
    assert by_place["model"] == by_place["embedder"] != []
    assert shared.period_s < ProcessObserver({"model": pid}).period_s


def fake_process(proc: Path, pid: int, delay_ns: int, children: str = "") -> None:
    """A process of one thread, as /proc tells of it."""
    task = proc / str(pid) / "task" / str(pid)
    task.mkdir(parents=True, exist_ok=True)
    fields = ["S", "1", *["0"] * 17, "4711", "0", "0"]
    (proc / str(pid) / "stat").write_text(f"{pid} (postgres) {' '.join(fields)}\n")
    (task / "children").write_text(children)
    (task / "schedstat").write_text(f"5 {delay_ns} 1\n")


def test_what_an_ended_child_had_waited_for_a_core_is_kept(tmp_path: Path) -> None:
    def delay_s(at_s: int) -> float:
        found = {reading.metric: reading.value for reading in observer.observe(at_s * 10**9)}
        return found["run_delay_s"]

    fake_process(tmp_path, 10, 1_000_000_000, "11")
    fake_process(tmp_path, 11, 2_000_000_000)
    observer = ProcessObserver({"library": 10}, str(tmp_path))
    assert delay_s(0) == 3.0
    shutil.rmtree(tmp_path / "11")
    fake_process(tmp_path, 10, 1_000_000_000, "12")
    fake_process(tmp_path, 12, 500_000_000)
    assert delay_s(2) == 3.5
