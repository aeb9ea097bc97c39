from __future__ import annotations

from pathlib import Path

import numpy as np
from gguf import GGUFWriter

from pathtrace.places.gguf_header import Counted, read_gguf


def test_settings_are_read_and_words_are_only_counted(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    writer = GGUFWriter(path, "llama")
    writer.add_uint32("a.number", 5)
    writer.add_float64("a.float", 0.5)
    writer.add_bool("a.flag", True)
    writer.add_array("a.words", ["one", "zwei", "três" * 40])
    writer.add_array("a.numbers", [1, 2, 3])
    writer.add_array("a.many", list(range(5000)))
    writer.add_tensor("blk.0.ffn_up_exps.weight", np.zeros((3, 32), np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    with path.open("rb") as file:
        header = read_gguf(file)
    assert header.settings == {
        "general.architecture": "llama",
        "a.number": 5,
        "a.float": 0.5,
        "a.flag": True,
        "a.words": Counted(3),
        "a.numbers": (1, 2, 3),
        "a.many": Counted(5000),
    }
    assert header.tensors == (("blk.0.ffn_up_exps.weight", header.data_start),)
