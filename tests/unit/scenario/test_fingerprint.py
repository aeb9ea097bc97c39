"""The same work has the same fingerprint however it is written; other work has another."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.scenario.example import FLOWS, PLACES, read, text_of


def fingerprints(text: str, environ: dict[str, str] | None = None) -> tuple[str, str]:
    scenario = read(text, environ)
    return scenario.workload_fingerprint, scenario.setup_fingerprint


BASE = fingerprints(text_of())


@given(st.permutations(PLACES.splitlines(keepends=True)), st.permutations(FLOWS.splitlines(keepends=True)))
def test_the_order_of_keys_does_not_count(places: list[str], flows: list[str]) -> None:
    assert fingerprints(text_of(places="".join(places), flows="".join(flows))) == BASE


@pytest.mark.parametrize(
    "text",
    [
        text_of("# a comment\n"),
        text_of("workload: {users: 1, requests: 20}\nrepeats: 5\n"),
        text_of(places=PLACES.replace("run: chunk", "run: chunk, queue: 16, timeout: 1 min")),
        text_of(flows=FLOWS.replace("people]}", "people], frequency: per-request, waits: people}")),
    ],
)
def test_comments_and_defaults_that_are_written_out_do_not_count(text: str) -> None:
    assert fingerprints(text) == BASE


@pytest.mark.parametrize(
    "text",
    [
        text_of("workload: {requests: 21}\n"),
        text_of(places=PLACES.replace('"sqlite://"', '"sqlite://", batch: 500')),
        text_of(places=PLACES.replace("run: chunk", "command: [cat]")),
        text_of(flows=FLOWS.replace("library]}", "library], frequency: every 24 h}")),
    ],
)
def test_other_work_changes_the_workload_and_not_the_setup(text: str) -> None:
    workload, setup = fingerprints(text)
    assert workload != BASE[0]
    assert setup == BASE[1]


@pytest.mark.parametrize(
    "text",
    [
        text_of("repeats: 7\n"),
        text_of("links: {lan: {hosts: [workstation, nas], speed: 10GbE}}\n"),
        text_of("hosts: {nas: {address: nas.lan}}\n"),
        text_of(places=PLACES.replace("/srv/archive", "/mnt/archive")),
        text_of(places=PLACES.replace("http://localhost:8080", "http://gpu.lan:8080")),
    ],
)
def test_other_surroundings_change_the_setup_and_not_the_workload(text: str) -> None:
    workload, setup = fingerprints(text)
    assert workload == BASE[0]
    assert setup != BASE[1]


def test_a_secret_is_not_in_it() -> None:
    places = PLACES.replace("http://localhost:8080", "http://me:${WORD}@localhost:8080")
    one, other = (fingerprints(text_of(places=places), {"WORD": word}) for word in ("hunter2", "*******"))
    assert one == other


def test_where_files_lie_on_their_own_host_belongs_to_the_set_up() -> None:
    workload, setup = fingerprints(
        text_of(places=PLACES.replace("path: /srv/archive", "path: /srv/archive, there: /volume1/archive"))
    )
    assert workload == BASE[0]
    assert setup != BASE[1]
