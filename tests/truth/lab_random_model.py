"""A model of the llama architecture whose weights are random: real to load and to run, knows nothing.

Its words are made up. Control and byte tokens can never be chosen, so that an answer always has as
many tokens as were asked for, and every token is text by itself. The same size gives the same shape.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_WORDS = [f"▁{a}{b}{c}" for a in "bdfgklmnprstvz" for b in "aeiou" for c in "lmnrst"]
_CONTROL = ["<unk>", "<s>", "</s>"]
_BYTES = [f"<0x{value:02X}>" for value in range(256)]
_LETTERS = ["▁", *(chr(code) for code in range(33, 127))]
_NORMAL, _UNKNOWN, _CONTROL_TYPE, _BYTE = 1, 2, 3, 6


@dataclass(frozen=True)
class Shape:
    """Proportions of a model; the usual one is about 34 MB a layer."""

    layers: int
    embedding: int = 1024
    feed_forward: int = 4096
    heads: int = 16
    kv_heads: int = 16


@dataclass(frozen=True)
class RandomModel:
    path: Path
    size: int
    layers: int


def write_random_model(
    path: Path, *, seed: int, layers: int = 8, shape: Shape | None = None, context: int = 2048
) -> RandomModel:
    """Write a GGUF in 16-bit floats, of ``layers`` of the usual shape or of a shape of its own."""
    import gguf
    import numpy as np

    shape = shape or Shape(layers)
    writer = gguf.GGUFWriter(path, "llama")
    tokens = [*_CONTROL, *_BYTES, *_LETTERS, *_WORDS]
    _describe(writer, tokens, shape, context)
    rng = np.random.default_rng(seed)

    def weights(*shape: int) -> Any:
        return (rng.standard_normal(shape, dtype=np.float32) * 0.02).astype(np.float16)

    ones = np.ones(shape.embedding, dtype=np.float32)
    writer.add_tensor("token_embd.weight", weights(len(tokens), shape.embedding))
    for layer in range(shape.layers):
        _add_layer(writer, f"blk.{layer}", weights, ones, shape)
    writer.add_tensor("output_norm.weight", ones)
    output = weights(len(tokens), shape.embedding)
    output[: len(_CONTROL) + len(_BYTES)] = 0  # the best of many random words is always above 0
    writer.add_tensor("output.weight", output)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return RandomModel(path, path.stat().st_size, shape.layers)


def _describe(writer: Any, tokens: list[str], shape: Shape, context: int) -> None:
    writer.add_name("random")
    writer.add_context_length(context)
    writer.add_embedding_length(shape.embedding)
    writer.add_block_count(shape.layers)
    writer.add_feed_forward_length(shape.feed_forward)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.kv_heads)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(shape.embedding // shape.heads)
    writer.add_file_type(1)
    writer.add_tokenizer_model("llama")
    writer.add_token_list([token.encode() for token in tokens])
    writer.add_token_scores([-float(position) for position in range(len(tokens))])
    kinds = [_UNKNOWN, _CONTROL_TYPE, _CONTROL_TYPE, *[_BYTE] * len(_BYTES)]
    writer.add_token_types(kinds + [_NORMAL] * (len(tokens) - len(kinds)))
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_chat_template("{% for message in messages %}{{ message['content'] }} {% endfor %}")


def _add_layer(writer: Any, name: str, weights: Any, ones: Any, shape: Shape) -> None:
    writer.add_tensor(f"{name}.attn_norm.weight", ones)
    writer.add_tensor(f"{name}.ffn_norm.weight", ones)
    kept = shape.embedding * shape.kv_heads // shape.heads
    for part, rows in (("q", shape.embedding), ("k", kept), ("v", kept), ("output", shape.embedding)):
        writer.add_tensor(f"{name}.attn_{part}.weight", weights(rows, shape.embedding))
    writer.add_tensor(f"{name}.ffn_gate.weight", weights(shape.feed_forward, shape.embedding))
    writer.add_tensor(f"{name}.ffn_up.weight", weights(shape.feed_forward, shape.embedding))
    writer.add_tensor(f"{name}.ffn_down.weight", weights(shape.embedding, shape.feed_forward))


if __name__ == "__main__":
    print(write_random_model(Path(sys.argv[1]), layers=int(sys.argv[2]), seed=1))
