"""What goes wrong at home, done to pathtrace on purpose.

Each time: the right exit code, one clear message and no traceback, what was measured is stored,
scratch data is gone, and nothing of the user's was changed.
"""

from __future__ import annotations

import os
import random
import secrets
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import lab_commands
import pytest
from lab_documents import Documents, write_documents, write_weights
from lab_leftovers import claimed
from lab_pathtrace import Outcome, hop, pathtrace, start_pathtrace
from lab_scenario import Household, command
from lab_server_process import Server, free_port
from lab_tree import contents, unchanged

pytestmark = [pytest.mark.truth, pytest.mark.timeout(180)]

MB = 10**6
NOT_MEASURED, INTERRUPTED, TERMINATED = 3, 130, 143


@pytest.fixture
def documents(room: Path, draw: random.Random) -> Documents:
    return write_documents(room / "home" / "archive", files=40, size=6_000, draw=draw)


@pytest.fixture
def library(room: Path) -> Path:
    """A folder with a library of the user's in it."""
    import sqlite3

    folder = room / "home" / "library"
    folder.mkdir(parents=True)
    connection = sqlite3.connect(folder / "library.db")
    with connection:
        connection.execute("CREATE TABLE letters (text)")
        connection.execute("INSERT INTO letters VALUES ('dear')")
    connection.close()
    return folder / "library.db"


def _last(documents: Documents) -> Path:
    return max(path for path in documents.folder.rglob("*.txt"))


def _run(room: Path, household: Household, **options: Any) -> Outcome:
    scenario = household.write(room / "household.yaml")
    before = _scratch()
    outcome = pathtrace("run", str(scenario), store=room / "runs", **options)
    assert "Traceback" not in outcome.err, outcome.err
    assert _scratch() - before == set()
    return outcome


def _says(outcome: Outcome, word: str) -> bool:
    """Whether a person reads ``word``, over line breaks too."""
    return "".join(word.split()) in "".join((outcome.out + outcome.err).split())


def _scratch() -> set[str]:
    """pathtrace's folders among the temporary files."""
    import tempfile

    names = os.listdir(tempfile.gettempdir())
    return {name for name in names if "pathtrace" in name and not name.startswith("pathtrace-lab-")}


def _partial(outcome: Outcome, *words: str) -> dict[str, Any]:
    """A run that went on without what failed, and said so."""
    assert outcome.code == NOT_MEASURED, f"exit {outcome.code}\n{outcome.err}"
    for word in words:
        assert _says(outcome, word), outcome.out + outcome.err
    document = pathtrace("show", "last", "--json", store=outcome.store).document
    assert document["status"] == "partial"
    return document


def test_a_file_that_vanishes_costs_only_itself(room: Path, documents: Documents, library: Path) -> None:
    victim = _last(documents)
    removing = lab_commands.removing(room, victim)
    outcome = _run(room, Household(documents.folder, library, command(removing), repeats=1))
    document = _partial(outcome, victim.name)
    read = hop(document, "index", "archive->indexer")
    assert (read["operations"] + read["errors"], read["errors"]) in ((40, 1), (41, 1))


def test_a_file_that_grows_is_read_and_told(room: Path, documents: Documents, library: Path) -> None:
    growing = lab_commands.growing(room, _last(documents))
    outcome = _run(room, Household(documents.folder, library, command(growing), repeats=2))
    assert outcome.code in (0, NOT_MEASURED), outcome.err
    assert _says(outcome, "chang") or _says(outcome, "grew"), outcome.out


@pytest.mark.needs_root
def test_a_file_that_may_not_be_read_costs_only_itself(
    room: Path, documents: Documents, library: Path, without_rights: list[str]
) -> None:
    closed = _last(documents)
    os.chown(closed, 65534, 65534)
    closed.chmod(0o600)
    quick = Household(documents.folder, library, command(lab_commands.quick(room)), repeats=1)
    with unchanged(room / "home"):
        outcome = _run(room, quick, wrapper=without_rights)
    document = _partial(outcome, closed.name)
    assert hop(document, "index", "archive->indexer")["errors"] == 1


@pytest.mark.needs_root
def test_a_folder_that_may_not_be_entered_is_named(
    room: Path, documents: Documents, library: Path, without_rights: list[str]
) -> None:
    os.chown(documents.folder, 65534, 65534)
    documents.folder.chmod(0o700)
    quick = Household(documents.folder, library, command(lab_commands.quick(room)), repeats=1)
    outcome = _run(room, quick, wrapper=without_rights)
    assert outcome.code == NOT_MEASURED
    assert _says(outcome, "archive")
    assert _says(outcome, "ermission")


