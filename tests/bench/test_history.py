"""How long history takes over many nights: the command with a fresh index, and how that grows with them."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pathtrace import app
from pathtrace.analysis import analyse
from pathtrace.render.json_document import run_document
from pathtrace.store.index import History
from pathtrace.store.runs import load
from tests.bench.ledger import Ledger, by_turns
from tests.unit.store.nights import document, facts, keep_run

pytestmark = [pytest.mark.bench, pytest.mark.timeout(900)]

MANY, FEWER = 10_000, 2_500
TIMES = 9
KEPT = Path(__file__).parents[1] / "data" / "runs" / "v1"
SETTLED_S = 2.1
"""Folders younger than this are read again."""
FLOWS = {"load": 1, "index": 3, "answer": 2}
"""And how many hops each has."""


@pytest.fixture(scope="module")
def stores(disk: Path) -> Iterator[tuple[Path, Path]]:
    """Twenty-seven years of nights and a quarter of them, each with an index that is fresh."""
    made = (disk / "many", disk / "fewer")
    for store, nights in zip(made, (MANY, FEWER), strict=True):
        for night in range(nights):
            keep_run(store, night, facts(night), shown(night))
    time.sleep(SETTLED_S)
    for store in made:
        with History(store) as history:
            history.refresh()
    yield made
    for store in made:
        shutil.rmtree(store)


def shown(night: int) -> dict[str, object]:
    """A run's figures with a spread of 3 % from night to night."""
    draw = random.Random(night)
    flows, hops = [], []
    plain = document()
    for flow, count in FLOWS.items():
        took_s = draw.gauss(1, 0.03)
        spread = {"median": took_s, "low": 0.97 * took_s, "high": 1.03 * took_s}
        flows.append(plain["flows"][0] | {"name": flow, "duration_s": spread})
        hops += [
            plain["hops"][0] | {"flow": flow, "name": f"place{hop}->place{hop + 1}", "duration_s": took_s}
            for hop in range(count)
        ]
    return plain | {"flows": flows, "hops": hops}


def test_history_of_ten_thousand_nights_is_there_in_a_second(
    ledger: Ledger, stores: tuple[Path, Path]
) -> None:
    """The whole command: its CPU time, which no neighbour on the machine lengthens, and the least elapsed."""
    many, _ = stores
    taken = [command(many) for _ in range(TIMES)]
    ledger.at_most(f"history, {MANY:,} nights, CPU", [cpu_s for _, cpu_s in taken], 1, " s")
    ledger.at_most(f"history, {MANY:,} nights, elapsed", [min(taken)[0]], 1, " s", f"least of {TIMES}")


def test_history_grows_with_its_nights_at_most(ledger: Ledger, stores: tuple[Path, Path]) -> None:
    """Four times the nights in four times the time at most, what the program takes to start apart."""
    many, fewer = stores
    pairs = by_turns(TIMES, lambda: command(many)[1], lambda: command(fewer)[1])
    start_s = min(started() for _ in range(TIMES))
    ratios = [(one - start_s) / (other - start_s) for one, other in pairs]
    ledger.at_most(f"history, {MANY:,} / {FEWER:,} nights, CPU", ratios, MANY / FEWER)


def test_an_index_is_made_in_little_time_a_run(ledger: Ledger, stores: tuple[Path, Path]) -> None:
    """From a run's documents as real ones are, those of a kept run."""
    _, fewer = stores
    kept, store = fewer.parent / "kept", fewer.parent / "real"
    shutil.copytree(KEPT, kept)
    run = load(kept)
    (kept / "run.json").write_text(app.to_json(run_document(run, analyse(run))))
    for night in range(200):
        shutil.copytree(kept, store / f"20261101-000000-{night:04d}")
    took_s = []
    for _ in range(TIMES):
        start_s = time.process_time()
        with History(store) as history:
            history.rebuild()
            assert len(history.entries()) == 200
        took_s.append((time.process_time() - start_s) / 200)
    ledger.at_most("history, making the index, a run, CPU", [1000 * each for each in took_s], 3, " ms")
    shutil.rmtree(store)


def command(store: Path) -> tuple[float, float]:
    """Elapsed and CPU seconds of ``pathtrace history``."""
    return ran("-m", "pathtrace", "history", store=store)


def started() -> float:
    """CPU seconds of a process that has loaded what history needs."""
    needed = "import pathtrace.app.history, pathtrace.analysis.nightly.nights"
    needed += ", pathtrace.render.history, rich.console"
    return ran("-c", needed, store=None)[1]


def ran(*arguments: str, store: Path | None) -> tuple[float, float]:
    environ = os.environ | {"COLUMNS": "80", "PATHTRACE_STORE": str(store)}
    before, start_s = os.times(), time.perf_counter()
    done = subprocess.run([sys.executable, *arguments], capture_output=True, env=environ, check=True)
    wall_s, after = time.perf_counter() - start_s, os.times()
    assert store is None or b" runs, 2026-11-01 to " in done.stdout
    used = (after.children_user - before.children_user) + (after.children_system - before.children_system)
    return wall_s, used
