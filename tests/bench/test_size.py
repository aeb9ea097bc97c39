"""Large trees and long runs: memory of the whole command, and time to analyse what was stored."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from pathtrace.model.sample import SampleTable, Window
from pathtrace.store import runs
from pathtrace.store.records import sample_dtype
from tests.bench.conftest import Sizes, write_tree
from tests.bench.ledger import Ledger
from tests.cli.command import command, environment
from tests.unit.analysis.builders import run_of, scenario

pytestmark = [pytest.mark.bench, pytest.mark.timeout(900)]

TREE = """\
pathtrace: 1
name: large tree
places:
  archive: {{kind: files, path: "{root}"}}
  chunker: {{kind: process, run: chunk}}
  library: {{kind: database, url: "sqlite://"}}
flows:
  index: {{path: [archive, chunker, library], frequency: every 24 h}}
repeats: 1
start: as-is
"""

REPEATS = 5
STAGES = 2


def finish(arguments: list[str], store: Path) -> tuple[int, float, float, str]:
    """Exit code, seconds, peak MiB and output of one command."""
    output = store / "output.json"
    start = time.perf_counter()
    with output.open("wb") as out:
        child = subprocess.Popen(command(*arguments), stdout=out, env=environment(store), cwd=store)
        _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return child.returncode, time.perf_counter() - start, usage.ru_maxrss / 1024, output.read_text()


def test_a_tree_of_200_000_files_fits_into_little_memory(
    ledger: Ledger, sizes: Sizes, disk: Path, tmp_path: Path
) -> None:
    root = write_tree(disk / "many", sizes.tree_files, 20)
    path = tmp_path / "tree.yaml"
    path.write_text(TREE.format(root=root))
    code, took_s, peak, out = finish(["run", str(path), "--json"], tmp_path)
    assert (code, json.loads(out)["hops"][0]["operations"]) == (0, sizes.tree_files)
    ledger.at_most(
        f"memory of a run over {sizes.tree_files:,} files", [peak], 250, " MiB", f"in {took_s:.0f} s"
    )


def pipeline(repeat: int, documents: int) -> tuple[npt.NDArray[np.void], Window]:
    """Two workers read a document in 20 µs by turns, two chunk it in as long, each released by its read."""
    number = np.arange(documents, dtype=np.int64)
    origin = repeat * (documents + 10) * 10_000
    rows = np.zeros((documents, STAGES), sample_dtype())
    rows["repeat"], rows["request"], rows["detail"] = repeat, -1, -1
    rows["io_bytes"], rows["tokens"], rows["stat_ns"] = -1, -1, -1
    rows["worker"] = (number % 2)[:, None]
    rows["stage"] = [0, 1]
    rows["operation"] = number[:, None] * STAGES + [0, 1]
    rows["cause"][:, 0], rows["cause"][:, 1] = -1, number * STAGES
    rows["start_ns"] = origin + (number // 2 * 20_000)[:, None] + [0, 20_000]
    rows["intended_ns"] = rows["start_ns"]
    rows["elapsed_ns"] = 15_000 + (number * 7919 % 5000)[:, None]
    rows["setup_ns"], rows["finish_ns"], rows["first_byte_ns"] = 3000, 1000, 5000
    rows["cpu_ns"], rows["bytes"] = 10_000, 16_384
    flat = rows.reshape(-1)
    end = int((flat["start_ns"] + flat["elapsed_ns"]).max())
    return flat, Window(repeat, 0, 0, 0, origin, end, True, (2, 2))


def test_a_run_of_a_million_operations_is_analysed_in_seconds(
    ledger: Ledger, sizes: Sizes, tmp_path: Path
) -> None:
    described = scenario(
        "pathtrace: 1\n"
        "places:\n"
        "  archive: {kind: files, path: /data}\n"
        "  chunker: {kind: process, run: chunk}\n"
        "flows: {index: {path: [archive, chunker], frequency: every 24 h}}\n"
    )
    documents = sizes.operations // REPEATS // STAGES
    made = [pipeline(repeat, documents) for repeat in range(REPEATS)]
    samples = np.concatenate([rows for rows, _ in made])
    samples.setflags(write=False)
    windows = tuple(window for _, window in made)
    run = replace(run_of(described, ()), samples=SampleTable(samples), windows=windows)
    folder = runs.create(tmp_path, described.text, str, datetime.now(UTC))
    asyncio.run(runs.save(folder, run, str))
    code, took_s, peak, out = finish(["show", str(folder), "--json"], tmp_path)
    hops = json.loads(out)["hops"]
    assert (code, [hop["operations"] for hop in hops]) == (0, [documents])
    ledger.at_most(f"analysis of {len(samples):,} operations", [took_s], 20, " s", f"peak {peak:.0f} MiB")
