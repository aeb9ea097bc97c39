from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath

import pytest

from pathtrace.analysis import analyse
from pathtrace.analysis.data_kinds import Location, originals_in_danger
from pathtrace.model.report import Finding
from pathtrace.model.run import Run
from tests.unit.analysis.builders import MS, scenario
from tests.unit.analysis.planted import INDEX, index_run

KINDS = scenario(
    """pathtrace: 1
places:
  archive: {kind: files, path: /data/archive, data: original}
  indexer: {kind: process, run: chunk}
  library: {kind: database, url: "sqlite:////data/library.db", data: derived}
flows:
  index: {path: [archive, indexer, library], frequency: once}
"""
)


def told(archive: str, library: str, *devices: str | None) -> list[tuple[str, str]]:
    where = {
        "archive": Location(PurePosixPath(archive), devices[0]),
        "library": Location(PurePosixPath(library), devices[-1]),
    }
    return [(caveat.code, caveat.text) for caveat in originals_in_danger(KINDS, where)]


@pytest.mark.parametrize(
    ("archive", "library", "text"),
    [
        ("/data", "/data", "library (derived) lies in the same folder as archive (original)"),
        ("/data", "/data/index/new", "library (derived) lies within archive (original)"),
        ("/data/archive", "/data", "archive (original) lies within the folder of library (derived)"),
    ],
)
def test_originals_that_lie_with_derived_data_are_in_danger(archive: str, library: str, text: str) -> None:
    assert told(archive, library, "sda1") == [
        ("data-together", f"{text}: clearing the one may take the other")
    ]


def test_the_same_disk_is_a_lesser_doubt_and_another_disk_none() -> None:
    assert told("/data/a", "/data/b", "sda1") == [
        ("same-disk", "library (derived) lies on the same disk as archive (original): it can fill it")
    ]
    assert told("/data/a", "/data/b", "sda1", "sdb1") == []
    assert told("/data/a", "/data/ab", None) == []


def rebuilt(run: Run) -> list[Finding]:
    return [finding for finding in analyse(run).findings if finding.code == "rebuild"]


def derived(*, share: float | None = None) -> Run:
    """Reading takes 20 ms a document, and the rest next to nothing."""
    run = index_run((20 * MS, 1 * MS, 1 * MS))
    places = tuple(
        replace(each, data="derived" if each.name == run.scenario.flows[0].path[-1] else each.data)
        for each in run.scenario.places
    )
    if share is None:
        return replace(run, scenario=replace(run.scenario, places=places))
    source = run.scenario.flows[0].path[0]
    sampled = tuple(
        replace(each, spec=replace(each.spec, sample=3)) if each.name == source else each  # type: ignore[arg-type]
        for each in places
    )
    reached = tuple(
        replace(each, facts=replace(each.facts, bytes=1000, whole_bytes=int(1000 / share)))
        if each.place == source and each.facts
        else each
        for each in run.reached
    )
    return replace(run, scenario=replace(run.scenario, places=sampled), reached=reached)


def test_how_long_derived_data_takes_to_rebuild_is_said_as_measured() -> None:
    run = derived()
    (finding,) = rebuilt(run)
    (flow,) = analyse(run).flows
    assert flow.duration_s is not None
    assert finding.text.startswith("rebuilding library takes ")
    assert finding.text.endswith(", measured")


def test_a_sample_is_scaled_to_all_bytes_and_says_so() -> None:
    (finding,) = rebuilt(derived(share=0.01))
    assert finding.text.startswith("rebuilding library takes about ")
    assert finding.text.endswith("measured, and is 1.0% of the bytes; scaled by bytes")


def test_data_that_is_not_called_derived_is_not_spoken_of() -> None:
    assert "derived" not in INDEX
    assert rebuilt(index_run()) == []
