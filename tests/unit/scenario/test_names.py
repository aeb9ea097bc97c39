"""A name that is used is there, or the nearest one is offered."""

from __future__ import annotations

from tests.unit.scenario.example import FLOWS, PLACES, faults_of, read, text_of


def test_a_wrong_name_is_told_also_where_its_entry_is_faulty_otherwise() -> None:
    flows = FLOWS.replace("[weights, model]", "[wieghts, model], frequency: often")
    assert [message for message, _ in faults_of(text_of(flows=flows))] == [
        "lab.yaml:14:17: flows.load: there is no place 'wieghts'",
        "lab.yaml:14:45: flows.load.frequency: 'often' is not a frequency",
    ]


def test_a_place_with_a_fault_is_still_a_place() -> None:
    places = PLACES.replace("run: chunk", "run: chunks")
    assert [message for message, _ in faults_of(text_of(places=places))] == [
        "lab.yaml:5:33: places.chunker.run: 'chunks' is not known here"
    ]


def test_where_hosts_are_declared_other_names_are_slips() -> None:
    places = PLACES.replace("path: /srv/archive", "path: /srv/archive, host: nsa")
    assert faults_of(text_of("hosts: {nas: {}}\n", places)) == [
        (
            "lab.yaml:5:52: places.archive: there is no host 'nsa'",
            "allowed: nas, workstation; did you mean 'nas'?",
        )
    ]
    assert read(text_of(places=places)).place("archive").host == "nsa"


def test_the_workstation_is_no_host_where_another_runs_pathtrace() -> None:
    top = "hosts: {nas: {}, box: {here: true}}\nlinks: {lan: {hosts: [nas, workstation]}}\n"
    assert faults_of(text_of(top)) == [
        ("lab.yaml:4:28: links.lan: there is no host 'workstation'", "allowed: nas, box")
    ]
