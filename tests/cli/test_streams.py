import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from pathtrace.cli import streams
from tests.cli.command import STAND_INS, command, environment


@pytest.mark.parametrize(("encoding", "able"), [("utf-8", True), ("ascii", False), ("latin-1", False)])
def test_a_drawing_needs_an_encoding_that_knows_its_signs(encoding: str, able: bool) -> None:
    assert streams.can_draw(io.TextIOWrapper(io.BytesIO(), encoding=encoding)) is able


def test_a_document_is_ascii_and_has_no_nan(capsys: pytest.CaptureFixture[str]) -> None:
    streams.write_json({"name": "Ärger \udcff", "value": None})
    out = capsys.readouterr().out
    assert out.isascii()
    assert json.loads(out) == {"name": "Ärger \udcff", "value": None}
    with pytest.raises(ValueError, match="Out of range"):
        streams.write_json({"value": float("nan")})


def test_a_terminal_without_unicode_gets_letters(tmp_path: Path) -> None:
    plain = environment(tmp_path, PYTHONIOENCODING="ascii")
    scenario = tmp_path / "lab.yaml"
    scenario.write_text(
        "pathtrace: 1\nname: lab\nplaces:\n  a: {kind: files, path: .}\n  b: {kind: process, run: chunk}\n"
        "flows: {f: {path: [a, b], frequency: once}}\n"
    )
    done = subprocess.run(command("map", str(scenario)), capture_output=True, env=plain, check=True)
    assert done.stdout.isascii()
    assert b"+----" in done.stdout


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    with subprocess.Popen(
        command("schema", "run"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(tmp_path)
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        error = process.stderr.read()
        code = process.wait(timeout=30)
    assert (code, error) == (0, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_result_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            command("schema", "run"), stdout=full, stderr=subprocess.PIPE, env=environment(tmp_path)
        )
    assert done.returncode == 3
    assert done.stderr == b"error: cannot write to standard output: No space left on device\n"


@pytest.mark.parametrize("closed", ["1>&-", "2>&-"])
def test_a_stream_that_was_closed_before_is_done_without(closed: str, tmp_path: Path) -> None:
    line = f'"$@" {closed}'
    done = subprocess.run(
        ["sh", "-c", line, "sh", *command("places")], capture_output=True, env=environment(tmp_path)
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_the_module_is_the_command(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pathtrace", "--version"], capture_output=True, env=environment(tmp_path)
    )
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_remarks_that_nobody_takes_change_nothing(tmp_path: Path) -> None:
    scenario = tmp_path / "lab.yaml"
    scenario.write_text(STAND_INS)
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            command("run", str(scenario), "--json"),
            stdout=subprocess.PIPE,
            stderr=full,
            env=environment(tmp_path),
        )
    assert done.returncode == 0
    assert json.loads(done.stdout)["status"] == "complete"


@pytest.mark.parametrize(("columns", "width"), [("0", 80), ("1", 20), ("20", 20), ("40", 40), ("many", 80)])
def test_a_terminal_is_as_wide_as_it_says_and_wide_enough_to_read(
    columns: str, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert streams.console(io.StringIO()).width == width


def test_a_remark_steers_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    streams.say("a command said:\t\x1b[2J\x00\u202eno\r\x9b31m\nand more · ü")
    assert capsys.readouterr().err == "a command said:\t�[2J��no��31m\nand more · ü\n"
