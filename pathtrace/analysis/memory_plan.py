"""What the models of a scenario need in memory, host by host: weights, attention cache, runtime.

Arithmetic on described and read values; what is there is for callers to hold it against. Hosts are never
added together: two machines of 16 GiB hold no model of 20 GiB.

The attention cache holds, for each token of each user and each layer, a key and a value of every
key-value head: layers x heads x (key length + value length) x 2 bytes (16-bit floats, the default of
llama.cpp). llama.cpp sets it aside at the start, for as many tokens as its ``--ctx-size`` says, which its
slots share; so the plan needs a ``--ctx-size`` of context x users. The runtime's share was fitted to
llama.cpp's server on a CPU (see RUNTIME_BYTES).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pathtrace.model.check import MemoryPart
from pathtrace.model.scenario import FilesSpec, Flow, InferenceSpec, ModelCard, Place, PlaceKind, Scenario
from pathtrace.model.weights import WeightsHeader
from pathtrace.model.work import PlaceFacts
from pathtrace.units import format_bytes, format_count

CACHE_NUMBER_BYTES = 2
CACHE_TOKENS_STEP = 256
"""llama.cpp rounds the tokens of its cache up to a multiple of this."""
RUNTIME_BYTES = (22_000_000, 26_000_000)
"""llama.cpp's server itself with its libraries, loaded and before the first request."""
PROMPT_TOKENS = 512
"""Tokens of a prompt that llama.cpp works on at once unless told otherwise (``--ubatch-size``)."""
_FLOAT_BYTES = 4
_FEED_FORWARD_COPIES, _EMBEDDING_COPIES = 4, 4
"""Intermediate results as wide as that which a layer's work keeps at the same time, for each token."""

_BITS = re.compile(r"(\d+(?:\.\d+)?)\s*-?\s*bits?|(?:float|fp|bf|f|int|i|iq|q)(\d+)", re.IGNORECASE)

Facts = Mapping[str, PlaceFacts]


@dataclass(frozen=True, slots=True)
class ModelPlan:
    """What one model needs where it runs."""

    place: str
    host: str
    parts: tuple[MemoryPart, ...]

    @property
    def low_bytes(self) -> int | None:
        return _at_least(self.parts)

    @property
    def high_bytes(self) -> int | None:
        return _at_most(self.parts)


@dataclass(frozen=True, slots=True)
class HostPlan:
    """What all models of one host need together. ``low_bytes`` None: nothing is known."""

    host: str
    parts: tuple[MemoryPart, ...]

    @property
    def low_bytes(self) -> int | None:
        return _at_least(self.parts)

    @property
    def high_bytes(self) -> int | None:
        return _at_most(self.parts)


def _at_least(parts: Sequence[MemoryPart]) -> int | None:
    known = [part.low_bytes for part in parts if part.low_bytes is not None]
    return sum(known) if known else None


def _at_most(parts: Sequence[MemoryPart]) -> int | None:
    known = [part.high_bytes for part in parts if part.high_bytes is not None]
    return sum(known) if known and len(known) == len(parts) else None


def host_plans(scenario: Scenario, facts: Facts) -> tuple[HostPlan, ...]:
    """One for each host that a model runs on, in the order of the places."""
    models = model_plans(scenario, facts)
    hosts = dict.fromkeys(plan.host for plan in models)
    return tuple(
        HostPlan(host, tuple(part for plan in models if plan.host == host for part in plan.parts))
        for host in hosts
    )


def model_plans(scenario: Scenario, facts: Facts) -> tuple[ModelPlan, ...]:
    """One for each model that a flow goes through, in the order of the places.

    Places with the same URL are one server: the first that stands for it carries the plan.
    """
    used = {name for flow in scenario.flows for name in flow.path}
    plans: dict[str, ModelPlan] = {}
    for place in scenario.places:
        if place.name in used and isinstance(place.spec, InferenceSpec):
            key = f"{place.spec.url} {place.spec.model}" if place.spec.url else place.name
            plans.setdefault(key, ModelPlan(place.name, place.host, _parts(scenario, place, facts)))
    return tuple(plans.values())


