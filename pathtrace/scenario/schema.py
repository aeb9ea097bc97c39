"""The scenario's JSON Schema, for editors that complete and check while one writes."""

from __future__ import annotations

from typing import Any

from pathtrace.scenario.document import Document


def schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of a scenario file, with a description of every key."""
    made = Document.model_json_schema()
    described = _without_titles(made)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "pathtrace scenario",
        "description": "A pipeline to replay: workload, hosts, links, places and flows",
        **{key: value for key, value in described.items() if key != "description"},
    }


def _without_titles(value: Any) -> Any:
    """pydantic titles each key with its own name, which editors then show twice."""
    if isinstance(value, dict):
        titled = isinstance(value.get("title"), str)
        return {k: _without_titles(v) for k, v in value.items() if not (titled and k == "title")}
    if isinstance(value, list):
        return [_without_titles(child) for child in value]
    return value
