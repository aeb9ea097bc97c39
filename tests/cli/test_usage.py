import json
from pathlib import Path

import pytest

from pathtrace.cli import edge, main
from pathtrace.cli.table import COMMANDS
from pathtrace.errors import PathtraceError, PlaceError, ScenarioError, UsageError
from tests.cli.command import STAND_INS

Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["chek"], "there is no command 'chek'", "did you mean 'check'?"),
        (["zzz"], "there is no command 'zzz'", f"available are {', '.join(COMMANDS)}"),
        (["run", "--jsn"], "no such option '--jsn'", "did you mean '--json'?"),
        (["--jsn"], "no such option '--jsn'", "see 'pathtrace --help'"),
        (["show", "a", "b"], "got unexpected extra argument (b)", "see 'pathtrace show --help'"),
    ],
)
def test_wrong_usage_names_what_is_nearest(
    arguments: list[str], message: str, hint: str, capsys: Capture
) -> None:
    assert main(arguments) == 2
    assert capsys.readouterr() == ("", f"error: {message}\nhint: {hint}\n")


@pytest.mark.parametrize("name", ["run", "check"])
def test_without_a_scenario_it_says_how_to_come_by_one(name: str, capsys: Capture) -> None:
    assert main([name, "--json"]) == 2
    assert capsys.readouterr() == (
        "",
        f"error: {name} needs a scenario: a YAML file that describes your places and flows\n"
        f"hint: try 'pathtrace {name} scenarios/quickstart.yaml', then copy and adapt "
        "scenarios/household-archive.yaml\n",
    )


def test_every_fault_of_a_scenario_is_told_and_nothing_is_put_out(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text("pathtrace: 1\nname: bad\nplaces:\n  a: {kind: fils}\n  b: {kind: file}\nflows: {}\n")
    assert main(["run", str(path), "--json"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    faults = [line for line in captured.err.splitlines() if line.startswith("error: ")]
    assert f"error: {path}:4:" in faults[0]
    assert f"error: {path}:5:" in faults[1]


@pytest.mark.parametrize("name", ["run", "check", "map"])
def test_what_is_no_scenario_is_refused_in_one_message(name: str, tmp_path: Path, capsys: Capture) -> None:
    binary = tmp_path / "binary.yaml"
    binary.write_bytes(bytes(range(256)))
    (tmp_path / "folder.yaml").mkdir()
    for path in (binary, tmp_path / "folder.yaml", tmp_path / "missing.yaml"):
        assert main([name, str(path)]) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.startswith(f"error: {path}")
        assert captured.err.count("error: ") == 1


def test_an_unknown_run_is_a_usage_error(tmp_path: Path, capsys: Capture) -> None:
    assert main(["show", "nosuch", "--store", str(tmp_path)]) == 2
    assert main(["map", "nosuch", "--store", str(tmp_path)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("error: ") == 2


@pytest.mark.parametrize("name", ["scenario", "run"])
def test_a_schema_is_one_json_document(name: str, capsys: Capture) -> None:
    assert main(["schema", name]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["$schema"].startswith("https://json-schema.org/")
    assert captured.err == ""


def test_places_are_listed_for_people_and_programs(capsys: Capture) -> None:
    assert main(["places"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "sqlite" in text
    assert "(not available in this version)" in text
    assert main(["places", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["format"] == "pathtrace.places/1"
    assert {entry["kind"] for entry in document["places"]} == {
        "files",
        "process",
        "database",
        "inference",
        "user",
    }


def test_a_scenario_is_mapped_in_every_format(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "lab.yaml"
    path.write_text(STAND_INS)
    assert main(["map", str(path)]) == 0
    assert "chunker" in capsys.readouterr().out
    assert main(["map", str(path), "--format", "mermaid"]) == 0
    assert capsys.readouterr().out.startswith("flowchart TD\n")
    assert main(["map", str(path), "--json"]) == 0
    [drawn] = json.loads(capsys.readouterr().out)["maps"]
    assert (drawn["scenario"], drawn["run"]) == ("stand-ins", None)


def explained(error: Exception, capsys: Capture) -> tuple[int, str]:
    code = edge._failed(error, edge.Settings())
    return code, capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        (UsageError("no", hint="do", where="f:1"), 2, "error: f:1: no\nhint: do\n"),
        (PlaceError("refused"), 3, "error: refused\n"),
        (
            ScenarioError((PathtraceError("a", where="f:1:2"), PathtraceError("b", hint="c"))),
            2,
            "error: f:1:2: a\nerror: b\nhint: c\n",
        ),
        (
            ZeroDivisionError("division by zero"),
            70,
            "error: this is a bug in pathtrace: ZeroDivisionError: division by zero\n"
            "hint: please report it with the output of the same command and --debug\n",
        ),
    ],
)
def test_an_error_becomes_its_message_and_its_exit_code(
    error: Exception, code: int, text: str, capsys: Capture
) -> None:
    assert explained(error, capsys) == (code, text)


def test_a_secret_of_the_environment_shows_in_no_message(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NAS_PASSWORD", "hunter2!")
    error = ValueError("no login with hunter2! at http://me:other@nas/")
    assert explained(error, capsys)[1].splitlines()[0] == (
        "error: this is a bug in pathtrace: ValueError: no login with *** at http://me:***@nas/"
    )


def test_debug_shows_a_traceback_wherever_it_is_given(capsys: Capture) -> None:
    for arguments in (["--debug", "run"], ["run", "--debug"]):
        assert main(arguments) == 2
        assert capsys.readouterr().err.startswith("Traceback (most recent call last):\n")
    assert main(["run"]) == 2
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("label", ["", "  ", "last", "last~1", "a\nb", "\x1b[31m"])
def test_a_label_that_could_not_find_a_run_is_refused(label: str, tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "lab.yaml").write_text(STAND_INS)
    assert (
        main(["run", str(tmp_path / "lab.yaml"), "--label", label, "--store", str(tmp_path / "store")]) == 2
    )
    assert capsys.readouterr().err.startswith(f"error: --label {label!r} cannot name a run\n")
    assert not (tmp_path / "store").exists()


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs a device without end")
def test_a_device_without_end_is_no_scenario(capsys: Capture) -> None:
    assert main(["check", "/dev/zero"]) == 2
    assert "error: /dev/zero:1:1: the file is longer than" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments", [["check"], ["check", "--json"], ["map"], ["map", "--json"], ["map", "--format", "mermaid"]]
)
def test_a_secret_within_a_name_or_a_path_is_not_shown(
    arguments: list[str], tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NAS_PASSWORD", "hunter2")
    making = "make: {files: 40, bytes: 400 KiB, kind: text}"
    text = STAND_INS.replace("name: stand-ins", 'name: "of ${NAS_PASSWORD}"')
    (tmp_path / "lab.yaml").write_text(text.replace(making, 'path: "/nowhere/${NAS_PASSWORD}"'))
    main([arguments[0], str(tmp_path / "lab.yaml"), *arguments[1:]])
    captured = capsys.readouterr()
    hidden = ("of ***", "nowhere/***", "nowhere/#42;#42;#42;")  # the last as mermaid spells it
    assert any(text in captured.out for text in hidden)
    assert "hunter2" not in captured.out + captured.err