@pytest.fixture
def without_rights() -> list[str]:
    """A wrapper whose command may not pass over file permissions, though it is root."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("needs root and setpriv")
    dropped = "-dac_override,-dac_read_search"
    return ["setpriv", f"--bounding-set={dropped}", f"--inh-caps={dropped}"]


def test_a_folder_that_is_not_there_is_named(room: Path, library: Path) -> None:
    outcome = _run(room, Household(room / "nowhere", library, command(lab_commands.quick(room))))
    assert outcome.code == NOT_MEASURED
    assert _says(outcome, str(room / "nowhere"))


def test_what_failed_is_said_on_standard_error_where_a_document_is_printed(room: Path, library: Path) -> None:
    scenario = Household(room / "nowhere", library, "run: chunk").write(room / "household.yaml")
    outcome = pathtrace("run", str(scenario), "--json", store=room / "runs")
    assert outcome.code == NOT_MEASURED
    assert outcome.document["status"] == "partial"
    assert str(room / "nowhere") in outcome.err


def test_an_empty_folder_is_named(room: Path, library: Path) -> None:
    (room / "empty").mkdir()
    outcome = _run(room, Household(room / "empty", library, command(lab_commands.quick(room))))
    assert outcome.code == NOT_MEASURED
    assert _says(outcome, str(room / "empty"))


@pytest.mark.parametrize(
    ("broken", "more", "said"),
    [
        (lab_commands.crashing, "", "the index is upside down"),
        (lab_commands.hanging, ", timeout: 500 ms", "indexer"),
        (lab_commands.printing_rubbish, "", "JSON"),
    ],
    ids=["crashes", "hangs", "prints rubbish"],
)
def test_a_command_that_fails_is_told_in_its_own_words(
    room: Path, documents: Documents, library: Path, broken: Callable[[Path], Path], more: str, said: str
) -> None:
    household = Household(documents.folder, library, command(broken(room)) + more, repeats=1)
    with unchanged(room / "home"):
        document = _partial(_run(room, household), said)
    # It may give up where nothing comes out at all, but not before it has tried more than a few.
    assert hop(document, "index", "indexer->library")["errors"] >= 3


def _with_model(room: Path, documents: Documents, library: Path, url: str, **options: Any) -> Household:
    weights = write_weights(room / "household.bin", size=2 * MB, draw=random.Random(1))
    quick = command(lab_commands.quick(room))
    return Household(
        documents.folder, library, quick, weights=weights, model_url=url, repeats=1, requests=3, **options
    )


def test_a_server_that_refuses_leaves_the_rest_measured(
    room: Path, documents: Documents, library: Path
) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    with unchanged(room / "home"):
        document = _partial(_run(room, _with_model(room, documents, library, url)), "model", url)
    assert hop(document, "index", "archive->indexer")["operations"] == documents.files


@pytest.mark.parametrize(
    ("behaviour", "said"),
    [({"status": 500}, "500"), ({"stall_after": 3}, "model")],
    ids=["answers 500", "stalls in mid-stream"],
)
def test_a_server_that_fails_at_requests_leaves_the_rest_measured(
    room: Path,
    documents: Documents,
    library: Path,
    model_server: Callable[..., Server],
    behaviour: dict[str, Any],
    said: str,
) -> None:
    server = model_server(**behaviour)
    household = _with_model(
        room, documents, library, server.url, model_more=", timeout: 1 s", people_more=", timeout: 1 s"
    )
    with unchanged(room / "home"):
        document = _partial(_run(room, household), said)
    assert hop(document, "index", "archive->indexer")["operations"] == documents.files
    assert hop(document, "answer", "model->people")["errors"] == 3


@pytest.fixture
def small_disk() -> Iterator[Callable[[int], Path]]:
    """Mounts a file system that holds no more than it is told to."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        pytest.skip("a mount needs root")
    with claimed("small-disk") as claim:

        def mount(size: int) -> Path:
            folder = claim.folder / "small"
            folder.mkdir()
            claim.will_mount(folder)
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], check=True)
            return folder

        yield mount


@pytest.mark.needs_root
def test_a_full_disk_under_the_store_is_told(
    room: Path, draw: random.Random, library: Path, small_disk: Callable[[int], Path]
) -> None:
    documents = write_documents(room / "home" / "archive", files=2000, size=500, draw=draw)
    scenario = Household(documents.folder, library, "run: chunk", repeats=3).write(room / "household.yaml")
    before = _scratch()
    with unchanged(room / "home"):
        outcome = pathtrace("run", str(scenario), store=small_disk(1_200_000))
    assert outcome.code == NOT_MEASURED, outcome.err
    assert _says(outcome, "no space") or _says(outcome, "full"), outcome.out + outcome.err
    assert "Traceback" not in outcome.err
    assert _scratch() - before == set()


@pytest.mark.needs_root
def test_a_full_disk_under_the_database_is_told(
    room: Path, draw: random.Random, small_disk: Callable[[int], Path]
) -> None:
    documents = write_documents(room / "home" / "archive", files=200, size=40_000, draw=draw)
    folder = small_disk(2 * MB)
    outcome = _run(room, Household(documents.folder, folder / "library.db", "run: chunk", repeats=1))
    document = _partial(outcome, "full")
    assert hop(document, "index", "archive->indexer")["operations"] == documents.files
    assert contents(folder) == {}


