"""A writer that really stalls, as it shows in a run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command import pathtrace

WRITER = """\
cat >>"$1/written"
printf x >>"$1/count"
if [ $(($(wc -c <"$1/count") % 60)) -eq 0 ]; then sleep 0.5; fi
echo '"a piece"'
"""

STALLING = """\
pathtrace: 1
name: stalling
places:
  documents: {{kind: files, make: {{files: 480, bytes: 2 MiB, kind: text}}}}
  writer: {{kind: process, command: [sh, {script}, {folder}], workers: 1}}
  library: {{kind: database, url: "sqlite://"}}
flows:
  index: {{path: [documents, writer, library], frequency: every 24 h}}
repeats: 1
"""


@pytest.mark.timeout(90)
def test_a_writer_that_stalls_every_so_often_is_found_and_seen(tmp_path: Path) -> None:
    script, scenario = tmp_path / "writer.sh", tmp_path / "stalling.yaml"
    script.write_text(WRITER)
    scenario.write_text(STALLING.format(script=script, folder=tmp_path))
    done = pathtrace(tmp_path, "run", str(scenario), "--json")
    assert done.code == 0, done.err
    document = json.loads(done.out)
    saws = [finding["text"] for finding in document["findings"] if finding["code"] == "sawtooth"]
    assert len(saws) == 1, document["findings"]
    assert saws[0].startswith("writer->library stalls about every ")
    for hop in document["hops"]:
        rates = [point["operations_per_s"] for point in hop["series"]]
        assert len(rates) >= 10
        assert min(rates) < max(rates) / 3
    shown = pathtrace(tmp_path, "show", "last")
    assert "Over time" in shown.out
    assert "writer->library" in shown.out.partition("Over time")[2]


def test_direct_reads_are_measured_and_said_to_pass_the_cache_by(tmp_path: Path) -> None:
    root = tmp_path / "archive"
    root.mkdir()
    for number in range(40):
        (root / f"{number}.txt").write_bytes(b"some words " * 500)
    scenario = tmp_path / "direct.yaml"
    scenario.write_text(
        "pathtrace: 1\nname: direct\n"
        "places:\n"
        f"  archive: {{kind: files, path: {root}, access: direct, depth: 2}}\n"
        "  chunker: {kind: process, run: chunk}\n"
        "flows: {index: {path: [archive, chunker], frequency: every 24 h}}\n"
        "repeats: 2\n"
    )
    done = pathtrace(tmp_path, "run", str(scenario), "--json")
    assert done.code == 0, done.err
    document = json.loads(done.out)
    assert document["start_condition"]["layers"]["client_cache"] == {
        "state": "cold",
        "evidence": "archive: direct reads go past this host's page cache and do not fill it",
    }
    (hop,) = document["hops"]
    assert (hop["operations"], hop["errors"], hop["bytes"]) == (40, 0, 40 * 5500)
    parts = hop["stages"][0]["parts"]
    assert all(parts[name] > 0 for name in ("setup_s", "stat_s", "body_s", "finish_s"))
    assert parts["stat_s"] < parts["setup_s"]
