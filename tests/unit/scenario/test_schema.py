"""The editor's schema: current, valid, and of one mind with the reader about sound files."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema  # type: ignore[import-untyped]  # no stubs among the dependencies
import pytest
from pydantic import BaseModel
from ruamel.yaml import YAML

from pathtrace.scenario import decode, document, parse, schema

SCENARIOS = Path(__file__).parents[3] / "scenarios"


def test_the_schema_is_valid_json_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())


def test_the_schema_beside_the_scenarios_is_current() -> None:
    stored = json.loads((SCENARIOS / "scenario.schema.json").read_text(encoding="utf-8"))
    assert stored == json.loads(json.dumps(schema())), "write `pathtrace schema scenario` into it"


@pytest.mark.parametrize("path", sorted(SCENARIOS.glob("*.yaml")), ids=lambda path: path.name)
def test_every_scenario_is_read_passes_the_schema_and_names_it(path: Path) -> None:
    text = decode(path.read_bytes(), path.name)
    scenario = parse(text, path.name, {})
    written = YAML(typ="safe", pure=True).load(text)
    jsonschema.Draft202012Validator(schema()).validate(written)
    assert scenario.name == path.stem
    assert text.startswith("# yaml-language-server: $schema=scenario.schema.json\n")


@pytest.mark.parametrize(
    "written",
    [
        {"pathtrace": 1, "name": "x", "places": {}, "flows": {}},
        {
            "pathtrace": 2,
            "name": "x",
            "places": {"a": {"kind": "user"}},
            "flows": {"f": {"path": ["a", "a"]}},
        },
        {
            "pathtrace": 1,
            "name": "x",
            "places": {"a": {"kind": "fils"}},
            "flows": {"f": {"path": ["a", "a"]}},
        },
        {
            "pathtrace": 1,
            "name": "x",
            "places": {"a": {"kind": "user", "b": 1}},
            "flows": {"f": {"path": ["a"]}},
        },
    ],
)
def test_an_editor_sees_what_the_reader_refuses(written: object) -> None:
    assert not jsonschema.Draft202012Validator(schema()).is_valid(written)


def test_every_key_is_described() -> None:
    models = [
        model for model in vars(document).values() if isinstance(model, type) and issubclass(model, BaseModel)
    ]
    silent = [
        f"{model.__name__}.{name}"
        for model in models
        for name, field in model.model_fields.items()
        if not field.description and name != "kind"
    ]
    assert silent == []
