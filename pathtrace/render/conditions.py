"""The start condition of a whole run, put together from what each place said at each repeat.

A layer is cold or warm only if every place of it was so at every measured repeat; else it is unknown,
and the evidence says what differed.
"""

from __future__ import annotations

from dataclasses import dataclass

from pathtrace.model.run import Run, StartCondition

LAYERS = ("client_cache", "server_cache", "database", "model")
ABSENT = "no place of this run has this layer"


@dataclass(frozen=True, slots=True)
class Layer:
    name: str
    state: str
    """cold, warm or unknown."""
    evidence: str
    present: bool
    """False: no place of the run has this layer."""


def measured_starts(run: Run) -> tuple[StartCondition, ...]:
    """The start conditions of the repeats that count (warm-ups are negative)."""
    return tuple(start for start in run.starts if start.repeat >= 0)


def start_word(run: Run) -> str:
    """cold, warm or as-is: what was reached, else what was asked for; several are joined by ``, ``."""
    words = dict.fromkeys(start.start for start in measured_starts(run))
    return ", ".join(words) if words else run.scenario.control.start.value


def start_layers(run: Run) -> tuple[Layer, ...]:
    """One entry per layer, in the document's order."""
    return tuple(_layer(name, run) for name in LAYERS)


def _layer(name: str, run: Run) -> Layer:
    said: dict[str, dict[str, str]] = {}  # state -> place -> evidence of its first such repeat
    for start in measured_starts(run):
        for layer in start.layers:
            if layer.layer == name:
                said.setdefault(layer.state, {}).setdefault(layer.place, layer.evidence)
    if not said:
        return Layer(name, "unknown", ABSENT, present=False)
    if len(said) == 1:
        [(state, places)] = said.items()
        return Layer(name, state, _joined(places), present=True)
    differing = "; ".join(f"{state}: {_joined(places)}" for state, places in said.items())
    return Layer(name, "unknown", differing, present=True)


def _joined(places: dict[str, str]) -> str:
    """Evidence by place; places that say the same are named together."""
    grouped: dict[str, list[str]] = {}
    for place, evidence in places.items():
        grouped.setdefault(evidence, []).append(place)
    return "; ".join(f"{', '.join(names)}: {evidence}" for evidence, names in grouped.items())
