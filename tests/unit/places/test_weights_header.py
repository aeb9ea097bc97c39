from __future__ import annotations

import os
from pathlib import Path

from pathtrace.model.weights import WeightsHeader
from pathtrace.places.file_list import list_file, list_tree
from pathtrace.places.gguf_header import Counted, Gguf, Setting
from pathtrace.places.weights_header import describe, weights_header

LLAMA: dict[str, Setting] = {
    "general.architecture": "llama",
    "llama.block_count": 2,
    "llama.embedding_length": 4096,
    "llama.attention.head_count": 32,
    "llama.attention.head_count_kv": 8,
    "llama.feed_forward_length": 14336,
    "llama.context_length": 8192,
    "tokenizer.ggml.tokens": Counted(128256),
}
PLAIN = WeightsHeader("llama", 2, (8, 8), 128, 128, 8192, 4096, 14336, 128256)


def described(**more: Setting) -> WeightsHeader | None:
    changed = {f"llama.{name.replace('__', '.')}": value for name, value in more.items()}
    return describe(Gguf({**LLAMA, **changed}, (), 0), 0)


def test_the_usual_settings_say_what_a_cache_holds() -> None:
    assert described() == PLAIN


def test_heads_and_lengths_may_be_stated_one_by_one() -> None:
    found = described(attention__head_count_kv=(8, 0), attention__key_length=192, attention__value_length=100)
    assert found is not None
    assert (found.kv_heads, found.key_length, found.value_length) == ((8, 0), 192, 100)


def test_a_window_is_known_layer_by_layer_only_where_the_header_says_so() -> None:
    found = described(attention__sliding_window=512)
    assert found is not None
    assert (found.window, found.windowed) == (512, None)
    found = described(attention__sliding_window=512, attention__sliding_window_pattern=(True, False))
    assert found is not None
    assert found.windowed == (True, False)


def test_experts_are_counted_by_the_names_of_their_tensors() -> None:
    settings = {**LLAMA, "llama.expert_count": 8, "llama.expert_used_count": 2}
    tensors = (("blk.0.ffn_up_exps.weight", 100), ("blk.0.attn_k.weight", 900), ("b.ffn_down_exps.w", 950))
    found = describe(Gguf(settings, tensors, 100), 1000)
    assert found is not None
    assert (found.experts, found.experts_used, found.expert_bytes) == (8, 2, 850)


def test_a_header_that_does_not_describe_attention_says_nothing() -> None:
    assert describe(Gguf({"general.architecture": "llama"}, (), 0), 0) is None
    assert described(block_count=0) is None
    assert described(block_count="many") is None


def test_a_model_that_only_embeds_is_known() -> None:
    found = described(attention__causal=False)
    assert found is not None
    assert not found.causal


def test_other_files_have_no_header(tmp_path: Path) -> None:
    other = tmp_path / "notes.txt"
    other.write_text("GGUF is a format")
    path = os.fsencode(other)
    assert weights_header(list_file(path, os.stat(path))) is None
    (tmp_path / "a.gguf").write_bytes(b"GGUF but broken")
    (tmp_path / "b.gguf").write_bytes(b"another")
    assert weights_header(list_tree(os.fsencode(tmp_path), (), (), lambda: False)) is None
