from __future__ import annotations

from pathtrace.analysis import analyse
from pathtrace.model.report import CapacityReport, DatasetReport, ResourceReport
from tests.unit.analysis.builders import GIB, MB, MS
from tests.unit.analysis.limiting.test_limits import PAYLOAD, SLOW_READ, ceiling, shares
from tests.unit.analysis.planted import INDEX, answer_run, disk, index_run
from tests.unit.analysis.test_verdict import LAN


def test_a_ceiling_is_shown_with_how_much_of_it_was_used() -> None:
    run = index_run(
        (20 * MS, 1 * MS, 1 * MS),
        readings=lambda a, b: disk(a, b, read=PAYLOAD, busy=0.0),
        ceilings=(ceiling("disk:archive", 100 * MB),),
    )
    assert analyse(run).resources[0] == ResourceReport(
        *("disk:archive", "disk", 100 * MB, None, None, "measured", 0.5, "alone")
    )


def test_a_declared_link_is_shown_with_its_declared_speed() -> None:
    found = [each for each in analyse(index_run(text=INDEX + LAN)).resources if each.kind == "link"]
    assert found == [ResourceReport("link:lan", "link", 125e6, None, None, "declared", None, None)]


def test_what_limits_without_a_ceiling_is_shown_with_its_utilisation() -> None:
    found = {each.name: each for each in analyse(index_run(SLOW_READ, shares(1, cpu=0.9))).resources}
    assert (found["cpu:indexer"].kind, found["cpu:indexer"].utilisation) == ("cpu", 0.9)
    assert "unknown" not in found


def test_data_and_memory_stand_beside_what_is_needed() -> None:
    report = analyse(answer_run())
    assert report.dataset == (DatasetReport("weights", 3, 400 * MB, None, None),)
    assert report.capacity == (CapacityReport("workstation", 16 * GIB, 8 * GIB, 400 * MB),)
