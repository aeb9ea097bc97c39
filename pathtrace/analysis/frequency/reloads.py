"""What a model's server itself said of loading: how many calls made it load, and for how long.

Only servers that say so for each call (Ollama) have any. The first call of an execution may load what
nobody had asked for before, and calls that come meanwhile wait for the same load; only those after it
show that the model does not stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pathtrace.analysis.executions import Execution, Ints
from pathtrace.model.scenario import Action, Flow, FrequencyKind, InferenceSpec, PlaceKind, Scenario
from pathtrace.units import format_duration, seconds

FEWEST_CALLS = 2
_ANSWERS = (Action.GENERATE, Action.DELIVER, Action.EMBED)
_TELLERS = {"ollama": "Ollama's own load_duration"}


class Calls(NamedTuple):
    """The calls of one model in one execution of a flow, in order of their start."""

    model: str
    flow: str
    by_request: bool
    """False for the calls of a job."""
    idle_s: float
    """How long nothing had been asked before."""
    loads_ns: Ints
    """How long each waited for the model to load; 0: it was in memory. Only what the server told."""
    first: int = 1
    """How many began before the first one ended."""


@dataclass(frozen=True, slots=True)
class Told:
    """What the server said over all executions. ``later``: calls after the first of theirs had ended."""

    calls: int
    loads: int
    later: int
    later_loads: int
    load_s: float
    """Median of one load; 0 if there was none."""
    idle_s: float
    """The shortest pause after which it loaded again; 0 if there was none."""
    teller: str
    noun: str

    @property
    def share(self) -> float:
        """How much of its later calls loaded it."""
        return self.later_loads / self.later if self.later else 0.0

    @property
    def text(self) -> str:
        """The evidence, in words."""
        if not self.loads:
            return f"{self.teller}: none of {self.calls} {self.noun} waited for the model to load"
        each = f"{format_duration(self.load_s)} each" if self.loads > 1 else format_duration(self.load_s)
        text = f"{self.teller}: {self.loads} of {self.calls} {self.noun} waited for the model to load, {each}"
        return f"{text}; also after {format_duration(self.idle_s)} without a call" if self.idle_s else text


def calls_of(execution: Execution, flow: Flow, scenario: Scenario) -> tuple[Calls, ...]:
    """One for each model that the execution asked and that says whether it loaded."""
    by_model: dict[str, list[int]] = {}
    for stage in flow.stages:
        model = _model(flow, stage.index, scenario)
        if model is not None and stage.action in _ANSWERS:
            by_model.setdefault(model, []).append(stage.index)
    asks = flow.frequency.kind is FrequencyKind.PER_REQUEST
    idle_s = execution.window.idle_s if execution.window is not None else 0.0
    found = (_calls(execution, model, flow.name, stages) for model, stages in by_model.items())
    return tuple(each._replace(by_request=asks, idle_s=idle_s) for each in found if len(each.loads_ns))


def _calls(execution: Execution, model: str, flow: str, stages: Sequence[int]) -> Calls:
    """A streamed answer's load is told at its end, and its call began with its request's first stage here."""
    rows = np.isin(execution.stage, stages)
    numbers = np.where(execution.request >= 0, execution.request, -2 - execution.operation)[rows]
    calls, of_row = np.unique(numbers, return_inverse=True)
    begins = np.full(len(calls), np.iinfo(np.int64).max)
    ends, loads = np.zeros(len(calls), np.int64), np.full(len(calls), -1)
    np.minimum.at(begins, of_row, execution.start[rows])
    np.maximum.at(ends, of_row, execution.end[rows])
    np.maximum.at(loads, of_row, execution.load[rows])
    order = np.argsort(begins, kind="stable")
    order = order[loads[order] >= 0]
    first = int((begins[order] < ends[order][:1]).sum())
    return Calls(model, flow, False, 0.0, loads[order], first)


def told_by(model: str, calls: Sequence[Calls], scenario: Scenario) -> Told | None:
    """Of all calls of ``model``; None if its server said nothing, or of too few to tell."""
    mine = [each for each in calls if each.model == model]
    if sum(len(each.loads_ns) for each in mine) < FEWEST_CALLS:
        return None
    loads = np.concatenate([each.loads_ns for each in mine])
    later = np.concatenate([each.loads_ns[each.first :] for each in mine])
    spec = scenario.place(model).spec
    api = spec.api if isinstance(spec, InferenceSpec) else ""
    return Told(
        calls=len(loads),
        loads=int((loads > 0).sum()),
        later=len(later),
        later_loads=int((later > 0).sum()),
        load_s=seconds(float(np.median(loads[loads > 0]))) if (loads > 0).any() else 0.0,
        idle_s=min((each.idle_s for each in mine if each.idle_s and each.loads_ns[0] > 0), default=0.0),
        teller=_TELLERS.get(api, "the server's own load time"),
        noun="requests" if all(each.by_request for each in mine) else "calls",
    )


def _model(flow: Flow, stage: int, scenario: Scenario) -> str | None:
    """The model at work at a stage: its own place, or the nearest before it."""
    before = (each.place for each in reversed(flow.stages[: stage + 1]))
    return next((name for name in before if scenario.place(name).kind is PlaceKind.INFERENCE), None)
