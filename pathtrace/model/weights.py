"""What the header of a model's weights says of the model: as much as its memory depends on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WeightsHeader:
    """Per-layer tuples have ``layers`` entries. ``None``: the header does not say."""

    architecture: str
    layers: int
    kv_heads: tuple[int, ...]
    """Attention heads whose keys and values are kept, per layer; 0 for a layer that keeps none."""
    key_length: int
    """Of one head's key, in numbers."""
    value_length: int
    context: int | None = None
    """Tokens that the model was made for."""
    embedding: int | None = None
    feed_forward: int | None = None
    """The widest layer's; of a mixture, of all experts that answer a token together."""
    vocabulary: int | None = None
    window: int | None = None
    """Tokens that layers with a sliding window look back."""
    windowed: tuple[bool, ...] | None = None
    """Which layers have the window, where the header tells."""
    latent: bool = False
    """Keys and values are kept as one compressed vector: the values may take no room of their own."""
    causal: bool = True
    """False: it only embeds, and keeps no attention cache."""
    experts: int | None = None
    experts_used: int | None = None
    expert_bytes: int = 0
    """Bytes of the tensors that are parted into experts."""
