"""A real PostgreSQL server with planted causes and bad days, and documents that nobody here made.

The server is the test's own: an unprivileged user's, on a free loopback port, in the lab's folder.
"""

from __future__ import annotations

import gzip
import os
import random
import re
import signal
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import lab_commands
import lab_cpu_quota
import pytest
from lab_documents import write_documents, write_weights
from lab_leftovers import claimed
from lab_pathtrace import Outcome, flow, hop, pathtrace, start_pathtrace
from lab_scenario import Household, command
from lab_slow_disk import SlowDisk

from tests.places import postgres_server as lab
from tests.places.postgres_server import PostgresServer

pytestmark = [pytest.mark.truth, pytest.mark.server, pytest.mark.timeout(600)]

MB = 10**6
NOT_MEASURED = 3
DOCUMENTS = Path("/usr/share/doc")
PIECE = 1000
"""Characters of a piece, as the lab's commands cut them."""
_PLACEHOLDER = "sqlite:////LIBRARY"

Started = Callable[..., PostgresServer]


@pytest.fixture
def postgres() -> Iterator[Started]:
    """Starts servers: ``postgres(folder, shared_buffers="1MB")``; without a folder in one of the lab's."""
    if reason := lab.why_not():
        pytest.skip(reason)
    with ExitStack() as opened:

        def start(folder: Path | None = None, **settings: object) -> PostgresServer:
            claim = opened.enter_context(claimed("postgres"))
            server = opened.enter_context(lab.postgres_server(folder or claim.folder, **settings))
            claim.started(server.pid)
            return server

        yield start


def _household(url: str, archive: Path, indexer: str, more: str = "", **options: Any) -> str:
    """The usual scenario with its library on PostgreSQL; ``more`` are further keys of that place."""
    text = Household(archive, Path("/LIBRARY"), indexer, **options).text()
    assert _PLACEHOLDER in text
    return text.replace(f"'{_PLACEHOLDER}'", f"'{url}'{more}")


def _run(room: Path, text: str, **options: Any) -> Outcome:
    (room / "household.yaml").write_text(text)
    outcome = pathtrace("run", str(room / "household.yaml"), "--json", store=room / "runs", **options)
    assert "Traceback" not in outcome.err, outcome.err
    return outcome


def _measured(room: Path, text: str, **options: Any) -> dict[str, Any]:
    outcome = _run(room, text, **options)
    assert outcome.code == 0, f"exit {outcome.code}\n{outcome.err}\n{outcome.out[:2000]}"
    return outcome.document


def _pieces(path: Path) -> list[str] | None:
    """What the lab's quick command makes of a document; None if it fails at it."""
    raw = path.read_bytes()
    try:
        raw = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    except (OSError, EOFError, zlib.error):
        return None
    text = raw.decode("utf-8", "replace")
    return [text[start : start + PIECE] for start in range(0, len(text), PIECE)]


def _files(folder: Path) -> Iterator[Path]:
    for parent, _, names in os.walk(folder):
        yield from (path for path in map(Path(parent).joinpath, names) if path.is_file())


def test_debians_documents_are_all_found_again(room: Path, postgres: Started) -> None:
    if not DOCUMENTS.is_dir():
        pytest.skip(f"there is no {DOCUMENTS}")
    server = postgres()
    text = _household(
        server.url, DOCUMENTS, command(lab_commands.quick(room)), more=", keep: true", repeats=1
    )
    document = _measured(room, text)
    expected = [pieces for pieces in map(_pieces, _files(DOCUMENTS)) if pieces is not None]
    rows = sum(map(len, expected))
    size = sum(len(piece.encode()) for pieces in expected for piece in pieces)
    (schema,) = server.schemas()
    stored = server.run(f"SELECT count(*), sum(octet_length(text)) FROM {schema}.pieces")
    found = server.run(f"SELECT count(*) FROM {schema}.pieces WHERE searched IS NOT NULL AND text <> ''")
    assert stored == [(rows, size)]
    assert found == [(rows,)]
    inserted = hop(document, "index", "indexer->library")
    assert (inserted["bytes"], inserted["errors"]) == (size, 0)
    assert rows > 10_000


