"""The scenario's JSON Schema, for editors that complete and check while one writes."""

from __future__ import annotations

from typing import Any

from pathtrace.scenario.document import Document


def schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of a scenario file, with a description of every key."""
    described = _plain(Document.model_json_schema())
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "pathtrace scenario",
        "description": "A pipeline to replay: workload, hosts, links, places and flows",
        **{key: value for key, value in described.items() if key != "description"},
    }


def _plain(value: Any) -> Any:
    """Without what editors would show wrongly: titles that repeat a key's name, and nulls.

    A key that is not wanted is left out of a file; ``key:`` with nothing behind it is a fault.
    """
    if isinstance(value, list):
        return [_plain(child) for child in value]
    if not isinstance(value, dict):
        return value
    choices = value.get("anyOf")
    if isinstance(choices, list) and {"type": "null"} in choices and len(choices) == 2:
        wanted = next(choice for choice in choices if choice != {"type": "null"})
        value = {**wanted, **{key: child for key, child in value.items() if key != "anyOf"}}
    return {key: _plain(child) for key, child in value.items() if not _is_noise(key, child)}


def _is_noise(key: str, child: object) -> bool:
    return (key == "title" and isinstance(child, str)) or (
        key == "default" and (child is None or isinstance(child, dict))
    )
