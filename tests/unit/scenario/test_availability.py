"""What is not built yet is told by name; what is built is not."""

from __future__ import annotations

from tests.unit.scenario.example import PLACES, faults_of, read, text_of


def test_one_level_of_users_may_also_be_written_as_a_list() -> None:
    assert read(text_of("workload: {users: [3]}\n")).workload.users == (3,)


def test_block_depth_ssh_and_claims_are_available() -> None:
    top = "hosts: {nas: {ssh: admin@nas.lan}}\nclaims: [The link is slow]\n"
    top += "expect: {answer: 1 s}\nallow: [load-model]\n"
    places = PLACES.replace("path: /srv/archive", "path: /srv/archive, block: 64 KiB, depth: 4")
    assert read(text_of(top, places)).control.allow == ("load-model",)


def test_empty_lists_ask_for_nothing() -> None:
    assert read(text_of("idle_gaps: []\ntogether: []\nchecks: []\n")).control.checks == ()


def test_a_share_by_url_is_told_with_what_to_do_instead() -> None:
    places = PLACES.replace("path: /srv/archive", 'url: "s3://bucket/archive"')
    assert faults_of(text_of(places=places)) == [
        (
            "lab.yaml:4:31: files by s3 is not available in this version",
            "available: path, make, url with smb or sftp",
        )
    ]


def test_files_by_smb_and_sftp_are_on_the_host_of_their_url() -> None:
    for url in ("smb://nas/archive/papers", "sftp://me@nas/srv/archive"):
        place = read(text_of(places=PLACES.replace("path: /srv/archive", f'url: "{url}"'))).place("archive")
        assert place.host == "nas"
