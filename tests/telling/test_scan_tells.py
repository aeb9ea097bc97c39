"""Whole scans, as a timer starts them, tell real servers: once what is broken, and once that it is over."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.command import pathtrace
from tests.telling.receivers import http_receiver, mail_server

SECRET = "s3cr3t-token"
SCENARIO = """\
pathtrace: 1
name: nightly
places:
  documents: {kind: files, make: {files: 4, bytes: 4 KiB, kind: text}}
  sleeper:
    {kind: process, command: [sh, -c, "cat >/dev/null; sleep $(cat nap); echo '\\"piece\\"'"], workers: 1}
  library: {kind: database, url: "sqlite://"}
flows:
  index: {path: [documents, sleeper, library], frequency: every 24 h}
repeats: 1
expect: {index: 1500 ms}
tell:
  urls: ["json://127.0.0.1:HOOK/s3cr3t-token"]
  ping: http://127.0.0.1:CHECK/s3cr3t-token
  metrics: FOLDER/nightly.prom
  log: FOLDER/nightly.jsonl
"""


def test_four_nights_are_told_as_they_are_meant_to_be(tmp_path: Path) -> None:
    told = tmp_path / "told"
    told.mkdir()
    with http_receiver() as hook, http_receiver() as check, mail_server() as mail:
        text = SCENARIO.replace("HOOK", str(hook.port)).replace("CHECK", str(check.port))
        (tmp_path / "nightly.yaml").write_text(text.replace("FOLDER", str(told)))
        address = f"mailto://127.0.0.1:{mail.port}/?from=lab@example.org&to=owner@example.org"
        codes = []
        for nap in ("0.01", "0.6", "0.6", "0.01"):
            (tmp_path / "nap").write_text(nap)
            done = pathtrace(
                tmp_path,
                *("scan", "nightly.yaml", "--no-probes"),
                PATHTRACE_TELL=address,
                PATHTRACE_RUNTIME=str(tmp_path),
            )
            assert SECRET not in done.out + done.err
            codes.append(done.code)
    titles = [
        "nightly on workstation: index takes longer than it may",
        "nightly on workstation: index is within its limit again",
    ]
    assert codes == [0, 1, 1, 0]
    assert [each.json["title"] for each in hook.requests] == titles
    assert [str(each["Subject"]) for each in mail.mails] == titles
    start, end, fail = (f"/{SECRET}{what}" for what in ("/start", "", "/fail"))
    assert [each.path for each in check.requests] == [start, end, start, fail, start, fail, start, end]
    lines = [json.loads(line) for line in (told / "nightly.jsonl").read_text().splitlines()]
    assert [line["expectations"][0]["state"] for line in lines] == [None, "new", "standing", "ended"]
    assert 'pathtrace_expectation_kept{name="index",scenario="nightly"} 1.0' in (
        (told / "nightly.prom").read_text()
    )
    kept = [path for path in tmp_path.rglob("*") if path.is_file() and path.name != "nightly.yaml"]
    assert [path for path in kept if SECRET.encode() in path.read_bytes()] == []
