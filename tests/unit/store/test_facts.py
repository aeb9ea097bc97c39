from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from pathtrace.errors import RunFileError
from pathtrace.model.scenario import InferenceSpec
from pathtrace.redaction import Scrubber
from pathtrace.store.facts import read_document, read_facts, without_secrets, write_facts
from tests.unit.store.example import RUN, SCENARIO


def test_facts_come_back_without_what_must_stay_secret(tmp_path: Path) -> None:
    write_facts(tmp_path, RUN, Scrubber(SCENARIO.secrets))

    text = (tmp_path / "facts.json").read_text()
    loaded = read_facts(tmp_path, RUN.samples, RUN.readings, RUN.windows, RUN.faults)

    assert "hunter2" not in text
    assert "sk-secret" not in text
    spec = loaded.scenario.place("model").spec
    assert isinstance(spec, InferenceSpec)
    assert (spec.url, spec.api_key, loaded.scenario.secrets) == ("http://u:***@localhost:1", None, ())


def test_facts_without_secrets_come_back_equal(tmp_path: Path) -> None:
    run = dataclasses.replace(RUN, scenario=without_secrets(SCENARIO))
    write_facts(tmp_path, run, str)

    assert read_facts(tmp_path, run.samples, run.readings, run.windows, run.faults) == run


def test_another_format_is_refused_with_both_numbers(tmp_path: Path) -> None:
    (tmp_path / "facts.json").write_text('{"format": 7}')

    with pytest.raises(RunFileError, match="format 7, this version of pathtrace reads format 1"):
        read_document(tmp_path)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": null}', "\x00\x01"])
def test_facts_that_are_none_are_refused_in_one_sentence(tmp_path: Path, text: str) -> None:
    (tmp_path / "facts.json").write_text(text)

    with pytest.raises(RunFileError) as caught:
        read_document(tmp_path)

    assert caught.value.where == str(tmp_path / "facts.json")


def test_a_folder_without_facts_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(RunFileError, match=r"not a run folder: it has no facts\.json"):
        read_document(tmp_path)


def test_a_missing_fact_is_named(tmp_path: Path) -> None:
    write_facts(tmp_path, RUN, str)
    document = json.loads((tmp_path / "facts.json").read_text())
    del document["scenario"]["flows"][0]["waits"]
    (tmp_path / "facts.json").write_text(json.dumps(document))

    with pytest.raises(RunFileError, match=r"the run is damaged: scenario\.flows\[0\]: waits is missing"):
        read_facts(tmp_path, RUN.samples, RUN.readings, (), ())


def test_a_fact_that_came_later_may_be_missing(tmp_path: Path) -> None:
    run = dataclasses.replace(RUN, scenario=without_secrets(SCENARIO), checks=())
    write_facts(tmp_path, run, str)
    document = json.loads((tmp_path / "facts.json").read_text())
    del document["checks"]
    (tmp_path / "facts.json").write_text(json.dumps(document))

    assert read_facts(tmp_path, run.samples, run.readings, run.windows, run.faults) == run