def weights_place(flows: Sequence[Flow], scenario: Scenario, model: str) -> str | None:
    """The files whose weights a flow loads into ``model``."""
    for flow in flows:
        if len(flow.path) > 1 and flow.path[-1] == model:
            source = scenario.place(flow.path[0])
            if source.kind is PlaceKind.FILES and isinstance(source.spec, FilesSpec):
                return source.name
    return None


def _parts(scenario: Scenario, place: Place, facts: Facts) -> tuple[MemoryPart, ...]:
    assert isinstance(place.spec, InferenceSpec)
    answers = place.spec.task == "generate"
    source = weights_place(scenario.flows, scenario, place.name)
    known = facts.get(source) if source else None
    header = known.weights if known else None
    card = scenario.workload.model
    tokens, said = _tokens(scenario, header, place.spec)
    weights = _weights(place, known, card if answers else None, source)
    if header is None:
        why = "no header of its weights could be read"
        cache = MemoryPart("cache", place.name, None, None, why)
        return (weights, cache, MemoryPart("runtime", place.name, None, None, why))
    return (weights, _cache(place, header, tokens, said), _runtime(place, header, tokens))


def _tokens(scenario: Scenario, header: WeightsHeader | None, spec: InferenceSpec) -> tuple[int | None, str]:
    """Tokens that the cache must hold, and how that is known. An embedder is asked one text at a time."""
    answers = spec.task == "generate"
    stated = scenario.workload.model.context if answers else None
    made_for = header.context if header else None
    each = stated or made_for
    if each is None:
        return None, "neither the workload nor the header says how long the context is"
    users = max(scenario.workload.users) if answers else 1
    whose = (
        f"{each:,} tokens" if stated else f"{each:,} tokens (`context` is not stated: what the header has)"
    )
    together = f" × {format_count(users, 'user')}, {_setting(spec, each, users)}" if users > 1 else ""
    open_loop = ", one request at a time assumed" if answers and scenario.workload.rate_per_s else ""
    return each * users, f"{whose}{together}{open_loop}"


def _setting(spec: InferenceSpec, each: int, users: int) -> str:
    """How a server is told to hold as much: llama.cpp's slots share one context, Ollama's have their own."""
    if spec.api == "ollama":
        return f"Ollama's num_ctx {each} and OLLAMA_NUM_PARALLEL {users}"
    return f"llama.cpp's --ctx-size {each * users}, which its slots share"


