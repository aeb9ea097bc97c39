"""What is held against what: stored runs of an archive on a NAS, each with one thing planted."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from pathtrace.cli import main
from pathtrace.model.run import Run
from pathtrace.store import runs
from tests.unit.analysis.compared import BEFORE_TEXT, archive, facts, run, started, upgraded

LINK = BEFORE_TEXT.replace("speed: 1 Gbit/s", "speed: 10 Gbit/s")
ADDRESS = BEFORE_TEXT.replace("10.0.0.2", "10.0.9.2")
MOUNT = BEFORE_TEXT.replace("/mnt/archive", "/mnt/fast")
USERS = BEFORE_TEXT.replace("requests: 3", "requests: 3, users: 2")
PLANTED: Mapping[str, Run] = {
    "before": run(),
    "other-data": run(reached=archive(fingerprint="f2")),
    "cold": run(start=started("cold", "cold")),
    "warm": run(start=started("warm", "warm")),
    "bbr": run(hosts=(replace(facts(), congestion_control="bbr"),)),
    "longer-prompts": run(BEFORE_TEXT.replace("input: 512", "input: 2048")),
    "shorter-answers": run(BEFORE_TEXT.replace("output: 256", "output: 64")),
    "more-requests": run(BEFORE_TEXT.replace("requests: 3", "requests: 4")),
    "two-users": run(USERS),
    "batch": run(BEFORE_TEXT.replace("batch: 100", "batch: 500")),
    "depth": run(BEFORE_TEXT.replace("path: /mnt/archive}", "path: /mnt/archive, depth: 16}")),
    "address": run(ADDRESS, reached=archive(address="10.0.9.2"), address="10.0.9.2"),
    "mount": run(MOUNT, reached=archive("/mnt/fast")),
    "link": run(LINK, read_ms=4),
    "all-three": upgraded(),
    "kernel-and-link": upgraded(kernel="Linux 6.18"),
}

Capture = pytest.CaptureFixture[str]


class Said(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("store")
    for number, (label, planted) in enumerate(PLANTED.items()):
        name = f"20261130-0914{number:02}-aaaa"
        (folder / name).mkdir()
        asyncio.run(runs.save(folder / name, replace(planted, id=name, label=label), str))
    return folder


@pytest.fixture
def compare(store: Path, capsys: Capture) -> Callable[..., Said]:
    def called(*arguments: str) -> Said:
        code = main(["compare", "--store", str(store), *arguments])
        captured = capsys.readouterr()
        return Said(code, captured.out, captured.err)

    return called


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ("before", "other-data", "another data set at archive: 10 files, 9.54 MiB (f1), then 10 files"),
        ("cold", "warm", "another start condition: cold, then warm"),
        ("before", "bbr", "another congestion control on workstation: cubic, then bbr"),
        ("before", "longer-prompts", "other prompt or output lengths: workload.model.input was 512, is 2048"),
        ("before", "shorter-answers", "other prompt or output lengths: workload.model.output was 256, is 64"),
        ("before", "more-requests", "another workload: workload.requests was 3, is 4"),
        ("before", "two-users", "(users: [1, 2] in one scenario measures each)"),
        ("before", "batch", "(if that is the change to be judged: --changed library.batch)"),
        ("before", "depth", "(if that is the change to be judged: --changed archive.depth)"),
    ],
)
def test_what_is_not_the_same_work_is_refused_with_the_reason(
    compare: Callable[..., Said], before: str, after: str, reason: str
) -> None:
    done = compare(before, after, "--json")
    assert (done.code, done.out) == (2, "")
    assert reason in done.err


@pytest.mark.parametrize("after", ["more-requests", "two-users", "longer-prompts"])
def test_the_load_itself_cannot_be_announced_away(compare: Callable[..., Said], after: str) -> None:
    names = ("workload.requests", "workload.users", "workload.model.input")
    arguments = [part for name in names for part in ("--changed", name)]
    assert compare("before", after, *arguments).code == 2


@pytest.mark.parametrize(("after", "option"), [("batch", "library.batch"), ("depth", "archive.depth")])
def test_an_option_of_a_place_is_compared_once_it_is_named(
    compare: Callable[..., Said], after: str, option: str
) -> None:
    document = json.loads(compare("before", after, "--changed", option, "--json").out)
    assert (document["comparable"], document["cause"]) == (True, option)
    assert [(each["what"], each["expected"]) for each in document["differences"]] == [(option, True)]


@pytest.mark.parametrize(
    ("named", "near"), [("batch", "library.batch"), ("archive.deep", "archive.depth"), ("lam", "lan")]
)
def test_a_name_that_nothing_has_is_told_with_the_nearest_one(
    compare: Callable[..., Said], named: str, near: str
) -> None:
    done = compare("before", "batch", "--changed", named)
    assert (done.code, done.out) == (2, "")
    assert f"--changed '{named}' is nothing that these runs have" in done.err
    assert f"did you mean '{near}'?" in done.err


@pytest.mark.parametrize(
    ("after", "listed"),
    [
        ("link", {"lan.speed"}),
        ("address", {"nas.addresses", "nas.route.address", "archive.mount.device", "archive.mount.server"}),
        ("mount", {"archive.path", "archive.mount.path"}),
    ],
)
def test_another_address_mount_point_or_link_is_compared_and_listed(
    compare: Callable[..., Said], after: str, listed: set[str]
) -> None:
    done = compare("before", after, "--json")
    document = json.loads(done.out)
    assert (done.code, document["comparable"], document["cause"]) == (0, True, "lan")
    assert {each["what"] for each in document["differences"] if each["matters"]} == listed


def test_a_new_link_with_address_and_mount_is_the_one_cause_that_was_announced(
    compare: Callable[..., Said],
) -> None:
    document = json.loads(compare("before", "all-three", "--changed", "lan", "--json").out)
    assert document["cause"] == "lan"
    assert all(each["expected"] for each in document["differences"] if each["matters"])


@pytest.mark.parametrize("changed", [(), ("--changed", "lan")])
def test_two_changes_leave_the_cause_unclear_whatever_the_speed(
    compare: Callable[..., Said], changed: tuple[str, ...]
) -> None:
    document = json.loads(compare("before", "kernel-and-link", *changed, "--json").out)
    assert document["cause"] == "unclear"
    assert document["flows"][0]["verdict"] == "faster"
    assert any(line.startswith("The cause is unclear") for line in document["verdict"])


def test_swapped_gives_the_inverse(compare: Callable[..., Said]) -> None:
    there = json.loads(compare("before", "link", "--json").out)["flows"][0]
    back = json.loads(compare("link", "before", "--json").out)["flows"][0]
    assert (there["verdict"], back["verdict"]) == ("faster", "slower")
    assert back["ratio"] == pytest.approx(1 / there["ratio"])
    assert (back["low"], back["high"]) == pytest.approx((1 / there["high"], 1 / there["low"]))


def test_every_run_beside_itself_is_the_same(compare: Callable[..., Said]) -> None:
    for label in PLANTED:
        document = json.loads(compare(label, label, "--json").out)
        assert {each["verdict"] for each in (*document["flows"], *document["hops"])} == {"same"}
        assert (document["cause"], document["differences"], document["same_output"]) == ("none", [], True)
