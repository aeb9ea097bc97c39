from __future__ import annotations

from dataclasses import replace

from pathtrace.analysis import analyse
from pathtrace.model.report import Finding
from pathtrace.model.run import Ceiling, Mount
from tests.unit.analysis.builders import reached
from tests.unit.analysis.planted import index_run

SYNC = Ceiling("commit:library", None, 10.0, 0.1, "measured", "fdatasync", 1.0)


def found(mount: Mount, *ceilings: Ceiling) -> list[Finding]:
    library = replace(reached("library"), mount=mount)
    report = analyse(index_run(places=(reached("archive", disk="sda"), library), ceilings=ceilings))
    return [finding for finding in report.findings if finding.code == "network-database"]


def test_a_database_on_a_share_is_warned_of_with_what_a_sync_costs_there() -> None:
    assert found(Mount("/mnt/nas", "//nas/lab", "cifs", None, True), SYNC) == [
        Finding(
            "network-database",
            "library lies on a network mount: each commit crosses it; a sync there takes 100 ms alone",
            ("cifs from //nas/lab at /mnt/nas", "move its files to a disk of its own host"),
        )
    ]


def test_a_database_on_a_disk_of_this_host_is_not() -> None:
    assert found(Mount("/data", "/dev/sdb", "ext4", "sdb", False), SYNC) == []