class Running:
    """A run in progress that has measured something."""

    def __init__(self, room: Path, household: Household) -> None:
        self._store = room / "runs"
        self._before = _scratch()
        scenario = household.write(room / "household.yaml")
        self.process = start_pathtrace("run", str(scenario), "--json", store=self._store)
        self._wait_for_samples()

    def _wait_for_samples(self) -> None:
        deadline = time.monotonic() + 60
        while not self._samples():
            assert self.process.poll() is None, self.process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.05)

    def _samples(self) -> bool:
        """True once more than a file's head has been written."""
        return any(path.stat().st_size > 1000 for path in self._store.rglob("samples.bin"))

    def send(self, *numbers: signal.Signals, apart_s: float = 0.5) -> tuple[int, str]:
        """Send signals to the process, as a terminal or a service manager would; its end."""
        for number in numbers:
            self.process.send_signal(number)
            time.sleep(apart_s)
        _, err = self.process.communicate(timeout=60)
        assert "Traceback" not in err, err
        return self.process.returncode, err

    def shown(self) -> dict[str, Any]:
        outcome = pathtrace("show", "last", "--json", store=self._store)
        assert outcome.code == 0, outcome.err
        return outcome.document

    def scratch_left(self) -> set[str]:
        return _scratch() - self._before


def _slowly(room: Path, documents: Documents, library: Path) -> Household:
    pausing = lab_commands.pausing(room, 0.4)
    return Household(documents.folder, library, command(pausing), repeats=5)


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, INTERRUPTED), (signal.SIGTERM, TERMINATED)],
    ids=["Ctrl-C", "SIGTERM"],
)
def test_an_interrupted_run_keeps_what_it_measured(
    room: Path, documents: Documents, library: Path, number: signal.Signals, code: int
) -> None:
    with unchanged(room / "home"):
        running = Running(room, _slowly(room, documents, library))
        ended, _ = running.send(number)
    assert ended == code
    shown = running.shown()
    assert shown["status"] == "interrupted"
    assert hop(shown, "index", "archive->indexer")["operations"] > 0
    assert running.scratch_left() == set()


def test_a_second_ctrl_c_ends_it_at_once(room: Path, documents: Documents, library: Path) -> None:
    hanging = command(lab_commands.hanging(room))
    with unchanged(room / "home"):
        running = Running(room, Household(documents.folder, library, hanging, repeats=5))
        start = time.monotonic()
        ended, _ = running.send(signal.SIGINT, signal.SIGINT)
    assert ended == INTERRUPTED
    assert time.monotonic() - start < 10
    assert running.shown()["status"] == "interrupted"
    assert running.scratch_left() == set()
    assert _processes_with(str(room)) == []


def _processes_with(text: str) -> list[str]:
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    return [line for line in listed.splitlines() if text in line]


def test_a_killed_run_can_be_shown_but_for_its_last_second(
    room: Path, documents: Documents, library: Path
) -> None:
    running = Running(room, _slowly(room, documents, library))
    time.sleep(3)
    os.killpg(running.process.pid, signal.SIGKILL)
    running.process.communicate(timeout=30)
    shown = running.shown()
    assert shown["status"] in ("interrupted", "partial")
    process = next(h for h in shown["hops"] if h["name"] == "indexer->library")
    # Two workers, some 0.43 s a document, three seconds, of which the last may be lost.
    assert process["operations"] >= 2 * int(2 / 0.45)


def test_a_secret_shows_nowhere(
    room: Path, documents: Documents, library: Path, model_server: Callable[..., Server]
) -> None:
    hidden, literal = f"hid-{secrets.token_hex(8)}", f"lit-{secrets.token_hex(8)}"
    server = model_server(status=500)
    url = server.url.replace("://", f"://anna:{literal}@")
    more = ", options: {api_key: '${PATHTRACE_TEST_SECRET}'}, timeout: 1 s"
    household = _with_model(room, documents, library, url, model_more=more)
    with _watching_command_lines() as seen:
        outcome = _run(room, household, environment={"PATHTRACE_TEST_SECRET": hidden})
    stored = b"".join(path.read_bytes() for path in (room / "runs").rglob("*") if path.is_file())
    everything = stored + outcome.out.encode() + outcome.err.encode() + "\n".join(seen).encode()
    assert seen
    assert _says(outcome, "500")
    assert [secret for secret in (hidden, literal) if secret.encode() in everything] == []


class _watching_command_lines:  # noqa: N801 - reads like the function that it stands for
    """Collects the command line of every process for as long as the block lasts."""

    def __enter__(self) -> set[str]:
        self._seen: set[str] = set()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self._seen

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(0.05):
            for path in Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    self._seen.add(path.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
                except OSError:
                    continue
