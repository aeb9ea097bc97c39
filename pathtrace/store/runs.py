"""Creates, saves and loads runs. Where a run lies is found by ``find``, not here.

A run that crashed loads too: as "interrupted", with what had reached the disk.
"""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from pathtrace.errors import RunFileError, StoreError
from pathtrace.model.report import Caveat
from pathtrace.model.run import Run
from pathtrace.model.sample import ReadingTable, Sample, SampleTable, Window
from pathtrace.store import files, records
from pathtrace.store.codec import Scrub
from pathtrace.store.facts import RUNNING, read_facts, write_facts
from pathtrace.store.marks import pruned_at
from pathtrace.store.moments import next_name
from pathtrace.store.recorder import Recorder
from pathtrace.store.records import Recorded
from pathtrace.units import seconds

DAMAGED = "damaged-samples"
"""Code of the caveat on a run of which something was lost."""


class PrunedRunError(RunFileError):
    """A run of which only figures are kept: nothing can be worked out of it anew."""


def empty_samples() -> SampleTable:
    """No samples: what a run has whose samples are still being recorded."""
    import numpy as np

    rows = np.zeros(0, records.sample_dtype())
    rows.setflags(write=False)
    return SampleTable(rows)


def _unclaimed(_run: str) -> None:
    pass


def create(
    store: Path, scenario_text: str, scrub: Scrub, now: datetime, claim: Callable[[str], None] = _unclaimed
) -> Path:
    """Make the folder of a new run, with the scenario as run in it; its name is the run's id. StoreError.

    ``claim`` is told the id as soon as there is the folder, before anything lies in it.
    """
    while True:
        folder = store / next_name(store, now)
        try:
            files.make_folder(folder)
        except FileExistsError:
            continue
        try:
            claim(folder.name)
            files.make_reserve(folder)
            files.write_document(folder, files.SCENARIO, scrub(scenario_text))
        except StoreError:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return folder


async def save(folder: Path, run: Run, scrub: Scrub) -> None:
    """Write a whole run into an existing, empty folder, as a replay would have. StoreError."""
    recorder = await Recorder.start(folder, scrub)
    for text in run.faults:
        recorder.fault(text)
    for row in run.samples.rows:
        recorder.sample(Sample(*row.tolist()))
    for reading in run.readings.rows:
        recorder.reading(reading)
    for window in run.windows:
        recorder.window(window)
    await recorder.close()
    recorder.check_healthy()
    write_facts(folder, run, scrub)


def load(folder: Path) -> Run:
    """The run in a folder. RunFileError if there is none, or none that can be read; PrunedRunError."""
    if (at := pruned_at(folder)) is not None:
        raise PrunedRunError(
            f"its samples were deleted on {at:%Y-%m-%d}, when it was older than samples are kept",
            where=str(folder),
            hint=f"what it took is kept: pathtrace show {folder.name}; a pinned run keeps its samples",
        )
    faults = records.read_faults(folder) if (folder / files.FACTS).exists() else ()
    run = read_facts(folder, empty_samples(), ReadingTable(()), (), faults)
    stages = tuple(len(flow.stages) for flow in run.scenario.flows)
    samples, left_out = records.read_samples(folder, stages, len(faults))
    windows, recorded = records.read_windows(folder)
    run = dataclasses.replace(run, samples=samples, readings=records.read_readings(folder), windows=windows)
    if run.status == RUNNING:
        return _after_crash(run)
    lost = _lost(run, recorded, left_out)
    return _damaged(run, lost) if lost else run


def _lost(run: Run, recorded: Recorded | None, left_out: int) -> str | None:
    """What was recorded and is not there any more, in words."""
    if recorded is None:
        return "the recording has no end"
    if left_out:
        return f"{left_out} of {recorded.samples} samples are damaged"
    present = Recorded(len(run.samples), len(run.readings.rows), len(run.faults))
    if present != recorded:
        pairs = zip(
            dataclasses.fields(recorded),
            dataclasses.astuple(present),
            dataclasses.astuple(recorded),
            strict=True,
        )
        return "there are " + ", ".join(f"{now} of {then} {field.name}" for field, now, then in pairs)
    return None


def _damaged(run: Run, lost: str) -> Run:
    remedy = "run again, or restore the run's folder from a copy"
    caveat = Caveat(DAMAGED, f"{lost}; the figures are of what is left", remedy=remedy)
    status = "partial" if run.status == "complete" else run.status
    return dataclasses.replace(_with_all_windows(run), status=status, caveats=(*run.caveats, caveat))


def _after_crash(run: Run) -> Run:
    """A run that nobody ended: what is there counts, up to the last sample."""
    caveat = Caveat("interrupted", "the run ended without a last word; up to its last second may be missing")
    run = _with_all_windows(run)
    end_ns = max((window.end_ns for window in run.windows), default=0)
    duration_s = max(run.duration_s, seconds(end_ns))
    return dataclasses.replace(
        run, status="interrupted", duration_s=duration_s, caveats=(*run.caveats, caveat)
    )


def _with_all_windows(run: Run) -> Run:
    """Executions that have samples but whose window was never written get one, marked incomplete."""
    import numpy as np

    rows = run.samples.rows
    known = {(window.repeat, window.flow, window.execution) for window in run.windows}
    keys = np.unique(rows[["repeat", "flow", "execution"]]).tolist()
    made = tuple(_window_of(run, key) for key in keys if key not in known)
    return dataclasses.replace(run, windows=run.windows + made)


def _window_of(run: Run, key: tuple[int, int, int]) -> Window:
    import numpy as np

    rows = run.samples.rows
    repeat, flow, execution = key
    own = rows[(rows["repeat"] == repeat) & (rows["flow"] == flow) & (rows["execution"] == execution)]
    workers = np.zeros(len(run.scenario.flows[flow].stages), dtype=int)
    np.maximum.at(workers, own["stage"], own["worker"] + 1)
    requests = bool((own["request"] >= 0).any())
    if requests:  # each user carries a request through all stages
        workers[:] = workers.max()
    return Window(
        repeat=repeat,
        flow=flow,
        execution=execution,
        users=int(workers.max()) if requests else 0,
        start_ns=int(own["start_ns"].min()),
        end_ns=int((own["start_ns"] + own["elapsed_ns"]).max()),
        complete=False,
        workers=tuple(max(1, count) for count in workers.tolist()),
    )
