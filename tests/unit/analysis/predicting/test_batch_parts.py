"""How much of an insert is its rows', where the samples tell."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pathtrace.analysis.assembly import measured_flows
from pathtrace.analysis.executions import execution
from pathtrace.analysis.predicting.batch_parts import Once, once
from pathtrace.model.network import PathFacts
from pathtrace.model.run import Run
from tests.unit.analysis.builders import MS, Desk, run_of, scenario, stream
from tests.unit.analysis.far import ceiling

INDEX = """
pathtrace: 1
places:
  archive: {kind: files, path: /data}
  indexer: {kind: process, command: [extract], workers: 1}
  library: {kind: database, url: "postgresql://localhost/lab", batch: 1, workers: 1}
flows: {index: {path: [archive, indexer, library], frequency: every 24 h}}
"""


def inserted(fixed_ms: float, ms_per_kilobyte: float, *, even: bool = False, noise_ms: float = 0.0) -> Run:
    """200 rows, every other one of 1 kB and of 3 kB (or all of 2 kB), each in a batch of its own."""

    def size(k: int) -> int:
        return 2000 if even else (1000, 3000)[k % 2]

    def took_ms(k: int) -> float:
        return fixed_ms + ms_per_kilobyte * size(k) / 1000 + noise_ms * (k * 7919 % 97) / 97

    inserts = iter(range(200))
    made = stream(
        [Desk(1), Desk(1, 16), Desk(1, 16)],
        lambda stage, k: MS if stage < 2 else round(took_ms(k) * MS),
        200,
        details=lambda sample: {"bytes": size(next(inserts)) if sample.stage == 2 else 2000},
    )
    return run_of(scenario(INDEX), [made])


def found(run: Run, rows: float = 1) -> Once:
    evidence, [study] = measured_flows(run)
    return once(study.stages[2], evidence, execution(run, 0, 0, 0), rows)


def test_what_grows_with_the_rows_length_is_the_rows_own() -> None:
    """3 ms for any statement, 1 ms for each kB: two fifths of 5 ms are the rows', or up to twice as much."""
    assert found(inserted(3, 1)) == Once(pytest.approx(0.2, abs=0.02), pytest.approx(0.6, abs=0.02))


def test_that_long_rows_took_longer_by_chance_tells_nothing() -> None:
    assert found(inserted(3, 0.1, noise_ms=4)) == Once(0.0, pytest.approx(10 / 11))


def test_where_rows_are_alike_a_statement_costs_at_most_as_much_as_ten_of_them() -> None:
    alike = inserted(3, 1, even=True)
    assert found(alike) == Once(0.0, pytest.approx(10 / 11))
    assert found(alike, rows=90).most == pytest.approx(0.1)


def test_rows_that_were_measured_alone_tell_what_is_there_once() -> None:
    """Each took 5 ms; in one statement a row takes 1 ms."""
    run = replace(inserted(3, 1, even=True), ceilings=(ceiling("database:library", operations=1000.0),))
    assert found(run) == Once(pytest.approx(0.8), pytest.approx(0.8))


def test_a_trip_that_was_measured_too_long_is_held_to_the_shortest_insert() -> None:
    """9 ms for two trips, while every other insert took 5 ms, and the others 9 ms."""
    far_away = INDEX.replace("{kind: database,", "{kind: database, host: nas,").replace(
        "places:", "hosts: {nas: {address: 10.0.0.2}}\nplaces:"
    )
    made = inserted(3, 2)
    path = PathFacts("nas", "10.0.0.2", (), 1500, 1500, False, 0.0045, (), 1.0)
    made = replace(made, scenario=scenario(far_away), paths=(path,))
    assert found(made).least <= 5 / 7
