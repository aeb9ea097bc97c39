"""A small run with two flows, and strategies for any value of the model."""

from __future__ import annotations

import dataclasses
import types
import typing
from enum import Enum
from typing import Any

import numpy as np
from hypothesis import strategies as st

from pathtrace.model import scenario as m
from pathtrace.model.report import Caveat
from pathtrace.model.run import (
    Activity,
    Ceiling,
    Environment,
    HostFacts,
    Interface,
    Mount,
    OwnCost,
    Reached,
    Run,
    StartCondition,
)
from pathtrace.model.sample import SAMPLE_COLUMNS, Reading, ReadingTable, Sample, SampleTable, Window
from pathtrace.model.work import LayerState, PlaceFacts

STAGES = (2, 2)
"""Stages of each flow of the example."""

_FILES = m.FilesSpec("/srv/archive", None, None, ("**/*.txt",), (), None, m.Access.READ, False, 1 << 20, 1)
_MODEL = m.InferenceSpec(
    "http://u:hunter2@localhost:1", "openai", "generate", None, (("top_k", 4),), "sk-secret"
)


def _place(name: str, kind: m.PlaceKind, spec: m.Spec) -> m.Place:
    return m.Place(name, kind, "workstation", 2, 16, 60.0, None, spec)


SCENARIO = m.Scenario(
    name="example",
    question="Which hop?",
    source="example.yaml",
    text="pathtrace: 1\n",
    workload=m.Workload(
        *(None, m.ModelCard(*(None,) * 12), (1,), None, 2, 3.0, 100.0, 10.0, 1.0, ("why?",), ("users",))
    ),
    hosts=(m.Host("workstation", (), None, None, None, None, True),),
    links=(),
    places=(
        _place("archive", m.PlaceKind.FILES, _FILES),
        _place("indexer", m.PlaceKind.PROCESS, m.ProcessSpec(None, ("extract", "{path}"), None)),
        _place("model", m.PlaceKind.INFERENCE, _MODEL),
        _place("people", m.PlaceKind.USER, m.UserSpec()),
    ),
    flows=(
        m.Flow(
            *("index", ("archive", "indexer")),
            m.Frequency(m.FrequencyKind.EVERY, 86400.0, False, "every 24 h"),
            "nobody",
            (m.Stage(0, "archive", m.Action.READ, 0), m.Stage(1, "indexer", m.Action.PROCESS, 0)),
            (m.Hop("archive->indexer", "archive", "indexer", m.Phase.INGEST, (0, 1), 0),),
        ),
        m.Flow(
            *("answer", ("model", "people")),
            m.Frequency(m.FrequencyKind.PER_REQUEST, None, True, "per-request"),
            "people",
            (m.Stage(0, "model", m.Action.GENERATE, 0), m.Stage(1, "people", m.Action.DELIVER, 0)),
            (m.Hop("model->people", "model", "people", m.Phase.DELIVER, (0, 1), 1),),
        ),
    ),
    control=m.RunControl(m.Start.AS_IS, True, 1, 0, 1 << 30, 60.0, 1, (), (), 1.0, (), (), (), ()),
    secrets=("hunter2", "sk-secret"),
    workload_fingerprint="w",
    setup_fingerprint="s",
)


def table(*samples: Sample) -> SampleTable:
    """Samples as the read-only columns that a run has."""
    rows = np.array([tuple(s) for s in samples], [(name, f"<{code}") for name, code in SAMPLE_COLUMNS])
    rows.setflags(write=False)
    return SampleTable(rows)


def sample(flow: int = 0, stage: int = 0, **changed: int) -> Sample:
    """An operation of 1 ms that began 5 ms after the run's origin."""
    plain = Sample(
        *(
            0,
            flow,
            0,
            stage,
            0,
            0,
            -1,
            -1,
            4_000_000,
            5_000_000,
            0,
            -1,
            0,
            1_000_000,
            0,
            -1,
            10,
            -1,
            -1,
            0,
            -1,
        )
    )
    return plain._replace(**changed)


WINDOWS = (
    Window(0, 0, 0, 0, 4_000_000, 7_000_000, True, (2, 2)),
    Window(0, 1, 0, 1, 8_000_000, 9_000_000, True, (1, 1)),
)

RUN = Run(
    id="20261130-091412-k3f9",
    label="before",
    status="complete",
    started_at="2026-11-30T09:14:12+00:00",
    duration_s=0.01,
    scenario=SCENARIO,
    environment=Environment(
        hosts=(
            HostFacts(
                *("workstation", "a processor", 2, 1 << 34, 1 << 33, "Linux 6.18", ()),
                (Mount("/srv", "/dev/sda1", "ext4", "sda1", False),),
                (Interface("eth0", 125e6, 1500, True),),
                (),
            ),
        ),
        python="3.11.7",
        pathtrace="0.1.0",
        boot_at="2026-11-30T07:00:00+00:00",
        clock_resolution_ns=1,
    ),
    reached=(Reached("archive", PlaceFacts("3 files", files=3, bytes=30), None, None, None, None),),
    starts=(StartCondition(0, "as-is", (LayerState("client_cache", "archive", "unknown", "not asked"),)),),
    windows=WINDOWS,
    ceilings=(Ceiling("disk:archive", 5e8, 1e4, 1e-4, "measured", "direct reads", 2.0),),
    activity=(Activity("workstation", 3.5, 0.0, None, ("cron (pid 7): 12 % of a core",)),),
    cost=OwnCost(0.001, 0.002, 1100.0),
    caveats=(Caveat("assumed", "a doubt", "a remedy", "answer"),),
    faults=("the file vanished",),
    samples=table(
        sample(), sample(stage=1, operation=1, cause=0), sample(flow=1, request=0, outcome=1, detail=0)
    ),
    readings=ReadingTable(
        (
            Reading(1, "disk", "sda1", "read_bytes", 10.0),
            Reading(2, "process", "my, odd\nplace %41 é", "cpu_s", 0.1),
        )
    ),
)


def any_of(hint: Any) -> st.SearchStrategy[Any]:
    """Values of a type as the model writes its types."""
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return st.one_of(*map(any_of, parts))
    if origin is tuple and parts[-1] is Ellipsis:
        return st.lists(any_of(parts[0]), max_size=2).map(tuple)
    if origin is tuple:
        return st.tuples(*map(any_of, parts))
    if dataclasses.is_dataclass(hint):
        hints = typing.get_type_hints(hint)
        return st.builds(hint, **{f.name: any_of(hints[f.name]) for f in dataclasses.fields(hint)})
    if isinstance(hint, type) and issubclass(hint, Enum):
        return st.sampled_from(hint)
    return _PLAIN[hint]


_PLAIN: dict[Any, st.SearchStrategy[Any]] = {
    type(None): st.none(),
    str: st.text(max_size=6),
    int: st.integers(),
    bool: st.booleans(),
    float: st.floats(allow_nan=False),
    object: st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=3)
    | st.lists(st.integers(), max_size=2),
}
