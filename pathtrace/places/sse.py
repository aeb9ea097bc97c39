"""Reads the event stream that OpenAI-compatible servers answer with. Pure: lines in, payloads out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

_FIELDS = ("event:", "id:", "retry:", ":")
_SHOWN = 160


class StreamError(Exception):
    """The stream holds an error of the server's, or something that is no such stream."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """One event. ``text`` is empty where it carries no token."""

    text: str = ""
    finished: bool = False
    """The server says that the answer is complete."""
    last: bool = False
    """Nothing follows."""
    tokens: int | None = None
    """Tokens generated in all, where the server counts them."""
    timings: dict[str, float] = field(default_factory=dict)
    """The server's own times of the request, in its own units (llama.cpp, Ollama)."""
    load_ns: int = -1
    """How long the server loaded its model for the request; 0: it was in memory already."""


def read_line(line: str) -> Chunk | None:
    """The chunk in one line; None for lines that carry none. Raises ``StreamError``."""
    if not line.strip() or line.startswith(_FIELDS):
        return None
    name, _, value = line.partition(":")
    if name not in ("data", "error"):
        raise StreamError(f"this is no event stream: {shortened(line)}")
    if value.strip() == "[DONE]":
        return Chunk(finished=True, last=True)
    payload = parsed(value)
    if not isinstance(payload, dict):
        raise StreamError(f"an event is not a JSON object: {shortened(value)}")
    if name == "error" or "error" in payload:
        raise StreamError(f"the server says: {message_in(payload) or shortened(value)}")
    return _chunk(payload)


def _chunk(payload: dict[str, object]) -> Chunk:
    usage, timings = payload.get("usage"), payload.get("timings")
    count = usage.get("completion_tokens") if isinstance(usage, dict) else None
    choice = _first_choice(payload)
    return Chunk(
        text=_text(choice.get("delta")),
        finished=choice.get("finish_reason") is not None,
        tokens=count if isinstance(count, int) else None,
        timings=numbers(timings) if isinstance(timings, dict) else {},
    )


def _first_choice(payload: dict[str, object]) -> dict[str, object]:
    choices = payload.get("choices")
    usable = isinstance(choices, list) and choices and isinstance(choices[0], dict)
    return cast("list[dict[str, object]]", choices)[0] if usable else {}


def _text(delta: object) -> str:
    if not isinstance(delta, dict):
        return ""
    parts = (delta.get("reasoning_content"), delta.get("reasoning"), delta.get("content"))
    # A lone half of a surrogate pair, which JSON can spell, has no UTF-8.
    return "".join(p for p in parts if isinstance(p, str)).encode("utf-8", "replace").decode()


def numbers(values: Mapping[Any, object]) -> dict[str, float]:
    """Those of ``values`` that are numbers."""
    return {str(key): float(value) for key, value in values.items() if isinstance(value, int | float)}


def parsed(text: str | bytes) -> object:
    """``text`` as JSON, or None."""
    try:
        return cast("object", json.loads(text))
    except (ValueError, RecursionError):  # the latter of brackets within brackets without end
        return None


def message_in(payload: object) -> str | None:
    """The server's own words in an error document, in any of the shapes in use."""
    if not isinstance(payload, dict):
        return None
    error = payload.get("error", payload)
    if isinstance(error, str):
        return shortened(error)
    if isinstance(error, dict):
        for key in ("message", "detail", "description"):
            if isinstance(error.get(key), str):
                return shortened(error[key])
    return None


def shortened(text: str) -> str:
    """``text`` on one line of bounded length."""
    text = " ".join(text.split())
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