@pytest.mark.needs_root
def test_a_commit_per_row_on_a_slow_disk_is_found(
    room: Path, draw: random.Random, postgres: Started, slow_disk: Callable[..., SlowDisk]
) -> None:
    disk = slow_disk(bytes_per_s=100 * MB, fsync_s=draw.uniform(0.01, 0.02))
    (disk.folder / "postgres").mkdir()
    server = postgres(disk.folder / "postgres")
    documents = write_documents(room / "archive", files=draw.randint(20, 40), size=4_000, draw=draw)
    quick = command(lab_commands.quick(room))
    text = _household(server.url, documents.folder, quick, commit="row", repeats=2)
    # Often enough for the advice to be worth a second a day.
    document = _measured(room, text.replace("frequency: per-document", "frequency: every 10 min"))
    assert flow(document, "index")["bottleneck"] == "commit:library"
    assert document["ranking"][0]["resource"] == "commit:library"
    assert "commit: batch" in document["ranking"][0]["advice"]
    assert server.schemas() == []


@pytest.mark.needs_root
def test_a_cpu_quota_of_the_server_is_found(room: Path, draw: random.Random, postgres: Started) -> None:
    if reason := lab_cpu_quota.why_not():
        pytest.skip(reason)
    server = postgres()
    documents = _rich_documents(room / "archive", files=8, size=250_000, draw=draw)
    text = _household(server.url, documents, "run: chunk", repeats=1)
    with lab_cpu_quota.cpu_quota(server.pid, cores=draw.uniform(0.15, 0.3)):
        document = _measured(room, text)
    limited = hop(document, "index", "indexer->library")["limited_by"]
    assert limited["resource"] in ("cpu:library", "database:library")
    assert flow(document, "index")["bottleneck"] == limited["resource"]
    assert any("wait for a core" in evidence for evidence in limited["evidence"])
    assert server.schemas() == []


@pytest.mark.needs_root
def test_a_live_index_shows_its_slope(room: Path, draw: random.Random, postgres: Started) -> None:
    """The real full-text index, with little memory: the larger it is, the more of it an insert touches."""
    if os.geteuid() != 0:
        pytest.skip("priority over whatever else runs needs root")
    server = postgres(
        gin_pending_list_limit="64kB", shared_buffers="1MB", max_wal_size="32MB", autovacuum="off"
    )
    os.setpriority(os.PRIO_PROCESS, server.pid, -15)  # whatever else runs here is no index
    documents = _rich_documents(room / "archive", files=draw.randint(13, 16), size=500_000, draw=draw)
    text = _household(server.url, documents, "run: chunk", ", workers: 1", repeats=1)
    document = _measured(room, text, wrapper=["nice", "-n", "-15"])
    (finding,) = [finding for finding in document["findings"] if finding["code"] == "index-slope"]
    seen = re.search(r"slowed from ([\d,]+) to ([\d,]+) rows/s as [\d,]+ rows were stored", finding["text"])
    assert seen is not None
    first, last = (int(rate.replace(",", "")) for rate in seen.groups())
    assert last < 0.8 * first
    assert "an index is kept up to date at each insert" in finding["text"]


