"""Compares what was written with a kept file. PATHTRACE_UPDATE_GOLDEN=1 rewrites them: read the diff."""

from __future__ import annotations

import os
from pathlib import Path


def assert_golden(path: Path, text: str) -> None:
    if os.environ.get("PATHTRACE_UPDATE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")
