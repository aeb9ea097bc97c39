"""A database that is a server of its own: what its processes do while inserts wait for it."""

from __future__ import annotations

import pytest

from pathtrace.analysis import analyse
from pathtrace.model.run import Run
from pathtrace.model.sample import Reading
from tests.unit.analysis.builders import MS, reached, steady
from tests.unit.analysis.planted import INDEX, disk, hop, index_run, server, while_busy

TEXT = INDEX.replace("sqlite:///x.db", "postgresql://localhost/lab")
PLACES = (reached("archive", disk="sda"), reached("library", disk="sdb", pid=42))


def inserting(
    *, cores: float = 0.0, held: float = 0.0, commit: float = 0.0, busy: float = 0.0, seen: bool = True
) -> Run:
    """Inserts of 40 ms each, one at a time; shares are of the time that they take."""

    def readings(start: int, end: int) -> list[Reading]:
        took_s = (end - start) / 1e9
        delay = steady("process", "library", run_delay_s=(start, end, held * took_s))
        return [
            *(server(start, end, place="library", cores=cores) if seen else ()),
            *(delay if seen else ()),
            *disk(start, end, name="sdb", read=1e6, busy=busy),
        ]

    return index_run(
        (MS, MS, 40 * MS),
        lambda sample: {"finish_ns": int(commit * 40 * MS)} if sample.stage == 2 else {},
        text=TEXT,
        readings=readings,
        places=PLACES,
    )


def test_a_server_that_computes_is_the_database() -> None:
    assert while_busy(inserting(cores=0.9), "insert@library") == "database:library"


def test_a_server_that_is_kept_from_running_is_its_cpu() -> None:
    limited = hop(analyse(inserting(cores=0.2, held=0.7)), "index", "indexer->library").limited_by
    assert limited.resource == "cpu:library"
    assert limited.evidence[1:] == (
        "its server uses 20 % of a core of 4",
        "its processes wait for a core 70 % of the time",
        "a CPU quota, or others on this machine, keep it from running",
    )


def test_a_crowded_machine_on_which_it_still_computes_most_is_the_database() -> None:
    assert while_busy(inserting(cores=0.5, held=0.4), "insert@library") == "database:library"


def test_commits_that_take_half_of_the_time_are_the_commit() -> None:
    assert while_busy(inserting(cores=0.3, commit=0.6), "insert@library") == "commit:library"


def test_a_server_that_waits_for_its_disk_is_the_disk() -> None:
    assert while_busy(inserting(cores=0.1, busy=0.95), "insert@library") == "disk:library"


def test_a_server_that_does_nothing_visible_is_unknown_with_what_to_look_at() -> None:
    limited = hop(analyse(inserting(cores=0.1)), "index", "indexer->library").limited_by
    assert limited.while_busy == "unknown"
    assert limited.next_measurement == (
        "see what library waits for meanwhile: SELECT wait_event FROM pg_stat_activity"
    )


@pytest.mark.parametrize("commit", [0.0, 0.4])
def test_a_server_that_nobody_can_see_is_the_database(commit: float) -> None:
    assert while_busy(inserting(seen=False, commit=commit), "insert@library") == "database:library"