def _rich_documents(folder: Path, *, files: int, size: int, draw: random.Random) -> Path:
    """Text in which hardly a word comes twice: each insert touches as much of the index as there is."""
    letters = str.maketrans("0123456789", "ghijklmnop")
    folder.mkdir()
    for number in range(files):
        words = (f"{draw.getrandbits(40):010x}".translate(letters) for _ in range(size // 11))
        (folder / f"letter{number:03d}.txt").write_text(" ".join(words))
    return folder


def _two_flows(room: Path, url: str, draw: random.Random, more: str = "", **options: Any) -> str:
    """The index on PostgreSQL, and weights that are loaded whatever happens to it."""
    documents = write_documents(room / "archive", files=60, size=20_000, draw=draw)
    weights = write_weights(room / "household.bin", size=8 * MB, draw=draw)
    indexer = options.pop("indexer", "run: chunk")
    return _household(url, documents.folder, indexer, more, weights=weights, repeats=1, **options)


def _others_kept(outcome: Outcome) -> None:
    assert outcome.code == NOT_MEASURED, f"exit {outcome.code}\n{outcome.err}"
    assert outcome.document["status"] == "partial"
    assert hop(outcome.document, "load", "weights->model")["bytes"] == 8 * MB


def _told(outcome: Outcome, room: Path, *words: str) -> None:
    """Said to the person, and no secret anywhere."""
    for word in words:
        assert word in outcome.err + outcome.out
    stored = b"".join(path.read_bytes() for path in (room / "runs").rglob("*") if path.is_file())
    for secret in (lab.PASSWORD, lab.URL_PASSWORD, "quite-wrong"):
        assert secret not in outcome.err + outcome.out
        assert secret.encode() not in stored


def test_a_wrong_password_costs_only_what_needs_the_database(
    room: Path, draw: random.Random, postgres: Started
) -> None:
    server = postgres()
    url = server.url_of(lab.USER, "${LIBRARY_PASSWORD}")
    outcome = _run(room, _two_flows(room, url, draw), environment={"LIBRARY_PASSWORD": "quite-wrong"})
    _others_kept(outcome)
    _told(outcome, room, "library", "password authentication failed", "check the password")


def test_a_full_server_costs_only_what_needs_the_database(
    room: Path, draw: random.Random, postgres: Started
) -> None:
    server = postgres(max_connections=5, superuser_reserved_connections=0)
    outcome = _run(room, _two_flows(room, server.url, draw, ", workers: 9"))
    _others_kept(outcome)
    _told(outcome, room, "library", "too many clients", "fewer `workers`")
    assert server.schemas() == []


def test_a_connection_dropped_in_the_middle_costs_its_batch(
    room: Path, draw: random.Random, postgres: Started
) -> None:
    server = postgres()
    slow = command(lab_commands.pausing(room, seconds=0.1))
    (room / "household.yaml").write_text(_two_flows(room, server.url, draw, indexer=slow, batch=5))
    process = start_pathtrace("run", str(room / "household.yaml"), "--json", store=room / "runs")
    assert _drop_connections(server) > 0
    out, err = process.communicate(timeout=120)
    outcome = Outcome(process.returncode, out, err, room / "runs")
    _others_kept(outcome)
    _told(outcome, room, "library", "terminating connection")
    inserted = hop(outcome.document, "index", "indexer->library")
    assert 0 < inserted["errors"] < inserted["operations"]
    assert server.schemas() == []


def _drop_connections(server: PostgresServer) -> int:
    """End all connections of a run once it has stored something; how many there were."""
    _until(lambda: bool(_rows(server)))
    ended = server.run(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'pathtrace%'"
    )
    return len(ended)


def _rows(server: PostgresServer) -> int:
    counted = server.run(
        "SELECT coalesce(sum(n_tup_ins), 0) FROM pg_stat_user_tables WHERE schemaname LIKE 'pathtrace%'"
    )
    return int(str(counted[0][0]))


def _until(done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not done():
        assert time.monotonic() < deadline, "it did not come to that"
        time.sleep(0.05)


def test_what_a_killed_run_left_is_removed_by_the_next_and_nothing_else(
    room: Path, draw: random.Random, postgres: Started
) -> None:
    server = postgres()
    server.run("CREATE SCHEMA pathtrace_diary")
    server.run("CREATE TABLE pathtrace_diary.days AS SELECT 1 AS day")
    slow = command(lab_commands.pausing(room, seconds=0.1))
    (room / "household.yaml").write_text(_two_flows(room, server.url, draw, indexer=slow, batch=5))
    process = start_pathtrace("run", str(room / "household.yaml"), store=room / "killed")
    _until(lambda: len(server.schemas()) == 2)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert len(server.schemas()) == 2
    (room / "household.yaml").unlink()
    archive = room / "archive"
    text = _household(server.url, archive, "run: chunk", repeats=1)
    _measured(room, text)
    assert server.schemas() == ["pathtrace_diary"]
    assert server.run("SELECT day FROM pathtrace_diary.days") == [(1,)]


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_no_schema(
    room: Path, draw: random.Random, postgres: Started, sent: signal.Signals
) -> None:
    server = postgres()
    slow = command(lab_commands.pausing(room, seconds=0.1))
    (room / "household.yaml").write_text(_two_flows(room, server.url, draw, indexer=slow, batch=5))
    process = start_pathtrace("run", str(room / "household.yaml"), store=room / "runs")
    _until(lambda: bool(server.schemas()) and bool(_rows(server)))
    process.send_signal(sent)
    process.communicate(timeout=60)
    assert process.returncode == 128 + sent
    assert server.schemas() == []
