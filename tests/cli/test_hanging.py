"""A file that never answers costs its place, not the command: Python's own wait for threads is not ours."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tests.cli.command import pathtrace

HANGS = """\
import threading
import pathtrace.places.files as files
files.find_files = lambda *_: threading.Event().wait()
"""


@pytest.mark.skipif(os.name != "posix", reason="starts Python with a folder of its own on the path")
@pytest.mark.parametrize("name", ["check", "run"])
def test_a_mount_whose_server_is_gone_ends_with_the_place_s_time_limit(name: str, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(HANGS)
    (tmp_path / "gone.yaml").write_text(
        "pathtrace: 1\nname: gone\nrepeats: 1\nplaces:\n"
        f"  archive: {{kind: files, path: {tmp_path}, timeout: 1 s}}\n"
        "  chunker: {kind: process, run: chunk}\n"
        '  library: {kind: database, url: "sqlite://"}\n'
        "flows:\n  index: {path: [archive, chunker, library]}\n"
    )
    root = str(Path(__file__).parents[2])
    began = time.monotonic()
    done = pathtrace(tmp_path, name, str(tmp_path / "gone.yaml"), PYTHONPATH=f"{tmp_path}{os.pathsep}{root}")
    assert (done.code, "Traceback" in done.err) == (3, False), done.err
    assert "no answer within 1 s" in done.out
    assert time.monotonic() - began < 20
