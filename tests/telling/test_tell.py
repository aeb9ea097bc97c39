"""All ways at once, as a scan tells: each for itself, every scan in metrics and log, no secret anywhere."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil

from pathtrace.app.telling import doubts_of_ways, tell, tell_start
from pathtrace.model.report import Caveat
from pathtrace.model.scanning import ScanReport
from pathtrace.model.scenario import Scenario
from tests.cli.command import pathtrace
from tests.telling import example
from tests.telling.receivers import Receiver, free_port, http_receiver, mute_server
from tests.unit.scenario.example import read, text_of

SECRET = "s3cr3t-token"
STEP = example.with_changes(example.STEP)


def scenario(folder: Path, urls: str, ping: str, **other: str) -> Scenario:
    files = {"metrics": str(folder / "p.prom"), "log": str(folder / "p.jsonl")} | other
    ways = "".join(f"  {key}: {value}\n" for key, value in files.items())
    return read(text_of(f"tell:\n  urls: ['{urls}']\n  ping: {ping}\n{ways}"), {"HUB_TOKEN": SECRET})


def told(report: ScanReport, scenario: Scenario, document: Any = None) -> tuple[Caveat, ...]:
    return asyncio.run(
        tell(report, scenario, document or {"format": "pathtrace.scan/1", "id": report.entry.id})
    )


def lines(folder: Path) -> list[Any]:
    return [json.loads(line) for line in (folder / "p.jsonl").read_text().splitlines()]


def test_every_way_is_told_and_only_messages_wait_for_news(tmp_path: Path) -> None:
    with http_receiver() as hook, http_receiver() as check:
        lab = scenario(tmp_path, f"json://127.0.0.1:{hook.port}", f"http://127.0.0.1:{check.port}/uuid")
        for report in (example.QUIET, STEP, example.skipped(), example.failed("new")):
            assert asyncio.run(tell_start(lab)) == ()
            assert told(report, lab) == ()
    assert [each.json["title"].split(": ")[1] for each in hook.requests] == [
        "archive->indexer of index takes 2.9 times as long",
        "the scan failed",
    ]
    assert paths(check) == ["/uuid/start", "/uuid"] * 3 + ["/uuid/start", "/uuid/fail"]
    assert len(lines(tmp_path)) == 4
    assert 'pathtrace_scan_outcome{outcome="failed",scenario="household-archive"} 1.0' in (
        (tmp_path / "p.prom").read_text()
    )


def paths(receiver: Receiver) -> list[str]:
    return [each.path for each in receiver.requests]


def test_each_way_fails_for_itself(tmp_path: Path) -> None:
    missing = {"metrics": str(tmp_path / "no" / "p.prom"), "log": str(tmp_path / "no" / "p.jsonl")}
    with http_receiver() as hook, http_receiver() as check:
        nobody = (f"json://127.0.0.1:{free_port()}/{SECRET}", f"http://127.0.0.1:{free_port()}/{SECRET}")
        somebody = (f"json://127.0.0.1:{hook.port}", f"http://127.0.0.1:{check.port}/uuid")
        cases = {
            "tell.urls.1": scenario(tmp_path, nobody[0], somebody[1]),
            "tell.ping": scenario(tmp_path, somebody[0], nobody[1]),
            "tell.metrics": scenario(tmp_path, *somebody, metrics=missing["metrics"]),
            "tell.log": scenario(tmp_path, *somebody, log=missing["log"]),
        }
        for subject, lab in cases.items():
            (caveat,) = told(STEP, lab)
            assert (caveat.code, caveat.subject) == ("not-told", subject)
            assert SECRET not in repr(caveat)
    assert (len(hook.requests), len(check.requests), len(lines(tmp_path))) == (3, 3, 3)


def test_a_way_of_nothing_but_words_fails_in_words(tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text("127.0.0.1 localhost\n")
    ways = {"metrics": str(tmp_path / "hosts"), "log": "~nobody-of-that-name/log"}
    with http_receiver() as web:
        lab = scenario(tmp_path, f"json://127.0.0.1:{web.port}", f"http://127.0.0.1:{web.port}/", **ways)
        metrics, log = told(STEP, lab)
    assert metrics.text.startswith("tell.metrics: the file is there and holds something else")
    assert log.text.startswith("tell.log: ")


def test_secrets_are_in_nothing_that_is_told(tmp_path: Path) -> None:
    url = f"the server at http://u:{SECRET}@nas said {SECRET}"
    report = replace(
        STEP,
        entry=replace(example.ENTRY, reason=url, label=SECRET),
        against=url,
        expectations=(replace(example.BROKEN, said=f"+20% {SECRET}", reason=url),),
        changes=(replace(example.STEP, marks=(replace(example.MARKS[0], after=url),)),),
    )
    document = {"reason": url, "deep": [{SECRET: (url, 1.5, float("inf"), True)}], "odd": float("nan")}
    with http_receiver() as hook, http_receiver() as check:
        port = f"json://127.0.0.1:{hook.port}/${{HUB_TOKEN}}"
        lab = scenario(tmp_path, port, f"http://127.0.0.1:{check.port}/{SECRET}")
        assert told(report, lab, document) == ()
    assert SECRET in hook.requests[0].path
    shown = hook.requests[0].body.decode() + check.requests[0].body.decode()
    shown += (tmp_path / "p.prom").read_text() + (tmp_path / "p.jsonl").read_text()
    assert SECRET not in shown
    assert "the server at http://u:***@nas said ***" in shown
    assert lines(tmp_path) == [
        {
            "reason": "the server at http://u:***@nas said ***",
            "deep": [{"***": ["the server at http://u:***@nas said ***", 1.5, None, True]}],
            "odd": None,
        }
    ]


def test_a_scan_that_is_stopped_while_it_tells_leaves_no_process(tmp_path: Path) -> None:
    async def stopped(lab: Scenario) -> None:
        task = asyncio.create_task(tell(STEP, lab, {}))
        deadline = time.monotonic() + 10
        while not messengers():
            assert time.monotonic() < deadline
            await asyncio.sleep(0.02)
        task.cancel()
        await asyncio.wait({task})
        assert task.cancelled()

    with mute_server() as port, http_receiver() as check:
        asyncio.run(
            stopped(scenario(tmp_path, f"json://127.0.0.1:{port}", f"http://127.0.0.1:{check.port}/"))
        )
    assert messengers() == []


def messengers() -> list[int]:
    """Processes of ours that speak with apprise."""
    found = []
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.Error):
            if "pathtrace.telling.messenger" in child.cmdline():
                found.append(child.pid)
    return found


def test_check_says_that_a_files_folder_is_missing_and_writes_nothing(tmp_path: Path) -> None:
    ways = f"tell: {{metrics: {tmp_path}/gone/lab.prom, log: {tmp_path}/lab.jsonl}}\n"
    assert asyncio.run(doubts_of_ways(read(text_of(ways)))) == (
        Caveat(
            "not-told",
            f"tell.metrics: there is no folder {tmp_path}/gone",
            "make it, or name another",
            "tell.metrics",
        ),
    )
    assert list(tmp_path.iterdir()) == []


def test_check_says_that_a_url_is_not_understood_and_does_not_show_it(tmp_path: Path) -> None:
    (tmp_path / "archive").mkdir()
    (tmp_path / "archive" / "a.txt").write_text("words\n")
    file = tmp_path / "lab.yaml"
    file.write_text(
        "pathtrace: 1\nname: lab\n"
        f"tell: {{urls: ['nope://{SECRET}/way']}}\n"
        f"places:\n  archive: {{kind: files, path: {tmp_path}/archive}}\n"
        "  chunker: {kind: process, run: chunk}\n"
        "  library: {kind: database, url: 'sqlite://'}\n"
        "flows:\n  index: {path: [archive, chunker, library]}\n"
    )
    for more in ((), ("--json",)):
        done = pathtrace(tmp_path, "check", str(file), *more, PATHTRACE_TELL=f"nope2://{SECRET}")
        assert done.code == 0
        said = " ".join(done.out.split())
        assert "address 1 of 2 to tell: the URL is not understood: apprise knows no such service" in said
        assert "address 2 of 2 to tell: the URL is not understood" in said
        assert SECRET not in done.out + done.err
