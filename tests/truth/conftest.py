"""The lab's pieces as fixtures. Each piece is a file of its own beside this one and works by hand too."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any

import lab_guidellm
import lab_model_server
import lab_predicted
import lab_slow_disk
import lab_tools
import pytest
from lab_fixtures import lab_network as lab_network
from lab_leftovers import claimed, remove_leftovers
from lab_random_model import RandomModel, write_random_model
from lab_server_process import Server
from lab_slow_disk import SlowDisk

Opened = Callable[..., Any]


@pytest.fixture(scope="session", autouse=True)
def _nothing_left_behind() -> Iterator[None]:
    """Remove what a crashed run of the lab left; what this run made must be gone by itself."""
    remove_leftovers()
    yield
    assert remove_leftovers() == []


@pytest.fixture
def seed(drawn_round: int) -> int:
    """Drawn anew for every test and round; ``PATHTRACE_LAB_SEED`` repeats one that failed."""
    stated = os.environ.get("PATHTRACE_LAB_SEED")
    drawn = int(stated) if stated else random.SystemRandom().randrange(2**32)
    print(f"round {drawn_round}: PATHTRACE_LAB_SEED={drawn}")
    return drawn


@pytest.fixture
def draw(seed: int) -> random.Random:
    return random.Random(seed)


@pytest.fixture
def room() -> Iterator[Path]:
    """An empty folder that others may enter too, undone also after a crash."""
    with claimed("room") as claim:
        yield claim.folder


@pytest.fixture
def slow_disk() -> Iterator[Callable[..., SlowDisk]]:
    """Mounts slow disks: ``slow_disk(bytes_per_s=60e6)``."""
    if reason := lab_slow_disk.why_not():
        pytest.skip(reason)
    with ExitStack() as opened:
        yield _opener(opened, lab_slow_disk.slow_disk)


@pytest.fixture
def model_server() -> Iterator[Callable[..., Server]]:
    """Starts model servers of the test's own: ``model_server(weights="reread", …)``."""
    with ExitStack() as opened:
        yield _opener(opened, lab_model_server.model_server)


@pytest.fixture
def mock_server() -> Iterator[Callable[..., Server]]:
    """Starts guidellm's mock server with set times."""
    if lab_tools.guidellm() is None:
        pytest.skip("guidellm is not installed; .ci/lab installs it")
    with ExitStack() as opened:
        yield _opener(opened, lab_guidellm.mock_server)


@pytest.fixture
def llama() -> Iterator[Callable[..., Server]]:
    """Starts llama.cpp's server: ``llama(lab_llama.generating, path)``."""
    if lab_tools.llama_server() is None:
        pytest.skip("llama-server is not installed; .ci/lab installs it")
    with ExitStack() as opened:
        yield lambda kind, path: opened.enter_context(kind(path))


@pytest.fixture(scope="session")
def random_model() -> Iterator[RandomModel]:
    """Some 300 MB of random weights in a file that llama.cpp serves."""
    with claimed("random-model") as claim:
        layers = random.SystemRandom().choice([8, 9])
        seed = random.SystemRandom().randrange(2**32)
        print(f"random model: {layers} layers, seed {seed}")
        yield write_random_model(claim.folder / "household.gguf", layers=layers, seed=seed)


@pytest.fixture(scope="session")
def sentence_model() -> Path:
    """The safetensors file of a small sentence model, made by others."""
    path = lab_tools.safetensors()
    if path is None:
        pytest.skip("the sentence model's weights are not here; .ci/lab fetches them")
    return path


def _opener(opened: ExitStack, kind: Callable[..., AbstractContextManager[Any]]) -> Opened:
    return lambda **options: opened.enter_context(kind(**options))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    _planted(terminalreporter)
    _predicted(terminalreporter)


def _predicted(terminalreporter: Any) -> None:
    """Each prediction beside the fact."""
    if lab_predicted.rows:
        terminalreporter.section("predictions held to the fact")
        for text in (lab_predicted.HEAD, *(row.text for row in lab_predicted.rows)):
            terminalreporter.write_line(text)


def _planted(terminalreporter: Any) -> None:
    """How often each planted cause was named, where it was drawn more than once."""
    right: dict[str, list[bool]] = {}
    for outcome in ("passed", "failed"):
        for report in terminalreporter.stats.get(outcome, ()):
            case, _, drawn = report.nodeid.rpartition("::")[2].partition("[")
            if "test_planted_hosts.py" in report.nodeid and report.when == "call":
                options = drawn.rstrip("]").partition("-")[2]
                right.setdefault(f"{case} {options}".strip(), []).append(outcome == "passed")
    if max(map(len, right.values()), default=0) > 1:
        terminalreporter.section("planted causes that were named")
        for case, found in right.items():
            terminalreporter.write_line(f"{sum(found)} of {len(found)}  {case}")
