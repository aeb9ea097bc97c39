from __future__ import annotations

from dataclasses import replace

from pathtrace.analysis.evidence import Evidence
from pathtrace.analysis.memory_use import capacity_reports, memory_findings
from pathtrace.model.report import CapacityReport
from pathtrace.model.run import Reached, Run
from pathtrace.model.sample import Reading
from pathtrace.model.work import PlaceFacts
from tests.unit.analysis.builders import GIB, MB, host, run_of
from tests.unit.analysis.test_memory_plan import LLAMA_8B, household

KEPT = 5 * GIB + GIB + 22 * MB
"""Weights, the cache of 8192 tokens, and the least that the server itself takes."""


def run(*, weights: int = 5 * GIB, rss: float | None = None, available: float = 9 * GIB) -> Run:
    readings = [Reading(5, "memory", "host", "available_bytes", available)]
    if rss is not None:
        readings += [Reading(at, "process", "model", "rss_bytes", rss / (3 - at)) for at in (1, 2)]
    places = (
        Reached("weights", PlaceFacts("there", bytes=weights, weights=LLAMA_8B), None, None, None),
        Reached("model", PlaceFacts("answers"), None, None, None if rss is None else 7),
        Reached(
            "library",
            PlaceFacts("there", write_bytes=3, disk_total_bytes=100, disk_used_bytes=60),
            None,
            None,
            None,
        ),
    )
    return run_of(household(), [], readings=readings, places=places, hosts=(host(),))


def codes(found: Run) -> list[str]:
    return [finding.code for finding in memory_findings(Evidence(found))]


def test_hosts_models_and_disks_show_what_was_used_beside_what_is_needed() -> None:
    assert capacity_reports(Evidence(run(rss=7 * GIB, available=6 * GIB))) == (
        CapacityReport("workstation", 16 * GIB, 10 * GIB, KEPT),
        CapacityReport("model", 16 * GIB, 7 * GIB, KEPT),
        CapacityReport("library", 100, 60, 3),
    )


def test_a_server_that_nobody_saw_has_no_use_of_its_own() -> None:
    assert [each.subject for each in capacity_reports(Evidence(run()))] == ["workstation", "library"]
    assert codes(run()) == []


def test_the_plan_stands_beside_what_the_server_took() -> None:
    (finding,) = memory_findings(Evidence(run(rss=6.2 * GIB)))
    assert finding.code == "memory-use"
    assert finding.text.startswith("model took 6.2 GiB of memory at most, planned were 6.02 GiB to 6.")
    assert finding.text.endswith("GiB")


def test_far_less_or_more_than_planned_comes_with_what_may_explain_it() -> None:
    (less,) = memory_findings(Evidence(run(rss=2 * GIB)))
    assert less.text.endswith("or elsewhere (a GPU), or its context is shorter")
    (more,) = memory_findings(Evidence(run(rss=9 * GIB)))
    assert more.text.endswith("or it keeps earlier prompts")


def test_weights_mapped_into_less_memory_than_they_need_are_a_finding() -> None:
    assert codes(run(weights=9 * GIB)) == ["memory"]
    assert codes(run(weights=6 * GIB)) == []


def test_the_cache_counts_too_while_no_server_holds_it_yet() -> None:
    assert codes(run(weights=int(7.5 * GIB))) == ["memory"]
    assert codes(run(weights=int(7.5 * GIB), rss=8 * GIB)) == ["memory-use"]


def test_weights_that_are_read_rather_than_mapped_are_no_finding() -> None:
    found = run(weights=9 * GIB)
    weights = found.scenario.place("weights")
    plain = replace(weights, spec=replace(weights.spec, access_stated=True))  # type: ignore[arg-type]
    places = tuple(plain if place is weights else place for place in found.scenario.places)
    assert codes(replace(found, scenario=replace(found.scenario, places=places))) == []
