"""``pathtrace probe`` as a user calls it: what it prints, what it leaves, and how it ends."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.cli.command import STAND_INS, Result, pathtrace
from tests.places.document_server import document_server
from tests.unit.probes.responders import listening

WRONG = "certainly not the right token"
ANY = "0.0.0.0"
"""This host, but no address of loopback, which counts as no way to another host."""


def probed(folder: Path, scenario: str, *arguments: str, **more: str) -> Result:
    (folder / "probed.yaml").write_text(scenario)
    return pathtrace(folder, "probe", "probed.yaml", *arguments, **more)


def test_each_resource_is_measured_alone_and_nothing_is_stored(tmp_path: Path) -> None:
    result = probed(tmp_path, STAND_INS, "--json")
    assert result.code == 0, result.err
    document = json.loads(result.out)
    assert (document["format"], document["unreached"]) == ("pathtrace.probe/1", {})
    assert {each["kind"] for each in document["resources"]} == {"disk", "commit", "tracer"}
    assert document["took_s"] >= max(each["took_s"] for each in document["resources"])
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [tmp_path / "probed.yaml"]


def test_a_place_that_cannot_be_reached_costs_only_what_it_would_have_told(tmp_path: Path) -> None:
    broken = STAND_INS.replace("make: {files: 40, bytes: 400 KiB, kind: text}", "path: /not/there")
    result = probed(tmp_path, broken, "--json")
    assert result.code == 3
    document = json.loads(result.out)
    assert [*document["unreached"]] == ["documents"]
    assert "Traceback" not in result.err


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="follows the way by the kernel's error queue"
)
def test_a_responder_that_refuses_the_token_is_told_and_its_link_counts_as_not_measured(
    tmp_path: Path,
) -> None:
    with document_server() as server, listening() as there:
        hosts = f'hosts: {{nas: {{address: {ANY}, responder: "{there.address}"}}}}\nplaces:'
        url = server.url.replace("127.0.0.1", ANY)
        far = STAND_INS.replace("places:", hosts).replace("run: chunk", f'url: "{url}", host: nas')
        result = probed(tmp_path, far, "--json", PATHTRACE_TOKEN=WRONG)
    assert result.code == 3, result.err
    document = json.loads(result.out)
    (caveat,) = [each for each in document["caveats"] if each["code"] == "link-not-measured"]
    assert "the responder refused the token" in caveat["text"]
    assert "disk" in {each["kind"] for each in document["resources"]}
    assert "wrong token" in "\n".join(there.told)
    assert WRONG not in result.out + result.err


@pytest.mark.parametrize("name", ["run", "probe"])
def test_a_token_that_no_responder_takes_is_refused_before_anything_is_done(
    name: str, tmp_path: Path
) -> None:
    """Its few characters would be hidden wherever they stand: in names, figures and states."""
    (tmp_path / "probed.yaml").write_text(STAND_INS)
    result = pathtrace(tmp_path, name, "probed.yaml", "--json", PATHTRACE_TOKEN="e")
    assert (result.code, result.out) == (2, "")
    assert result.err.splitlines()[0] == "error: PATHTRACE_TOKEN has only 1 character"
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["probed.yaml"]