def _weights(
    place: Place, known: PlaceFacts | None, card: ModelCard | None, source: str | None
) -> MemoryPart:
    if known is not None and known.bytes:
        return MemoryPart("weights", place.name, known.bytes, known.bytes, _files_basis(known))
    size = described_bytes(card) if card else None
    if card is None or size is None:
        unseen = "no flow loads them" if source is None else f"how much {source} holds is not known"
        why = f"{unseen}, and `parameters` and `precision` do not both say their size"
        return MemoryPart("weights", place.name, None, None, why)
    basis = f"{_billions(card.parameters)} parameters at {card.precision}, as described"
    if card.active_parameters:
        basis += f"; all experts count, {_billions(card.active_parameters)} of them answer a token"
    # What a quantised file adds (scales, wider layers) is seldom above a fifth.
    return MemoryPart("weights", place.name, size, size + size // 5, basis)


def _files_basis(known: PlaceFacts) -> str:
    header = known.weights
    if header is None or known.bytes is None or not header.experts or not header.experts_used:
        return "all bytes of its files"
    active = active_bytes(known.bytes, header)
    return f"all {header.experts} experts; {format_bytes(active)} of it answer a token"


def active_bytes(size: int, header: WeightsHeader) -> int:
    """Of a mixture's weights, what one token needs."""
    if not header.experts or not header.experts_used:
        return size
    idle = max(0, header.experts - header.experts_used)
    return size - header.expert_bytes * idle // header.experts


def described_bytes(card: ModelCard) -> int | None:
    """Parameters times bits; a mixture keeps all its experts in memory, not only the active ones."""
    bits = bits_of(card.precision)
    return None if bits is None or not card.parameters else int(card.parameters * bits / 8)


def bits_of(precision: str | None) -> float | None:
    """``4-bit``, ``fp16``, ``Q4_K_M``, ``int8`` -> bits of one parameter; None if it does not say."""
    found = _BITS.search(precision or "")
    return float(found.group(1) or found.group(2)) if found else None


def _billions(count: float | None) -> str:
    return f"{(count or 0) / 1e9:g} billion"


def _cache(place: Place, header: WeightsHeader, tokens: int | None, said: str) -> MemoryPart:
    if not header.causal:
        return MemoryPart("cache", place.name, 0, 0, "it embeds, and keeps no attention cache")
    if tokens is None:
        return MemoryPart("cache", place.name, None, None, said)
    low, high = cache_bytes(header, tokens)
    narrowed = f", a window of {header.window:,} tokens in some layers" if header.window else ""
    basis = f"{said}; {header.layers} layers, 16-bit keys and values{narrowed}"
    return MemoryPart("cache", place.name, low, high, basis)


def cache_bytes(header: WeightsHeader, tokens: int) -> tuple[int, int]:
    """Of the attention cache, from and to. A window that the header does not place makes it a range."""
    held = -(-tokens // CACHE_TOKENS_STEP) * CACHE_TOKENS_STEP
    high = sum(_layer_bytes(header, heads, held, True) for heads in header.kv_heads)
    low = sum(_layer_bytes(header, *each, not header.latent) for each in _shortest(header, held))
    return low, _windowed_high(header, held, high)


def _shortest(header: WeightsHeader, held: int) -> Iterator[tuple[int, int]]:
    """Per layer: heads, and the fewest tokens that it may hold."""
    short = min(held, _window_tokens(header)) if header.window else held
    flags = header.windowed or (bool(header.window),) * header.layers
    for heads, windowed in zip(header.kv_heads, flags, strict=True):
        yield heads, short if windowed else held


def _windowed_high(header: WeightsHeader, held: int, full: int) -> int:
    """Where the header says which layers have the window, there is no doubt left."""
    if header.windowed is None or not header.window:
        return full
    return sum(_layer_bytes(header, heads, tokens, True) for heads, tokens in _shortest(header, held))


def _window_tokens(header: WeightsHeader) -> int:
    """llama.cpp keeps the window and the prompt's part in work, rounded up."""
    tokens = (header.window or 0) + PROMPT_TOKENS
    return -(-tokens // CACHE_TOKENS_STEP) * CACHE_TOKENS_STEP


def _layer_bytes(header: WeightsHeader, heads: int, tokens: int, values: bool) -> int:
    length = header.key_length + (header.value_length if values else 0)
    return heads * length * tokens * CACHE_NUMBER_BYTES


def _runtime(place: Place, header: WeightsHeader, tokens: int | None) -> MemoryPart:
    low, high = runtime_bytes(header, tokens)
    basis = (
        f"as of llama.cpp's server on a CPU, working on {PROMPT_TOKENS} tokens at once; what it keeps of "
        "earlier prompts (--cache-ram) comes on top"
    )
    return MemoryPart("runtime", place.name, low, high, basis)


def runtime_bytes(header: WeightsHeader, tokens: int | None) -> tuple[int, int]:
    """From a server that has loaded to one that works on a long prompt: its buffers and its mask."""
    base_low, base_high = RUNTIME_BYTES
    at_once = min(PROMPT_TOKENS, tokens or PROMPT_TOKENS)
    feed, embedding = header.feed_forward or 0, header.embedding or 0
    layer = _FEED_FORWARD_COPIES * feed + _EMBEDDING_COPIES * embedding
    mask = (tokens or 0) * at_once * CACHE_NUMBER_BYTES
    return base_low, base_high + at_once * (layer + (header.vocabulary or 0)) * _FLOAT_BYTES + mask
