from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathtrace.analysis.memory_plan import (
    HostPlan,
    active_bytes,
    bits_of,
    cache_bytes,
    described_bytes,
    host_plans,
    runtime_bytes,
)
from pathtrace.model.scenario import Scenario
from pathtrace.model.weights import WeightsHeader
from pathtrace.model.work import PlaceFacts
from tests.unit.analysis.builders import GIB, scenario

LLAMA_8B = WeightsHeader("llama", 32, (8,) * 32, 128, 128, 131072, 4096, 14336, 128256)
MIB = 1 << 20

headers = st.builds(
    lambda layers, heads, length, window: WeightsHeader(
        "llama", layers, (heads,) * layers, length, length, 4096, 1024, 4096, 32000, window
    ),
    st.integers(1, 80),
    st.integers(1, 32),
    st.sampled_from([64, 128, 256]),
    st.one_of(st.none(), st.integers(128, 8192)),
)


def household(context: int | None = 8192, users: int = 1, more: str = "") -> Scenario:
    stated = f"  model: {{context: {context}}}" if context else "  model: {}"
    return scenario(
        f"""pathtrace: 1
workload:
{stated}
  users: {users}
places:
  weights: {{kind: files, path: /models/m.gguf, data: weights}}
  model: {{kind: inference, url: "http://localhost:8080"}}
  people: {{kind: user}}
  archive: {{kind: files, path: /archive}}
  indexer: {{kind: process, run: chunk}}
  library: {{kind: database, url: "sqlite:///library.db"}}
{more}
flows:
  load: {{path: [weights, model], frequency: per-load}}
  index: {{path: [archive, indexer, library], frequency: once}}
  answer: {{path: [library, model, people], frequency: per-request}}
"""
    )


FACTS = {"weights": PlaceFacts("weights", bytes=5 * GIB, weights=LLAMA_8B)}


def only(plans: tuple[HostPlan, ...]) -> HostPlan:
    (plan,) = plans
    return plan


def test_the_cache_of_a_well_known_model_is_as_its_server_says() -> None:
    # llama.cpp, Llama 3.1 8B, 8192 tokens: "KV self size = 1024.00 MiB"
    assert cache_bytes(LLAMA_8B, 8192) == (1024 * MIB, 1024 * MIB)


def test_weights_cache_and_runtime_stand_apart_and_add_up() -> None:
    plan = only(host_plans(household(), FACTS))
    assert [(part.place, part.name) for part in plan.parts] == [
        ("model", "weights"),
        ("model", "cache"),
        ("model", "runtime"),
    ]
    low, high = runtime_bytes(LLAMA_8B, 8192)
    assert (plan.host, plan.low_bytes, plan.high_bytes) == (
        "workstation",
        6 * GIB + low,
        6 * GIB + high,
    )


@given(headers, st.integers(1, 100_000), st.integers(1, 100_000))
def test_a_cache_never_shrinks_with_context_and_its_range_is_ordered(
    header: WeightsHeader, tokens: int, more: int
) -> None:
    low, high = cache_bytes(header, tokens)
    longer_low, longer_high = cache_bytes(header, tokens + more)
    assert 0 < low <= high <= longer_high
    assert low <= longer_low


@given(st.integers(1, 16), st.integers(256, 65_536))
def test_a_plan_grows_with_users_and_with_context(users: int, context: int) -> None:
    plan = only(host_plans(household(context, users), FACTS))
    crowded = only(host_plans(household(context, users + 1), FACTS))
    longer = only(host_plans(household(context + 256, users), FACTS))
    for part in ("low_bytes", "high_bytes"):
        assert getattr(plan, part) < getattr(crowded, part)
        assert getattr(plan, part) < getattr(longer, part)


def test_hosts_are_never_added_together() -> None:
    far = '  embedder: {kind: inference, task: embed, url: "http://10.0.0.9:8081", host: far}\nhosts:\n'
    hosts = "  far: {address: 10.0.0.9, memory: 16 GiB}\n  workstation: {here: true}"
    text = household(more=far + hosts)
    described = replace(
        text, flows=(*text.flows, replace(text.flow("index"), name="i", path=("archive", "embedder")))
    )
    plans = host_plans(described, FACTS)
    assert {plan.host: {part.place for part in plan.parts} for plan in plans} == {
        "workstation": {"model"},
        "far": {"embedder"},
    }
    near = only(host_plans(household(), FACTS))
    assert next(plan for plan in plans if plan.host == "workstation") == near


def test_without_a_header_the_cache_is_unknown_and_so_is_the_most() -> None:
    plan = only(host_plans(household(), {"weights": PlaceFacts("weights", bytes=7)}))
    assert (plan.low_bytes, plan.high_bytes) == (7, None)
    plan = only(host_plans(household(), {}))
    assert (plan.low_bytes, plan.high_bytes) == (None, None)


def test_the_headers_context_stands_in_for_one_that_is_not_stated() -> None:
    cache = only(host_plans(household(context=None), FACTS)).parts[1]
    assert cache.low_bytes == 16 * GIB
    assert "`context` is not stated" in cache.basis


def test_parameters_and_precision_give_the_weights_of_a_far_model() -> None:
    card = household().workload.model
    assert described_bytes(replace(card, parameters=8e9, precision="4-bit")) == 4_000_000_000
    assert described_bytes(replace(card, parameters=8e9)) is None


@pytest.mark.parametrize(
    ("precision", "bits"),
    [
        ("4-bit", 4),
        ("Q4_K_M", 4),
        ("fp16", 16),
        ("bf16", 16),
        ("int8", 8),
        ("IQ2_XS", 2),
        ("float32", 32),
        ("good", None),
        (None, None),
    ],
)
def test_a_precision_is_read_as_bits(precision: str | None, bits: int | None) -> None:
    assert bits_of(precision) == bits


def test_a_mixture_counts_all_experts_and_says_which_part_answers() -> None:
    mixture = replace(LLAMA_8B, experts=8, experts_used=2, expert_bytes=4 * GIB)
    assert active_bytes(5 * GIB, mixture) == 2 * GIB
    facts = {"weights": PlaceFacts("weights", bytes=5 * GIB, weights=mixture)}
    weights = only(host_plans(household(), facts)).parts[0]
    assert (weights.low_bytes, weights.basis) == (5 * GIB, "all 8 experts; 2 GiB of it answer a token")


def test_a_window_that_the_header_places_leaves_no_doubt() -> None:
    placed = replace(LLAMA_8B, window=512, windowed=(True, False) * 16)
    low, high = cache_bytes(placed, 8192)
    assert low == high == 16 * (8192 + 1024) * 8 * 256 * 2
    assert cache_bytes(replace(placed, windowed=None), 8192) == (32 * 1024 * 8 * 256 * 2, 1024 * MIB)


def test_a_model_that_only_embeds_keeps_no_cache() -> None:
    facts = {"weights": PlaceFacts("weights", bytes=7, weights=replace(LLAMA_8B, causal=False))}
    assert only(host_plans(household(), facts)).parts[1].high_bytes == 0


def test_weights_that_a_flow_loads_but_nobody_could_look_at_are_not_called_unloaded() -> None:
    (weights, *_) = host_plans(household(), {})[0].parts
    assert weights.basis == (
        "how much weights holds is not known, and `parameters` and `precision` do not both say their size"
    )
