"""Places are asked for work that they can do, and a searched database holds something."""

from __future__ import annotations

import pytest

from tests.unit.scenario.example import FLOWS, PLACES, faults_of, read, text_of


@pytest.mark.parametrize(
    "path",
    [
        "[archive, chunker, library]",
        "[archive, chunker, embedder, library]",
        "[archive, chunker, archive2]",
        "[archive, archive2]",
        "[archive, people]",
        "[weights, model]",
        "[model, people]",
        "[archive, chunker, model, people]",
        "[archive, chunker]",
        "[archive, chunker, chunker2, library]",
    ],
)
def test_paths_that_people_build_are_taken(path: str) -> None:
    places = PLACES + "  archive2: {kind: files, path: /x}\n  chunker2: {kind: process, run: chunk}\n"
    assert len(read(text_of(places=places, flows=f"  f: {{path: {path}}}\n")).flows) == 1


def test_a_database_with_a_query_of_its_own_needs_no_flow_that_fills_it() -> None:
    flows = "  answer: {path: [library, people]}\n"
    places = PLACES.replace('"sqlite://"', '"sqlite:///a.db", query: select 1')
    assert read(text_of(places=places, flows=flows)).flows[0].name == "answer"
    assert faults_of(text_of(flows=flows)) == [
        (
            "lab.yaml:12:19: flows.answer searches 'library', which no earlier flow fills",
            "give the place a query, or a flow that ends in it",
        )
    ]


def test_a_flow_that_fills_it_too_late_does_not_help() -> None:
    flows = FLOWS.replace("people]}", "people], frequency: once}")
    assert len(faults_of(text_of(flows=flows))) == 1


def test_while_a_flow_is_faulty_nobody_can_say_what_fills_a_database() -> None:
    flows = FLOWS.replace("embedder, library]", "embedder, librry]")
    assert [message for message, _ in faults_of(text_of(flows=flows))] == [
        "lab.yaml:13:46: flows.index: there is no place 'librry'"
    ]


@pytest.mark.parametrize("access", ["mmap", "direct"])
def test_what_only_the_kernel_can_do_is_refused_for_a_url(access: str) -> None:
    places = PLACES.replace("path: /srv/archive", f'url: "smb://nas/archive", access: {access}')
    assert faults_of(text_of(places=places)) == [
        (
            f"lab.yaml:4:60: places.archive: access: {access} does not go with a url",
            "use access: read, or mount the share and give its path",
        )
    ]


def test_only_what_pathtrace_knows_can_be_allowed() -> None:
    assert read(text_of("allow: [drop-server-cache]\n")).control.allow == ("drop-server-cache",)
    assert faults_of(text_of("allow: [drop-server-cash]\n")) == [
        (
            "lab.yaml:3:9: allow.1: 'drop-server-cash' is not known here",
            "allowed: load-model, drop-server-cache; did you mean 'drop-server-cache'?",
        )
    ]


@pytest.mark.parametrize("address", ["nas.lan", "nas.lan:", "nas.lan:0", "me@nas:7411", "nas:7411/x"])
def test_an_address_needs_its_port(address: str) -> None:
    (fault,) = faults_of(text_of(f'hosts: {{nas: {{responder: "{address}"}}}}\n'))
    assert fault == (
        f"lab.yaml:3:26: hosts.nas.responder: '{address}' is not an address with a port",
        "write host:port, as in nas.lan:7411",
    )


def test_a_share_needs_its_name() -> None:
    places = PLACES.replace("path: /srv/archive", 'url: "smb://nas/"')
    assert faults_of(text_of(places=places)) == [
        (
            "lab.yaml:4:31: places.archive.url: the URL names no share",
            "write smb://host/share, or smb://host/share/folder",
        )
    ]


@pytest.mark.parametrize(
    ("url", "message", "hint"),
    [
        ("smb://nas/my share", "a URL has no spaces", "write %20 for a space, %25 for a percent sign"),
        ("smb://me@nas:99999/archive", "there is no port 99999", "allowed: 1 to 65535"),
        ("smb://[fd77::1]:0/archive", "there is no port 0", "allowed: 1 to 65535"),
        (
            "smb://me:123456/7@nas/archive",
            "the URL names no host",
            "write smb://host/…; a / in a password is %2F, an @ is %40",
        ),
    ],
)
def test_a_url_that_cannot_be_one_says_what_is_wrong_with_it(url: str, message: str, hint: str) -> None:
    places = PLACES.replace("path: /srv/archive", f'url: "{url}"')
    assert faults_of(text_of(places=places)) == [(f"lab.yaml:4:31: places.archive.url: {message}", hint)]
