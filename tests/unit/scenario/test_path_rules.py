"""The table of hops, stages, phases and bookings, as the README's Semantics have it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathtrace.model.scenario import Action, Flow, FrequencyKind, PlaceKind
from pathtrace.scenario.path_rules import action_of, derived_frequency, hops_of, stages_of
from tests.unit.scenario.example import FLOWS, read, text_of


def table(flow: Flow) -> list[tuple[str, list[str], str, str]]:
    """Hop, its stages, its phase, and whose operations and bytes are the hop's."""
    return [
        (
            hop.name,
            [flow.stages[index].action.value for index in hop.stages],
            hop.phase.value,
            flow.stages[hop.main_stage].action.value,
        )
        for hop in flow.hops
    ]


def test_an_index_reads_processes_embeds_and_inserts() -> None:
    assert table(read(text_of()).flow("index")) == [
        ("archive->chunker", ["read"], "ingest", "read"),
        ("chunker->embedder", ["process"], "process", "process"),
        ("embedder->library", ["embed", "insert"], "process", "insert"),
    ]


def test_a_load_reads_weights_and_takes_them_in() -> None:
    assert table(read(text_of()).flow("load")) == [("weights->model", ["read", "load"], "load", "read")]


def test_an_answer_looks_up_generates_and_delivers() -> None:
    assert table(read(text_of()).flow("answer")) == [
        ("library->model", ["lookup"], "process", "lookup"),
        ("model->people", ["generate", "deliver"], "deliver", "deliver"),
    ]


def test_files_last_in_a_path_are_written() -> None:
    flows = "  copy: {path: [archive, chunker, weights]}\n"
    assert table(read(text_of(flows=flows)).flow("copy")) == [
        ("archive->chunker", ["read"], "ingest", "read"),
        ("chunker->weights", ["process", "write"], "process", "process"),
    ]


def test_flows_run_by_frequency_and_else_in_file_order() -> None:
    flows = (
        "  a: {path: [archive, chunker, library], frequency: per-request}\n"
        "  b: {path: [archive, chunker, library], frequency: every 1 h}\n"
        "  c: {path: [archive, chunker, library], frequency: per-document}\n"
        "  d: {path: [weights, model], frequency: per-load}\n"
        "  e: {path: [archive, chunker, library], frequency: once}\n"
    )
    assert [flow.name for flow in read(text_of(flows=flows)).flows] == ["e", "d", "b", "c", "a"]


@pytest.mark.parametrize(
    ("flow", "kind", "waits"),
    [
        ("answer", FrequencyKind.PER_REQUEST, "people"),
        ("load", FrequencyKind.PER_LOAD, "nobody"),
        ("index", FrequencyKind.PER_DOCUMENT, "nobody"),
    ],
)
def test_a_frequency_that_is_not_stated_comes_from_the_shape_and_says_so(
    flow: str, kind: FrequencyKind, waits: str
) -> None:
    found = read(text_of()).flow(flow)
    assert (found.frequency.kind, found.frequency.assumed, found.waits) == (kind, True, waits)


def test_what_is_stated_is_kept() -> None:
    flows = FLOWS.replace("model]}", "model], frequency: once, waits: people}")
    found = read(text_of(flows=flows)).flow("load")
    assert (found.frequency.kind, found.frequency.assumed, found.waits) == (
        FrequencyKind.ONCE,
        False,
        "people",
    )


KINDS = st.lists(st.sampled_from(PlaceKind), min_size=2, max_size=8)


@given(KINDS, st.sampled_from(["generate", "embed"]))
def test_every_place_works_once_and_every_hop_has_its_work(kinds: list[PlaceKind], task: str) -> None:
    actions = [action_of(kind, task, index, len(kinds)) for index, kind in enumerate(kinds)]
    stages = stages_of([(f"p{index}", action) for index, action in enumerate(actions)])
    hops = hops_of(stages, kinds)
    assert [stage.index for stage in stages] == list(range(len(kinds)))
    assert [index for hop in hops for index in hop.stages] == list(range(len(kinds)))
    assert all(hop.main_stage in hop.stages for hop in hops)
    assert all((stage.action is Action.DELIVER) == (kinds[stage.index] is PlaceKind.USER) for stage in stages)


@given(KINDS)
def test_every_path_has_a_frequency(kinds: list[PlaceKind]) -> None:
    assert derived_frequency(kinds).assumed
