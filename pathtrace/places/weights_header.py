"""Which file of a place describes its model, and what that file's GGUF header says of it.

Knows GGUF's names of settings (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md). What a model
then needs in memory is worked out elsewhere. Safetensors files say nothing of this in their headers.
"""

from __future__ import annotations

from itertools import pairwise

from pathtrace.model.weights import WeightsHeader
from pathtrace.places.file_list import FileList
from pathtrace.places.gguf_header import Counted, Gguf, HeaderError, Setting, read_gguf

_MOST_LAYERS = 10_000


def weights_header(files: FileList) -> WeightsHeader | None:
    """Of the one model that the files hold, in one file or in parts; None if there is no saying."""
    found = [index for index in range(len(files)) if files.name(index).lower().endswith(b".gguf")]
    if files.alone:
        found = [0]
    headers = [header for index in found[:1] if (header := _read(files.path(index))) is not None]
    if not headers or len(found) != (_whole(headers[0].settings.get("split.count")) or 1):
        return None
    return describe(headers[0], sum(files.sizes[index] for index in found))


def _read(path: bytes) -> Gguf | None:
    try:
        with open(path, "rb") as file:
            if file.read(4) != b"GGUF":
                return None
            file.seek(0)
            return read_gguf(file)
    except (OSError, HeaderError):
        return None


def describe(header: Gguf, size: int) -> WeightsHeader | None:
    """What the settings mean; None if they are not those of a model that attends."""
    named = _Named(header.settings)
    layers = named.whole("block_count")
    heads, embedding = named.per_layer("attention.head_count", layers or 0), named.whole("embedding_length")
    if layers is None or not 0 < layers <= _MOST_LAYERS or heads is None:
        return None
    each = embedding // max(heads) if embedding and max(heads) else None
    key, value = (named.whole(f"attention.{part}_length") or each for part in ("key", "value"))
    if key is None or value is None:
        return None
    return WeightsHeader(
        architecture=named.architecture,
        layers=layers,
        kv_heads=named.per_layer("attention.head_count_kv", layers) or heads,
        key_length=key,
        value_length=value,
        context=named.whole("context_length"),
        embedding=embedding,
        feed_forward=_feed_forward(named),
        vocabulary=named.whole("vocab_size") or _vocabulary(header.settings),
        window=named.whole("attention.sliding_window") or None,
        windowed=_windowed(named, layers),
        latent=named.whole("attention.kv_lora_rank") is not None,
        causal=header.settings.get(f"{named.architecture}.attention.causal", True) is not False
        and "bert" not in named.architecture,
        experts=named.whole("expert_count") or None,
        experts_used=named.whole("expert_used_count") or None,
        expert_bytes=_expert_bytes(header, size),
    )


class _Named:
    """Settings that GGUF prefixes with the architecture."""

    def __init__(self, settings: dict[str, Setting]) -> None:
        self._settings = settings
        self.architecture = str(settings.get("general.architecture", ""))

    def get(self, name: str) -> Setting | None:
        return self._settings.get(f"{self.architecture}.{name}")

    def whole(self, name: str) -> int | None:
        """One number; of an array its largest."""
        found = self.get(name)
        if isinstance(found, tuple):
            found = max(found, default=0)
        return _whole(found)

    def per_layer(self, name: str, layers: int) -> tuple[int, ...] | None:
        """One number for all layers, or an array of one for each."""
        found = self.get(name)
        if isinstance(found, tuple):
            return tuple(int(each) for each in found) if len(found) == layers else None
        one = _whole(found)
        return None if one is None else (one,) * layers


def _whole(value: Setting | None) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _feed_forward(named: _Named) -> int | None:
    wide = named.whole("feed_forward_length")
    expert = named.whole("expert_feed_forward_length")
    if expert is None:
        return wide
    return max(wide or 0, expert * max(1, named.whole("expert_used_count") or 1))


def _vocabulary(settings: dict[str, Setting]) -> int | None:
    words = settings.get("tokenizer.ggml.tokens")
    return words.length if isinstance(words, Counted) else None


def _windowed(named: _Named, layers: int) -> tuple[bool, ...] | None:
    """A flag for each layer, where the header has them."""
    pattern = named.get("attention.sliding_window_pattern")
    if isinstance(pattern, tuple) and len(pattern) == layers:
        return tuple(bool(each) for each in pattern)
    return None


def _expert_bytes(header: Gguf, size: int) -> int:
    """Each tensor reaches to the next; those of experts are named ``…_exps``."""
    ordered = sorted(header.tensors, key=lambda each: each[1])
    reaching = pairwise([*ordered, ("", size)])
    return sum(max(0, end - start) for (name, start), (_, end) in reaching if "_exps" in name)
